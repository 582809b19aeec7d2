import { describe, expect, test } from 'vitest';
import type {
  FileFacts,
  FileOutcome,
  Leave,
  VaultFile,
  VaultNote,
} from '../../src/core/rescue/vault-files.ts';
import { laterBy } from '../../src/core/task/task-state.ts';
import { type PassOptions, pass } from '../../src/rescue/pass.ts';
import type { NoRoom, RanTask, TaskRequest, VaultPorts } from '../../src/rescue/ports.ts';
import { restMs, watch } from '../../src/rescue/watch.ts';
import { fileFacts, fileTask, minutesAgo, NOW } from '../helpers/vault-facts.ts';

const OPTIONS: PassOptions = { stuckAfterMs: 20 * 60_000, startNew: true, concurrency: 1 };

function ended(status: RanTask['status'], said: Partial<RanTask> = {}): RanTask {
  return {
    kind: 'ended',
    status,
    exitReason: status,
    exitCode: status === 'completed' ? 0 : 1,
    startedAt: NOW,
    note: null,
    ...said,
  };
}

const NO_LOGIN = ended('failed', {
  exitReason: 'failed:not-logged-in',
  note: 'note-of-the-run.md',
});

interface Script {
  readonly files: readonly FileFacts[];
  /** How a file stands once it is held; null: it is gone. As before where nothing is said. */
  readonly again?: (file: VaultFile) => FileFacts | null;
  /** One for each task that is run; an error is thrown. */
  readonly ends?: readonly (RanTask | Leave | NoRoom | Error)[];
  /** Files that another pass has in hand. */
  readonly taken?: readonly string[];
  readonly counted?: number;
}

/** Ports that only write down what is asked of them. */
function fakeVault(script: Script) {
  const effects: string[] = [];
  const told: string[] = [];
  const notes: VaultNote[] = [];
  const requests: TaskRequest[] = [];
  const ends = [...(script.ends ?? [])];
  const stopped = new AbortController();
  const find = (file: VaultFile) =>
    script.files.find((facts) => facts.file.name === file.name) ?? null;
  const ports: VaultPorts = {
    vault: {
      list: async () => script.files,
      look: async (file) => (script.again === undefined ? find(file) : script.again(file)),
      async hold(ownId) {
        if (script.taken?.includes(ownId)) return null;
        effects.push(`hold ${ownId}`);
        return { release: () => void effects.push(`release ${ownId}`) };
      },
      async move(file, to) {
        effects.push(`move ${file.name} ${to}`);
        return `${to}/${file.name}`;
      },
    },
    records: {
      async countFailed(rescueId, startedAt) {
        effects.push(`count ${rescueId} ${startedAt}`);
        return script.counted ?? 1;
      },
      adopt: async (rescueId) => void effects.push(`adopt ${rescueId}`),
      close: async (rescueId) => void effects.push(`close ${rescueId}`),
    },
    notes: {
      async write(note) {
        notes.push(note);
        effects.push(`note ${note.kind} ${note.taskId}`);
        return 'Needs_Action/note.md';
      },
      remove: async (file) => void effects.push(`take back ${file}`),
      clearBlocked: async () => void effects.push('clear blocked'),
    },
    async runTask(request) {
      requests.push(request);
      effects.push(`run ${request.kind} ${request.taskId}`);
      const end = ends.shift() ?? ended('completed');
      if (end instanceof Error) throw end;
      return end;
    },
    report: (file: VaultFile, outcome: FileOutcome) => {
      told.push(`${file.name} ${outcome.kind}`);
    },
    clock: {
      now: () => NOW,
      monotonicMs: () => 0,
      random: () => 0,
      async waitUntil(instant) {
        effects.push(`wait ${(Date.parse(instant) - Date.parse(NOW)) / 1_000}s`);
      },
    },
    stops: { signal: stopped.signal, hurry: new AbortController().signal, cause: () => null },
  };
  return { ports, effects, told, notes, requests, stop: () => stopped.abort() };
}

const stuck = (name: string, said: Parameters<typeof fileFacts>[0] = {}) =>
  fileFacts({ ...said, file: { name, ...said.file } });

describe('a pass', () => {
  test('takes up what becomes due while a long task runs and a place is free', async () => {
    const files = [stuck('long.md')];
    const fake = fakeVault({ files });
    const ends = new Map<string, (end: RanTask) => void>();
    let wake = (): void => {};
    const ports: VaultPorts = {
      ...fake.ports,
      runTask: ({ taskId }) => new Promise((end) => ends.set(taskId, end)),
      clock: {
        ...fake.ports.clock,
        waitUntil: (instant) =>
          new Promise((resolve) => {
            fake.effects.push(`wait ${(Date.parse(instant) - Date.parse(NOW)) / 1_000}s`);
            wake = resolve;
          }),
      },
    };
    const over = pass(ports, { ...OPTIONS, concurrency: 2, lookAgainMs: 30_000 });
    await expect.poll(() => fake.effects).toContain('wait 30s');
    files.push(stuck('new.md'));
    wake();
    await expect.poll(() => [...ends.keys()]).toEqual(['stuck_long', 'stuck_new']);
    ends.get('stuck_new')?.(ended('completed'));
    await expect.poll(() => fake.told).toEqual(['new.md ran']);
    ends.get('stuck_long')?.(ended('completed'));
    expect(await over).toEqual({ cause: null, problems: 0 });
    expect(fake.told).toEqual(['new.md ran', 'long.md ran']);
  });

  test('locks a file, reads it again, rescues it and ends its record', async () => {
    const fake = fakeVault({ files: [stuck('a.md')] });
    expect(await pass(fake.ports, OPTIONS)).toEqual({ cause: null, problems: 0 });
    expect(fake.effects).toEqual([
      'hold a',
      'run rescue stuck_a',
      'close stuck_a',
      'release a',
      'clear blocked',
    ]);
    expect(fake.requests[0]).toMatchObject({ stuckForMs: 25 * 60_000 });
  });

  test.for<[string, (file: VaultFile) => FileFacts | null, string]>([
    ['is gone', () => null, 'leave'],
    ['a live loop has', () => stuck('a.md', { rescue: fileTask('live') }), 'leave'],
    ['is fresh again', () => stuck('a.md', { file: { touchedAt: NOW } }), 'leave'],
  ])('does nothing with a file that %s once it is held', async ([, again, told]) => {
    const fake = fakeVault({ files: [stuck('a.md')], again });
    await pass(fake.ports, OPTIONS);
    expect(fake.requests).toEqual([]);
    expect(fake.told).toEqual([`a.md ${told}`]);
    expect(fake.effects).toEqual(['hold a', 'release a']);
  });

  test('leaves files that another pass or a live loop has', async () => {
    const fake = fakeVault({
      files: [stuck('a.md'), stuck('b.md')],
      taken: ['a'],
      ends: [{ kind: 'leave', reason: 'taken', detail: '' }],
    });
    expect(await pass(fake.ports, OPTIONS)).toEqual({ cause: null, problems: 0 });
    expect(fake.told).toEqual(['a.md leave', 'b.md leave']);
  });

  test.for([
    ['max_iterations_reached', 'max_iterations'],
    ['stalled', 'no-progress'],
    ['timeout', 'timeout'],
    ['failed', 'failed:aborted'],
  ] as const)('counts a rescue that ends %s (%s)', async ([status, exitReason]) => {
    const fake = fakeVault({ files: [stuck('a.md')], ends: [ended(status, { exitReason })] });
    await pass(fake.ports, OPTIONS);
    expect(fake.effects).toContain(`count stuck_a ${NOW}`);
    expect(fake.effects).not.toContain('move a.md quarantine');
  });

  test.for([
    ['budget_spent', 'budget'],
    ['paused', 'paused'],
    ['stopped', 'stopped:request'],
    ['stopped', 'stopped:SIGTERM'],
    ['paused_awaiting_approval', 'approval-pending'],
    ['failed', 'failed:refused-request'],
    ['usage_limited', 'outage'],
  ] as const)('does not count one that ends %s (%s)', async ([status, exitReason]) => {
    const fake = fakeVault({ files: [stuck('a.md')], ends: [ended(status, { exitReason })] });
    await pass(fake.ports, OPTIONS);
    expect(fake.effects.filter((effect) => effect.startsWith('count'))).toEqual([]);
  });

  test('quarantines a file at once after the third failed rescue, with a note', async () => {
    const fake = fakeVault({ files: [stuck('a.md')], ends: [ended('stalled')], counted: 3 });
    await pass(fake.ports, OPTIONS);
    expect(fake.told).toEqual(['a.md quarantined']);
    expect(fake.effects.slice(2)).toEqual([
      `count stuck_a ${NOW}`,
      'move a.md quarantine',
      'close stuck_a',
      'note quarantined stuck_a',
      'release a',
      'clear blocked',
    ]);
  });

  test('does not quarantine a file that the agent has moved', async () => {
    let looks = 0;
    const again = () => {
      looks += 1;
      return looks === 1 ? stuck('a.md') : null;
    };
    const fake = fakeVault({ files: [stuck('a.md')], again, ends: [ended('stalled')], counted: 3 });
    await pass(fake.ports, OPTIONS);
    expect(fake.told).toEqual(['a.md ran']);
  });

  test('counts an earlier rescue before its state is archived', async () => {
    const rescue = fileTask('timeout', { startedAt: minutesAgo(90) });
    const fake = fakeVault({ files: [stuck('a.md', { rescue, failedRescues: 1 })] });
    await pass(fake.ports, OPTIONS);
    expect(fake.effects.slice(0, 3)).toEqual([
      'hold a',
      `count stuck_a ${minutesAgo(90)}`,
      'run rescue stuck_a',
    ]);
  });

  test('ends after a common cause, with one note, and counts nothing', async () => {
    const files = [stuck('a.md'), stuck('b.md'), stuck('c.md')];
    const fake = fakeVault({ files, ends: [NO_LOGIN] });
    const { cause } = await pass(fake.ports, OPTIONS);
    expect(cause).toEqual({ status: 'failed', exitReason: 'failed:not-logged-in', exitCode: 1 });
    expect(fake.told).toEqual(['a.md ran']);
    expect(fake.effects).toEqual([
      'hold a',
      'run rescue stuck_a',
      'take back note-of-the-run.md',
      'release a',
      'note blocked rescue',
    ]);
  });

  test('starts nothing after a signal', async () => {
    const fake = fakeVault({ files: [stuck('a.md'), stuck('b.md')] });
    fake.stop();
    await pass(fake.ports, OPTIONS);
    expect(fake.effects).toEqual([]);
  });

  test('goes on after a problem with one file, and counts it', async () => {
    const fake = fakeVault({
      files: [stuck('a.md'), stuck('b.md')],
      ends: [new Error('the disk is full')],
    });
    expect(await pass(fake.ports, OPTIONS)).toEqual({ cause: null, problems: 1 });
    expect(fake.told).toEqual(['a.md problem', 'b.md ran']);
    expect(fake.effects).toContain('release a');
  });

  test('handles stuck files before new ones, the oldest new file first, refused ones last', async () => {
    const folder = 'Needs_Action' as const;
    const refused = fileTask('failed', { exitReason: 'failed:refused-request' });
    const fake = fakeVault({
      files: [
        stuck('a.md', { rescue: refused }),
        stuck('b.md', { file: { folder, touchedAt: minutesAgo(1), changedAt: minutesAgo(1) } }),
        stuck('c.md', { file: { folder, touchedAt: minutesAgo(9) } }),
        stuck('d.md'),
      ],
    });
    await pass(fake.ports, OPTIONS);
    expect(fake.requests.map(({ kind, taskId }) => `${kind} ${taskId}`)).toEqual([
      'rescue stuck_d',
      'start-new c',
      'start-new b',
      'rescue stuck_a',
    ]);
  });

  test('adopts the task of a file before it runs', async () => {
    const fake = fakeVault({ files: [stuck('a.md', { own: fileTask('interrupted') })] });
    await pass(fake.ports, OPTIONS);
    expect(fake.effects.slice(0, 3)).toEqual(['hold a', 'adopt stuck_a', 'run resume a']);
  });

  test('moves completed files and leaves payments to a human, without an agent', async () => {
    const over = fileTask('completed', { finishedAt: NOW });
    const fake = fakeVault({
      files: [stuck('a.md', { rescue: over }), stuck('payment.md')],
    });
    await pass(fake.ports, OPTIONS);
    expect(fake.requests).toEqual([]);
    expect(fake.told).toEqual(['a.md finished', 'payment.md for-human']);
    expect(fake.notes).toMatchObject([{ kind: 'for-human', file: 'In_Progress/payment.md' }]);
  });

  test('runs at most as many tasks at a time as allowed', async () => {
    const files = ['a', 'b', 'c'].map((name) => stuck(`${name}.md`));
    const { ports } = fakeVault({ files });
    let running = 0;
    let most = 0;
    const runTask = async (): Promise<RanTask> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return ended('completed');
    };
    await pass({ ...ports, runTask }, { ...OPTIONS, concurrency: 2 });
    expect(most).toBe(2);
  });
});

describe('the budget of the day', () => {
  const until = laterBy(NOW, 3_600_000);
  const noRoom = (isForAll: boolean): NoRoom => ({ kind: 'no-room', until, isForAll });
  const files = ['a.md', 'b.md'].map((name) => stuck(name));

  test('that is spent ends the pass, with the exit code of a task that reached it', async () => {
    const fake = fakeVault({ files, ends: [noRoom(true)] });
    expect(await pass(fake.ports, OPTIONS)).toEqual({
      cause: { status: 'budget_spent', exitReason: 'day_budget', exitCode: 8, until },
      problems: 0,
    });
    expect(fake.requests).toHaveLength(1);
    expect(fake.told).toEqual(['a.md leave']);
    expect(fake.notes).toMatchObject([{ kind: 'blocked', exitReason: 'day_budget' }]);
  });

  test('of one task alone leaves its file, and the next one runs', async () => {
    const fake = fakeVault({ files, ends: [noRoom(false)] });
    expect(await pass(fake.ports, OPTIONS)).toEqual({ cause: null, problems: 0 });
    expect(fake.told).toEqual(['a.md leave', 'b.md ran']);
  });

  test('is waited for until the next day', async () => {
    const fake = fakeVault({ files, ends: [noRoom(true)] });
    let waits = 0;
    const clock = {
      ...fake.ports.clock,
      async waitUntil(instant: string) {
        await fake.ports.clock.waitUntil(instant, fake.ports.stops.signal);
        waits += 1;
        if (waits === 2) fake.stop();
      },
    };
    await watch({ ...fake.ports, clock }, { ...OPTIONS, intervalMs: 30_000 }, () => {});
    const all = fake.effects.filter((effect) => effect.startsWith('wait'));
    expect(all).toEqual(['wait 3600s', 'wait 30s']);
  });
});

describe('a watch', () => {
  test('rests longer and longer while nothing works, and then uses its interval again', async () => {
    const fake = fakeVault({
      files: [stuck('a.md')],
      ends: [NO_LOGIN, NO_LOGIN, ended('completed'), NO_LOGIN],
    });
    let waits = 0;
    const clock = {
      ...fake.ports.clock,
      async waitUntil(instant: string) {
        await fake.ports.clock.waitUntil(instant, fake.ports.stops.signal);
        waits += 1;
        if (waits === 4) fake.stop();
      },
    };
    const rests: number[] = [];
    await watch({ ...fake.ports, clock }, { ...OPTIONS, intervalMs: 30_000 }, ({ forMs }) => {
      rests.push(forMs);
    });
    const all = fake.effects.filter((effect) => effect.startsWith('wait'));
    expect(all).toEqual(['wait 60s', 'wait 120s', 'wait 30s', 'wait 60s']);
    expect(rests).toEqual([60_000, 120_000, 60_000]);
  });

  test('rests if the folder cannot be read, instead of ending', async () => {
    const fake = fakeVault({ files: [] });
    const list = async () => {
      throw new Error('no such disk');
    };
    const ports = { ...fake.ports, vault: { ...fake.ports.vault, list } };
    const rests: unknown[] = [];
    await watch(ports, { ...OPTIONS, intervalMs: 30_000 }, (rest) => {
      rests.push(rest);
      fake.stop();
    });
    expect(rests).toEqual([{ kind: 'unreadable', message: 'no such disk', forMs: 60_000 }]);
  });

  test('rests for at most 30 minutes', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 99].map((inARow) => restMs(inARow) / 60_000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
  });
});
