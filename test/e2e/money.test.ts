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

describe('a task file', () => {
  test.each(['link', 'unlink', 'after'])(
    'whose driver dies while it is taken into work (%s) is gone on with by resume',
    async (moment) => {
      const scene = await makeScene([{ text: 'Done.\n\nTASK_COMPLETE' }]);
      await scene.write('Needs_Action/x.md', 'Write the letter.');
      const words = ['run', '--task-file', 'Needs_Action/x.md', '--delay', '0'];
      const killed = await scene.ralph(words, { env: diesAtMove(moment) });
      expect(killed.signal).toBe('SIGKILL');
      expect(scene.fake.calls()).toEqual([]);
      const end = await scene.ralph(['resume', 'x', '--delay', '0']);
      expect(end).toMatchObject({ exitCode: 0 });
      expect(scene.prompt(1)).toContain('Write the letter.');
      expect(scene.names('Done')).toEqual(['x.md']);
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
