import { describe, expect, test } from 'vitest';
import { until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// What was paid is paid, whoever saw its end: a loop of kills and resumes must not spend without bound.

const LOG = '.ralph_state/t/iteration-0001.stdout.log';

/** How many calls have told in the log of the first iteration what they have cost. */
function reportsIn(scene: Scene): number {
  return scene.has(LOG) ? (scene.read(LOG).match(/^\{"type":"result".*\}$/gm)?.length ?? 0) : 0;
}

/** Starts ralph, and kills it once one more call has told its cost. */
async function killedAfterReport(scene: Scene, words: readonly string[]): Promise<void> {
  const before = reportsIn(scene);
  const run = await scene.start(words);
  await until(
    () => reportsIn(scene) > before,
    () => `a further report; ralph says ${run.stderr()}`,
  );
  process.kill(run.pid, 'SIGKILL');
  await run.ended;
}

const RUN = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't'];
const RESUME = ['resume', 't', '--delay', '0'];

describe('a driver that is killed once its agent has told what it cost', () => {
  test('forgets no money: the budget ends the task', async () => {
    const scene = await makeScene({ text: 'Still at it.', costUsd: 5, hangsAfterResult: true });
    await killedAfterReport(scene, [...RUN, '--max-cost', '8']);
    await killedAfterReport(scene, RESUME);
    const end = await scene.ralph(RESUME);
    expect(end).toMatchObject({ exitCode: 8 });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ status: 'budget_spent', usage: { cost_usd: 10 } });
    expect(scene.state().errors).toMatchObject([{ kind: 'interrupted' }, { kind: 'interrupted' }]);
    expect(scene.notes()).toHaveLength(1);
  });

  test('five times in a row in one iteration ends the task with a note', async () => {
    const scene = await makeScene({ text: 'Still at it.', hangsAfterResult: true });
    await killedAfterReport(scene, RUN);
    for (let round = 2; round <= 5; round += 1) await killedAfterReport(scene, RESUME);
    const end = await scene.ralph(RESUME);
    expect(end).toMatchObject({ exitCode: 5 });
    expect(end.stderr).toContain('not completed: stalled (interrupted)');
    expect(end.stderr).toContain('something keeps killing ralph');
    expect(scene.fake.calls()).toHaveLength(5);
    expect(scene.state()).toMatchObject({ status: 'stalled', exit_reason: 'interrupted' });
    expect(scene.notes()).toMatchObject([{ frontMatter: { reason: 'interrupted' } }]);
    // Whoever has found the cause goes on, and is not stopped at once.
    await killedAfterReport(scene, RESUME);
    expect(scene.fake.calls()).toHaveLength(6);
  });

  test('counts an answer that comes at last, and what was lost before', async () => {
    const scene = await makeScene([
      { text: 'Still at it.', costUsd: 1, hangsAfterResult: true },
      { text: 'Done.\n\nTASK_COMPLETE', costUsd: 2 },
    ]);
    await killedAfterReport(scene, RUN);
    expect(await scene.ralph(RESUME)).toMatchObject({ exitCode: 0 });
    const { iterations, usage } = scene.state();
    expect(usage.cost_usd).toBe(3);
    expect(iterations).toMatchObject([{ number: 1, cost_usd: 3 }]);
  });

  test('uses up the time for the whole task, though it lived too short for a beat', async () => {
    const scene = await makeScene({ text: 'Still at it.', delayMs: 1_000, hangsAfterResult: true });
    await killedAfterReport(scene, [...RUN, '--timeout', '60s']);
    const left = async (): Promise<number> => {
      await killedAfterReport(scene, RESUME);
      const { timeout_at, updated_at } = scene.state();
      return Date.parse(timeout_at) - Date.parse(updated_at);
    };
    // Each life took a second at least, of which the log tells.
    const first = await left();
    const second = await left();
    expect(first).toBeLessThanOrEqual(59_000);
    expect(second).toBeLessThanOrEqual(first - 1_000);
  });
});

describe('a task that a person vouches for', () => {
  const OVERLOADED = {
    isError: true,
    apiErrorStatus: 529,
    text: 'API Error: 529 Overloaded.',
    costUsd: 1,
    numTurns: 1,
  };

  test('has paid each call once, and tells what its driver had not told any more', async () => {
    const scene = await makeScene([
      OVERLOADED,
      { text: 'Still at it.', costUsd: 2, hangsAfterResult: true },
      { text: 'Done.\n\nTASK_COMPLETE', costUsd: 4 },
    ]);
    const run = await scene.start(RUN);
    await until(
      () => reportsIn(scene) === 2,
      () => `two reports; ralph says ${run.stderr()}`,
    );
    process.kill(run.pid, 'SIGKILL');
    await run.ended;
    // Signed by nobody, and in the journal stands nothing of it.
    const { sum, ...state } = scene.state();
    await scene.write('.ralph_state/t.json', JSON.stringify(state));
    const lost = scene.journal().filter(({ event }) => event === 'iteration_started');
    await scene.write('.ralph_state/events.jsonl', '');
    const end = await scene.ralph([...RESUME, '--trust']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(scene.state()).toMatchObject({ usage: { cost_usd: 7 } });
    expect(scene.journal()).toContainEqual(lost.at(-1));
    expect(lost.at(-1)).toMatchObject({ attempt: 2 });
  });

  test('is not told events that are none of its own, nor an end', async () => {
    const scene = await makeScene([
      { text: 'Still at it.', hangsAfterResult: true },
      { text: 'Done.\n\nTASK_COMPLETE', tools: [{ name: 'Edit' }] },
    ]);
    await killedAfterReport(scene, RUN);
    const { sum, ...state } = scene.state();
    await scene.write('.ralph_state/t.json', JSON.stringify(state));
    const file = `.ralph_state/t/${state.memory}`;
    const { sum: memorySum, ...memory } = JSON.parse(scene.read(file));
    const [event] = memory.events;
    const forged = [
      { ...event, task_id: 'other' },
      { ...event, at: 'never' },
      { ...event, event: 'task_completed', exit_reason: 'completed', exit_code: 0 },
      'no event',
    ];
    await scene.write(file, JSON.stringify({ ...memory, log_bytes: -1.5, events: forged }));
    await scene.write('.ralph_state/events.jsonl', '');
    expect(await scene.ralph([...RESUME, '--trust'])).toMatchObject({ exitCode: 0 });
    const told = scene.journal().map((each) => each.event);
    expect(told.filter((name) => name !== 'agent_activity')).toEqual([
      'task_resumed',
      'iteration_started',
      'task_iterated',
      'task_completed',
    ]);
    expect(scene.journal().every(({ task_id }) => task_id === 't')).toBe(true);
  });
});

describe('the line for cron', () => {
  test('does not start a completed task anew whose driver died before it had said so', async () => {
    const scene = await makeScene({ text: 'Done.\n\nTASK_COMPLETE' });
    const once = '[ -e told ] || { : > told; kill -9 $PPID; }';
    const line = [...RUN, '--resume-if-open', '--on-end', once];
    expect(await scene.ralph(line)).toMatchObject({ signal: 'SIGKILL' });
    const again = await scene.ralph(line);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.names('.ralph_state/history').filter((name) => name.endsWith('.json'))).toEqual([
      't.json',
    ]);
    // A completed task that was told of is over: the next night begins anew.
    await scene.ralph([...RUN, '--resume-if-open', '-n', '1']);
    expect(scene.fake.calls()).toHaveLength(2);
  });
});

describe('the line for cron leaves to a person', () => {
  const CRON = [...RUN, '--resume-if-open'];

  test('a task whose budget is spent', async () => {
    const scene = await makeScene([
      { text: 'Still at it.', costUsd: 5 },
      { text: 'Done.\n\nTASK_COMPLETE', costUsd: 1 },
      { text: 'Done.\n\nTASK_COMPLETE', costUsd: 1 },
    ]);
    const line = [...CRON, '--max-cost', '4'];
    expect(await scene.ralph(line)).toMatchObject({ exitCode: 8 });
    for (let night = 2; night <= 3; night += 1) {
      expect(await scene.ralph(line)).toEqual(
        expect.objectContaining({
          exitCode: 8,
          stdout: '',
          stderr:
            "ralph: task 't' has ended (budget_spent), and a new run could spend as much again, so a person decides; a run without --resume-if-open starts again.\nralph: to continue: ralph resume t --max-cost +2\n",
        }),
      );
    }
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({ status: 'budget_spent', usage: { cost_usd: 5 } });
    expect(scene.notes()).toHaveLength(1);
    // A person goes on with it; the next night begins anew.
    const more = ['resume', 't', '--max-cost', '+2', '--delay', '0'];
    expect(await scene.ralph(more)).toMatchObject({ exitCode: 0 });
    expect(await scene.ralph(line)).toMatchObject({ exitCode: 0 });
    expect(scene.fake.calls()).toHaveLength(3);
  });

  test('a task that was killed again and again', async () => {
    const scene = await makeScene({ text: 'Still at it.', costUsd: 1, hangsAfterResult: true });
    for (let round = 1; round <= 5; round += 1) await killedAfterReport(scene, CRON);
    expect(await scene.ralph(CRON)).toMatchObject({ exitCode: 5 });
    const { exitCode, stderr } = await scene.ralph(CRON);
    expect(exitCode).toBe(5);
    expect(stderr).toContain(
      'has ended (stalled: interrupted), and a new run could spend as much again',
    );
    expect(stderr).toContain('to continue: ralph resume t\n');
    expect(scene.fake.calls()).toHaveLength(5);
    // Somebody starts afresh.
    expect(await scene.ralph([...RUN, '-n', '1'])).toMatchObject({ exitCode: 3 });
    expect(scene.state()).toMatchObject({ usage: { cost_usd: 1 } });
  });
});

describe('a task file', () => {
  test.for(['link', 'unlink', 'after'])(
    'whose driver dies while it is taken into work (%s) is gone on with by resume',
    async (moment) => {
      const scene = await makeScene([{ text: 'Done.\n\nTASK_COMPLETE' }]);
      await scene.write('Needs_Action/x.md', 'Write the letter.');
      scene.makeRepository();
      const words = ['run', '--task-file', 'Needs_Action/x.md', '--delay', '0'];
      const killed = await scene.ralph(words, { env: diesAtMove(moment) });
      expect(killed.signal).toBe('SIGKILL');
      expect(scene.fake.calls()).toEqual([]);
      const end = await scene.ralph(['resume', 'x', '--delay', '0']);
      expect(end).toMatchObject({ exitCode: 0 });
      expect(scene.prompt(1)).toContain('Write the letter.');
      expect(scene.names('Done')).toEqual(['x.md']);
      // As if it had never been cut: what changed is told against the commit that it began at.
      expect(scene.state('x').git_base).toMatch(/^[0-9a-f]{40}$/);
      expect(scene.names('In_Progress')).toEqual([]);
      expect(scene.names('Needs_Action')).toEqual([]);
    },
  );

  test('that cannot be taken into work leaves no task behind', async () => {
    const scene = await makeScene([]);
    await scene.write('Needs_Action/x.md', 'Write the letter.');
    await scene.write('In_Progress', 'a file, and no folder');
    const end = await scene.ralph(['run', '--task-file', 'Needs_Action/x.md']);
    expect(end.exitCode).toBe(2);
    expect(scene.names('.ralph_state')).not.toContain('x.json');
  });
});

/** The environment in which ralph dies before the task file is linked, unlinked, or just after. */
function diesAtMove(moment: string): Record<string, string> {
  const file = new URL('../fixtures/dies-at-move.cjs', import.meta.url).pathname;
  return { NODE_OPTIONS: `--require ${file}`, DIES_AT_MOVE: moment };
}
