import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FleetError, UsageError } from '../../../src/errors.ts';
import { type SubmitWorld, submit } from '../../../src/fleet/cli/submit/submit.ts';
import type { FleetSettlement } from '../../../src/fleet/database/fleet-queue.ts';
import { claimed, NOTHING } from '../../helpers/fleet-tasks.ts';
import { type MemoryFleet, memoryFleet } from '../../helpers/memory-fleet.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const REPO = ['--repo', 'https://example.com/app.git'];
const FLEET = 'postgres://host/fleet';

/** A fleet, and what `ralph submit` prints there. */
interface Desk {
  readonly fleet: MemoryFleet;
  readonly folder: string;
  stdout: string;
  stderr: string;
  /** How often the fleet was opened. */
  opened: number;
  run(argv: readonly string[], world?: Partial<SubmitWorld>): Promise<number>;
  /** The problems for which it is refused. */
  refused(argv: readonly string[], world?: Partial<SubmitWorld>): Promise<readonly string[]>;
}

async function makeDesk(): Promise<Desk> {
  const fleet = memoryFleet();
  const folder = await tempFolder();
  let counted = 0;
  const desk: Desk = {
    ...{ fleet, folder, stdout: '', stderr: '', opened: 0 },
    run: (argv, world = {}) =>
      submit(argv, async () => 99, {
        ...{ env: { RALPH_FLEET: FLEET }, startDir: folder },
        readStdin: async () => new TextEncoder().encode('From standard input.'),
        now: () => new Date('2026-11-23T18:00:00Z'),
        random: () => {
          counted += 1;
          return counted / 1_000;
        },
        open: async () => {
          desk.opened += 1;
          return fleet;
        },
        say: (line) => {
          desk.stderr += `${line}\n`;
        },
        print: async (text) => {
          desk.stdout += text;
        },
        stopFollowing: () => new AbortController().signal,
        ...world,
      }),
    async refused(argv, world) {
      const error: unknown = await desk.run(argv, world).catch((each: unknown) => each);
      expect(desk.stdout).toBe('');
      expect(await fleet.tasks({})).toEqual([]);
      if (error instanceof UsageError) return error.problems;
      throw error instanceof Error ? error : new Error('it was taken');
    },
  };
  return desk;
}

const ENDED: FleetSettlement = {
  ...{ status: 'failed', exitReason: 'failed:aborted', exitCode: 1, warning: null, note: null },
  ...{ resultCommit: null, resultRef: null, branchCommit: null },
};

/** Lets a worker take the next task and end it. */
async function endNext(fleet: MemoryFleet, settlement: FleetSettlement = ENDED): Promise<void> {
  await fleet.settle(await claimed(fleet), null, NOTHING, settlement);
}

describe('a task', () => {
  test('is queued as its flags say, and its id is all that is printed', async () => {
    const desk = await makeDesk();
    const exitCode = await desk.run([
      ...[...REPO, '-p', 'Fix it', '--task-id', 'nightly', '-n', '9', '--base', 'main'],
      ...['--subdir', 'api', '--setup', 'npm ci', '--priority', '-5', '--account', 'team'],
      ...['--queue', 'linux', '--not-before', '2h', '--', '--verbose'],
    ]);
    expect(exitCode).toBe(0);
    expect(desk.stdout).toBe('nightly\n');
    expect(desk.stderr).toBe('');
    const task = await desk.fleet.task('nightly');
    expect(task?.spec).toMatchObject({
      ...{ task_id: 'nightly', prompt: 'Fix it', task_type: 'default', base: 'main' },
      ...{ repo: 'https://example.com/app.git', subdir: 'api', branch: 'ralph/nightly' },
      ...{ setup: 'npm ci', priority: -5, account: 'team', queue: 'linux' },
      passthrough: ['--verbose'],
      settings: {
        maxIterations: { value: 9, source: '--max-iterations', from: 'flag' },
        maxWait: { value: 604_800_000, source: 'default', from: 'default' },
      },
    });
    expect(task?.not_before).not.toBeNull();
  });

  test('gets an id without --task-id', async () => {
    const desk = await makeDesk();
    expect(await desk.run([...REPO, '-p', 'Fix it'])).toBe(0);
    expect(desk.stdout).toBe('20261123_180000_001000\n');
    expect((await desk.fleet.task('20261123_180000_001000'))?.spec.branch).toBe(
      'ralph/20261123_180000_001000',
    );
  });

  test('takes variables, a task type and a prompt file, but no configuration file', async () => {
    const desk = await makeDesk();
    writeFileSync(join(desk.folder, 'plan.md'), 'Do all of it.\n');
    writeFileSync(join(desk.folder, 'ralph.config.yaml'), 'max_iterations: 2\nfoo: 1\n');
    const env = { RALPH_FLEET: FLEET, RALPH_DELAY: '7s', RALPH_TASK_TYPE: 'coding' };
    expect(await desk.run([...REPO, '--prompt-file', 'plan.md', '--task-id', 'a'], { env })).toBe(
      0,
    );
    expect(desk.stderr).toBe('');
    const spec = (await desk.fleet.task('a'))?.spec;
    expect(spec).toMatchObject({ prompt: 'Do all of it.\n', task_type: 'coding' });
    expect(spec?.settings).toMatchObject({
      maxIterations: { value: 30, source: 'task type coding', from: 'task-type' },
      delay: { value: 7_000, source: 'RALPH_DELAY', from: 'variable' },
    });
  });

  test('can have its prompt from standard input', async () => {
    const desk = await makeDesk();
    expect(await desk.run([...REPO, '-p', '-', '--task-id', 'a'])).toBe(0);
    expect((await desk.fleet.task('a'))?.spec.prompt).toBe('From standard input.');
  });

  test('variables that concern one machine are ignored, and that is said', async () => {
    const desk = await makeDesk();
    const env = {
      ...{ RALPH_FLEET: FLEET, RALPH_VAULT: '/v', RALPH_SANDBOX: '1', RALPH_QUIET: '1' },
      ...{ RALPH_FLEET_X: 'y', RALPH_TASK_FILE: 'x.md' },
    };
    expect(await desk.run([...REPO, '-p', 'Fix it', '--task-id', 'a'], { env })).toBe(0);
    expect(desk.stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^RALPH_TASK_FILE is ignored: .*--prompt-file\.$/),
      expect.stringMatching(/^RALPH_SANDBOX is ignored: the policy file/),
      expect.stringMatching(/^RALPH_VAULT is ignored: a worker keeps/),
    ]);
    expect(JSON.stringify((await desk.fleet.task('a'))?.spec)).not.toMatch(/\/v|x\.md|quiet/);
  });
});

describe('the same id', () => {
  const task = [...REPO, '-p', 'Fix it', '--task-id', 'a'];

  test('with the same content is accepted once', async () => {
    const desk = await makeDesk();
    await desk.run(task);
    expect(await desk.run([...task, '--not-before', '2h'])).toBe(0);
    expect(desk.stdout).toBe('a\na\n');
    expect(desk.stderr).toBe('a: already queued\n');
    await endNext(desk.fleet);
    expect(await desk.run(task)).toBe(0);
    expect(desk.stderr).toBe('a: already queued\na: already ended: failed\n');
    expect(await desk.fleet.tasks({})).toHaveLength(1);
  });

  test('with other content is refused with 7', async () => {
    const desk = await makeDesk();
    await desk.run(task);
    for (const more of [['-n', '9'], ['--again']]) {
      const error: unknown = await desk.run([...task, ...more]).catch((each: unknown) => each);
      expect(error).toBeInstanceOf(FleetError);
      expect(error).toMatchObject({
        exitCode: 7,
        message: expect.stringContaining("'a' is still open"),
      });
    }
    await endNext(desk.fleet);
    await expect(desk.run([...task, '-n', '9'])).rejects.toMatchObject({
      ...{ exitCode: 7, message: expect.stringContaining('--again') },
    });
    expect(desk.stdout).toBe('a\n');
  });

  test('with --again, an ended one starts afresh', async () => {
    const desk = await makeDesk();
    await desk.run(task);
    await endNext(desk.fleet);
    expect(await desk.run([...task, '-n', '9', '--again'])).toBe(0);
    expect(desk.stderr).toBe('');
    expect(await desk.fleet.task('a')).toMatchObject({ ended_at: null, fence: 1 });
  });
});

describe('nothing is queued', () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['-p', 'x'], /^--repo is missing/],
    [REPO, /^A task has either --prompt or --prompt-file; found neither\.$/],
    [[...REPO, '-p', 'x', '--prompt-file', 'y'], /found both\.$/],
    [[...REPO, '-p', ''], /^The prompt is empty/],
    [[...REPO, '-p', 'a\0b'], /^--prompt has a character that PostgreSQL does not store/],
    [[...REPO, '--prompt-file', 'nothing.md'], /^--prompt-file expects a file that can be read/],
    [[...REPO, '-p', 'x', '--task-id', 'a..b'], /^--task-id expects/],
    [[...REPO, '-p', 'x', '--task-id', 'x.lock'], /^--task-id expects/],
    [[...REPO, '-p', 'x', '--task-id', 'x.'], /^--task-id expects/],
    [['--repo', 'ext::sh', '-p', 'x'], /^--repo must not name a helper/],
    [['--repo', '-x', '-p', 'x'], /^--repo must not have a dash/],
    [['--repo', 'https://a:hunter2@h/x', '-p', 'x'], /^--repo must not have a password/],
    [[...REPO, '-p', 'x', '--branch', 'a..b'], /^--branch expects/],
    [[...REPO, '-p', 'x', '--base', '-x'], /^--base expects/],
    [[...REPO, '-p', 'x', '--subdir', '../x'], /^--subdir expects/],
    [[...REPO, '-p', 'x', '--subdir', '/x'], /^--subdir expects/],
    [[...REPO, '-p', 'x', '--priority', '101'], /^--priority expects .* found 101\.$/],
    [[...REPO, '-p', 'x', '--priority', 'high'], /^--priority expects .* found "high"\.$/],
    [[...REPO, '-p', 'x', '--queue', 'A'], /^--queue expects .* found 'A'\.$/],
    [[...REPO, '-p', 'x', '--account', 'a b'], /^--account expects/],
    [[...REPO, '-p', 'x', '--not-before', 'soon'], /^--not-before expects a time with its zone/],
    [[...REPO, '-p', 'x', '--setup', ' '], /^--setup expects a shell command/],
    [[...REPO, '-p', 'x', '--plan-file', '/p.md'], /^--plan-file expects a path in the repository/],
    [
      [...REPO, '-p', 'x', '--iteration-timeout', '23h'],
      /^--iteration-timeout expects at most 22h in a fleet, .*; found 23h\.$/m,
    ],
    [[...REPO, '-p', 'x', '--watch-glob', '../*'], /^--watch-glob expects a path in the/],
    [[...REPO, '-p', 'x', '--task-type', 'payment'], /never automates payments/],
    [[...REPO, '-p', 'x', '--task-type', 'codign'], /did you mean coding\?/],
    [[...REPO, '-p', 'x', '--max-iterations', '0'], /^--max-iterations expects/],
    [[...REPO, '-p', 'x', '--promise', ''], /^--promise expects the words/],
    [[...REPO, '-p', 'x', '--min-iterations', '9'], /is more than the iterations there are/],
    [[...REPO, '-p', 'x', '--json'], /^--json needs --dry-run/],
    [[...REPO, '-p', 'x', '--agian'], /^--agian is not a flag of ralph submit; did you mean/],
    [[...REPO, '-p', 'x', 'y'], /^ralph submit takes one prompt, found "y" beside --prompt/],
    [['--batch', 'x.jsonl', '--wait'], /^--wait follows one task/],
    [['--batch', 'nothing.jsonl'], /^--batch expects a file that can be read/],
    ...[
      ...['--vault=x', '--state-dir=x', '--cwd=x', '--detach', '--claude-bin=x', '--agent-bin=x'],
      ...['--config=x', '--task-file=x', '--resume-if-open', '--worktree', '--worktree-dir=x'],
      ...['--share-worktree', '--copy=x', '--keep-background', '--max-cost-per-day=1'],
      ...['--key-file=x', '--sandbox', '--no-sandbox', '--allow-write=x', '--allow-net=x'],
      ...['--deny-read=x', '--allow-read=x', '--keep-env=X', '--allow-unix-sockets'],
      ...['--no-sandbox-checks', '--no-snapshots', '--prevent-sleep', '--quiet', '--verbose'],
    ].map(
      (flag) =>
        [
          [...REPO, '-p', 'x', '--task-id', 'a', flag],
          new RegExp(`^${flag.replace(/=.*/, '')} is not for ralph submit: .+\\.$`),
        ] as const,
    ),
  ];

  test.for(rows)('%j', async ([argv, words]) => {
    const desk = await makeDesk();
    const problems = await desk.refused(argv);
    expect(problems).toContainEqual(expect.stringMatching(words));
    expect(problems.join('\n')).not.toContain('hunter2');
    expect(desk.opened).toBe(0);
  });

  test('a machine flag is the only problem of a task that is right otherwise', async () => {
    const desk = await makeDesk();
    expect(await desk.refused([...REPO, '-p', 'x', '--cwd', '/x'])).toHaveLength(1);
  });

  test('inside a loop', async () => {
    const desk = await makeDesk();
    const world = { env: { RALPH_FLEET: FLEET, RALPH_RUN_ID: 'x' } };
    expect(await desk.refused([...REPO, '-p', 'x'], world)).toEqual([
      expect.stringContaining('refused inside a loop'),
    ]);
  });

  test('without a fleet', async () => {
    const desk = await makeDesk();
    expect(await desk.refused([...REPO, '-p', 'x'], { env: {} })).toEqual([
      expect.stringContaining('ralph submit needs a fleet'),
    ]);
  });

  test('with a prompt that is not UTF-8', async () => {
    const desk = await makeDesk();
    writeFileSync(join(desk.folder, 'p'), Buffer.from([0x61, 0xff]));
    expect(await desk.refused([...REPO, '--prompt-file', 'p'])).toEqual([
      expect.stringContaining('not text in UTF-8'),
    ]);
  });
});

describe('--dry-run', () => {
  test('shows the task, and needs no fleet', async () => {
    const desk = await makeDesk();
    const argv = [...REPO, '-p', 'Fix it', '--task-id', 'a', '--dry-run', '--verify', 'npm test'];
    expect(await desk.run([...argv, '--not-before', '2h'], { env: {} })).toBe(0);
    expect(desk.opened).toBe(0);
    for (const words of [
      ...['Task a (type default). Nothing was queued.', 'repository https://example.com/app.git'],
      ...["begins at the repository's HEAD", 'branch ralph/a', 'queue default, account default'],
      ...['Fix it', 'not before: 2h', '"7d"  (default)', '["npm test"]  (--verify)'],
    ]) {
      expect(desk.stdout).toContain(words);
    }
  });

  test('as JSON: the spec that would be stored', async () => {
    const desk = await makeDesk();
    await desk.run([...REPO, '-p', 'Fix it', '--task-id', 'a', '--dry-run', '--json']);
    const shown = JSON.parse(desk.stdout);
    desk.stdout = '';
    await desk.run([...REPO, '-p', 'Fix it', '--task-id', 'a']);
    expect(shown.spec).toEqual((await desk.fleet.task('a'))?.spec);
  });

  test('no prompt controls the terminal', async () => {
    const desk = await makeDesk();
    await desk.run([...REPO, '-p', 'a\u001b[2Jb', '--dry-run']);
    expect(desk.stdout).not.toContain('\u001b');
  });
});

describe('--batch', () => {
  const line = (fields: object): string =>
    JSON.stringify({ repo: 'https://example.com/app.git', prompt: 'Fix it', ...fields });

  async function batchOf(desk: Desk, lines: readonly string[]): Promise<readonly string[]> {
    const file = join(desk.folder, 'tasks.jsonl');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return ['--batch', file];
  }

  test('queues each line, and prints the ids in order', async () => {
    const desk = await makeDesk();
    const argv = await batchOf(desk, [
      line({ task_id: 'b', max_iterations: 9, priority: 7, timeout_minutes: 10 }),
      '',
      line({ task_id: 'a', queue: 'linux', not_before: '2h', checks: { unit: 'npm test' } }),
      line({ agent_arguments: ['--x'], base: 'main', setup: 'npm ci', branch: 'x', subdir: 'y' }),
    ]);
    expect(await desk.run(argv)).toBe(0);
    expect(desk.stdout).toBe('b\na\n20261123_180000_001000\n');
    expect((await desk.fleet.task('b'))?.spec).toMatchObject({
      priority: 7,
      settings: { maxIterations: { value: 9 }, timeout: { value: 600_000 } },
    });
    expect((await desk.fleet.task('a'))?.spec).toMatchObject({
      queue: 'linux',
      settings: { verify: { value: [{ name: 'unit', command: 'npm test' }] } },
    });
    expect((await desk.fleet.task('20261123_180000_001000'))?.spec).toMatchObject({
      ...{ passthrough: ['--x'], base: 'main', setup: 'npm ci', branch: 'x', subdir: 'y' },
    });
  });

  test('the same file again queues nothing more, wherever its lines stand', async () => {
    const desk = await makeDesk();
    const lines = [line({ task_id: 'a', max_iterations: 9 }), line({ task_id: 'b' })];
    await desk.run(await batchOf(desk, lines));
    expect(await desk.run(await batchOf(desk, ['', ...lines.toReversed()]))).toBe(0);
    expect(desk.stdout).toBe('a\nb\nb\na\n');
    expect(desk.stderr).toBe('2 of 2 tasks were in the fleet already.\n');
  });

  test('a line and flags that say the same are the same task', async () => {
    const desk = await makeDesk();
    await desk.run([...REPO, '-p', 'Fix it', '--task-id', 'a', '-n', '9']);
    await desk.run(await batchOf(desk, [line({ task_id: 'a', max_iterations: 9 })]));
    expect(desk.stderr).toBe('a: already queued\n');
  });

  test('can come from standard input', async () => {
    const desk = await makeDesk();
    const readStdin = async () => new TextEncoder().encode(line({ task_id: 'a' }));
    expect(await desk.run(['--batch', '-'], { readStdin })).toBe(0);
    expect(desk.stdout).toBe('a\n');
  });

  test('every problem is told with its line, and nothing is queued', async () => {
    const desk = await makeDesk();
    const problems = await desk.refused(
      await batchOf(desk, [
        line({ task_id: 'a' }),
        'not JSON',
        '[1]',
        line({ task_id: 'c', max_iteration: 3, cwd: '/x' }),
        line({ task_id: 'a' }),
        '',
        line({ task_id: 'd..e', max_iterations: 'many' }),
        line({ task_id: 'f', repo: 'ext::x' }),
        JSON.stringify({ task_id: 'g', repo: 'https://example.com/x' }),
        line({ task_id: 'h', task_type: 'payment', prompt: '-' }),
        line({ task_id: 'i', timeout: '5m', timeout_minutes: 5, model: null }),
        line({ task_id: 'j', dry_run: true, agent_arguments: 'x', priority: '1.5' }),
        line({ task_id: 8, not_before: 7, subdir: 1 }),
        line({ task_id: 'k', prompt: '\ud800' }),
      ]),
    );
    const told = (number: number) => problems.filter((each) => each.startsWith(`line ${number}: `));
    expect(told(1)).toEqual([]);
    expect(told(2)).toEqual([expect.stringMatching(/a JSON object is expected.*found not JSON$/)]);
    expect(told(3)).toEqual([expect.stringContaining('a JSON object is expected')]);
    expect(told(4)).toEqual([
      'line 4: max_iteration is not a key of a task; did you mean max_iterations?',
      expect.stringMatching(/^line 4: cwd is not for ralph submit: /),
    ]);
    expect(told(5)).toEqual([expect.stringMatching(/task_id 'a' is already used in line 1/)]);
    expect(told(7)).toEqual([
      expect.stringMatching(/max_iterations expects a whole number/),
      expect.stringMatching(/task_id expects .*found 'd\.\.e'/),
    ]);
    expect(told(8)).toEqual([expect.stringMatching(/: repo must not name a helper/)]);
    expect(told(9)).toEqual([expect.stringMatching(/either prompt or prompt_file; found neither/)]);
    expect(told(10)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/never automates payments/),
        expect.stringMatching(/prompt expects a text; in a batch/),
      ]),
    );
    expect(told(11)).toEqual([
      expect.stringMatching(/timeout_minutes is already set by timeout/),
      expect.stringMatching(/model has no value/),
    ]);
    expect(told(12)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/dry_run is for the whole batch/),
        expect.stringMatching(/agent_arguments expects a list of texts/),
        expect.stringMatching(/priority expects a whole number/),
      ]),
    );
    expect(told(13)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/task_id expects text; found 8/),
        expect.stringMatching(/not_before expects a time .*found 7/),
        expect.stringMatching(/subdir expects text; found 1/),
      ]),
    );
    expect(told(14)).toEqual([expect.stringMatching(/prompt has a character/)]);
    const order = problems.map((each) => Number(/^line (\d+)/.exec(each)?.[1]));
    expect(order).toEqual(order.toSorted((one, other) => one - other));
  });

  test('tasks that are there with other content are named, with exit code 7, and nothing is queued', async () => {
    const desk = await makeDesk();
    await desk.run([...REPO, '-p', 'Other', '--task-id', 'b']);
    const argv = await batchOf(desk, [line({ task_id: 'a' }), line({ task_id: 'b' })]);
    await expect(desk.run(argv)).rejects.toMatchObject({
      ...{ exitCode: 7, message: expect.stringContaining("task 'b'") },
    });
    expect(await desk.fleet.task('a')).toBeNull();
  });

  test('has to be UTF-8, and may begin with a byte order mark', async () => {
    const desk = await makeDesk();
    const file = join(desk.folder, 'marked.jsonl');
    writeFileSync(file, Buffer.from(line({ task_id: 'a', prompt: 'Caf\u00e9' }), 'latin1'));
    expect(await desk.refused(['--batch', file])).toEqual([
      '--batch expects text in UTF-8; convert the file with iconv.',
    ]);
    writeFileSync(file, `\ufeff${line({ task_id: 'a', prompt: 'Caf\u00e9' })}`);
    expect(await desk.run(['--batch', file])).toBe(0);
    expect(await desk.fleet.task('a')).toMatchObject({ spec: { prompt: 'Caf\u00e9' } });
  });

  test('a task for which the tables have no room is refused', async () => {
    const desk = await makeDesk();
    const argv = await batchOf(desk, [
      line({ task_id: 'a', agent_arguments: ['x'.repeat(8_000_000)] }),
      line({ task_id: 'b' }),
      line({ task_id: 'c', verify: 'x'.repeat(1_000_000) }),
    ]);
    const problems = await desk.refused(argv);
    for (const number of [1, 3]) {
      expect(problems).toContainEqual(
        `line ${number}: A fleet stores less than 1 MB of settings of a task, and 8 MB of all else; found more.`,
      );
    }
  });

  test('is refused if it is empty, or with flags that describe one task', async () => {
    const desk = await makeDesk();
    expect(await desk.refused(await batchOf(desk, ['', ' ']))).toEqual([
      '--batch expects a JSON object on each line; found no line.',
    ]);
    const problems = await desk.refused([
      ...(await batchOf(desk, [line({ task_id: 'a' })])),
      ...['--repo', 'x', '--', 'y'],
    ]);
    expect(problems).toEqual([
      '--repo describes one task; with --batch it is in the lines of the file.',
      expect.stringContaining('agent_arguments'),
    ]);
  });
});

describe('--wait', () => {
  const task = [...REPO, '-p', 'Fix it', '--task-id', 'a', '--wait'];

  test('ends with the exit code of the task', async () => {
    const desk = await makeDesk();
    await desk.run(task.slice(0, -1));
    await endNext(desk.fleet);
    expect(await desk.run(task)).toBe(1);
    expect(desk.stderr).toBe('a: already ended: failed\n');
  });

  test('a signal ends the following, and not the task', async () => {
    const desk = await makeDesk();
    const stopFollowing = () => AbortSignal.abort(130);
    expect(await desk.run(task, { stopFollowing })).toBe(130);
    expect(desk.stdout).toBe('a\n');
    expect(desk.stderr).toContain("The task 'a' continues");
    expect(await desk.fleet.task('a')).toMatchObject({ ended_at: null });
  });
});
