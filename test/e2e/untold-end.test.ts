import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT } from '../helpers/patience.ts';
import { until } from '../helpers/processes.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';

// A driver that dies between the end of its task and the telling of it: whatever is started next tells
// first, by note, event and --on-end, and then does what it was asked to.

const WORKING: Turn = { text: 'Not yet.', costUsd: 0.5 };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--delay', '0', '--task-id', 't'];

/** The first time it kills ralph, and takes back what had been told by then. */
const DIES = [
  '[ -e died ] || {',
  ': > died; rm -f Needs_Action/RALPH_*; : > .ralph_state/events.jsonl; kill -9 $PPID; exit;',
  '}; cat >> ends.jsonl',
].join(' ');

/** A task that ended so, of which nobody has heard. */
async function untold(
  turns: readonly Turn[],
  args: readonly string[],
  run: readonly string[] = RUN,
): Promise<Scene> {
  const scene = await makeScene(turns);
  scene.makeRepository();
  const end = await scene.ralph([...run, '--on-end', DIES, ...args]);
  expect(end).toMatchObject({ signal: 'SIGKILL' });
  expect(scene.notes()).toEqual([]);
  return scene;
}

/** The endings that `--on-end` was told, and those that stand in the journal. */
function ends(scene: Scene): Json {
  const given = scene.read('ends.jsonl').trim().split('\n');
  const isEnd = (event: Json): boolean => event.exit_reason !== undefined;
  return {
    given: given.map((line) => JSON.parse(line).event),
    told: scene
      .journal()
      .filter(isEnd)
      .map(({ event }) => event),
  };
}

const EXHAUSTED = 'max_iterations_reached';

/** The notes of the endings in the journal; they go once the task is completed. */
function noted(scene: Scene): readonly string[] {
  return scene.journal().flatMap(({ note }) => note ?? []);
}

describe('an end that nobody was told', () => {
  test('is shown as interrupted', async () => {
    const scene = await untold([WORKING], ['-n', '1']);
    const { stdout } = await scene.ralph(['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ task_id: 't', state: 'interrupted' }]);
  });

  test.for<[string, string, readonly string[], readonly Turn[]]>([
    ['EXHAUSTED', EXHAUSTED, ['-n', '1'], [WORKING, DONE]],
    ['TIMEOUT', 'task_timeout', ['--timeout', LIMIT], [{ hangs: true }, DONE]],
    ['STALLED', 'task_stalled', ['--no-progress-limit', '1'], [WORKING, DONE]],
    ['BUDGET', 'task_budget_spent', ['--max-cost', '0.4'], [WORKING, DONE]],
  ])('is told by resume, which then goes on: %s', async ([reason, event, args, turns]) => {
    const scene = await untold(turns, args);
    const more = ['-n', '5', '--timeout', '+10m', '--max-cost', '5'];
    const end = await scene.ralph(['resume', 't', ...more]);
    expect(end).toMatchObject({ exitCode: 0, stdout: `${DONE.text}\n` });
    expect(noted(scene)).toEqual([expect.stringContaining(`/RALPH_${reason}_t_`)]);
    expect(ends(scene)).toEqual({
      given: [event, 'task_completed'],
      told: [event, 'task_completed'],
    });
    expect(scene.fake.calls()).toHaveLength(2);
  });

  test.for([
    ['the line for cron', ['--resume-if-open']],
    ['a new run of its id', []],
  ] as const)('is told by %s, which then starts afresh', async ([, words]) => {
    const scene = await untold([WORKING, DONE], ['-n', '1']);
    const end = await scene.ralph([...RUN, ...words, '-n', '1']);
    expect(end).toMatchObject({ exitCode: 0, stdout: `${DONE.text}\n` });
    expect(end.stderr).toMatch(/not completed: the iterations ran out[\s\S]*starts over/);
    expect(noted(scene)).toEqual([expect.stringContaining('/RALPH_EXHAUSTED_t_')]);
    // By its own settings: the new run has no --on-end.
    expect(ends(scene)).toEqual({ given: [EXHAUSTED], told: [EXHAUSTED, 'task_completed'] });
    expect(scene.state().iterations).toHaveLength(1);
  });

  test('is told by rescue, which does nothing else with it', async () => {
    const scene = await makeScene([WORKING, WORKING]);
    await scene.write('Needs_Action/x.md', 'Write the letter.');
    const run = ['run', '--task-file', 'Needs_Action/x.md', '--delay', '0', '-n', '1'];
    const killed = await scene.ralph([...run, '--on-end', DIES]);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const then = Date.now() / 1_000 - 25 * 60;
    utimesSync(join(scene.folder, 'In_Progress/x.md'), then, then);
    const pass = () => scene.ralph(['rescue', '--on-end', DIES]);
    expect((await pass()).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(1);
    const note = scene.notes().map(({ name }) => name);
    expect(note).toEqual([expect.stringMatching(/^RALPH_EXHAUSTED_x_/)]);
    expect(ends(scene).told).toEqual([EXHAUSTED]);
    // Now it is with a person.
    expect((await pass()).stdout).toContain(note[0]);
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('is told by rescue, which does not start the agent again although the task could go on', async () => {
    const scene = await makeScene([{ text: 'It cannot be done.\n\nGIVEN UP' }, WORKING]);
    await scene.write('Needs_Action/x.md', 'Write the letter.');
    const run = ['run', '--task-file', 'Needs_Action/x.md', '--delay', '0', '-n', '3'];
    const killed = await scene.ralph([...run, '--abort-promise', 'GIVEN UP', '--on-end', DIES]);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const then = Date.now() / 1_000 - 25 * 60;
    utimesSync(join(scene.folder, 'In_Progress/x.md'), then, then);
    await scene.ralph(['rescue', '--on-end', DIES]);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(ends(scene).told).toEqual(['task_failed']);
  });

  test('is told of a task that a person vouches for, too', async () => {
    const scene = await untold([WORKING, DONE], ['-n', '1']);
    const { sum, ...state } = scene.state();
    await scene.write('.ralph_state/t.json', JSON.stringify(state));
    expect(await scene.ralph(['resume', 't', '-n', '2'])).toMatchObject({ exitCode: 1 });
    expect(scene.notes()).toEqual([]);
    const end = await scene.ralph(['resume', 't', '--trust', '-n', '2']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(noted(scene)).toHaveLength(1);
    expect(scene.state().usage.cost_usd).toBeCloseTo(0.51);
  });

  test('is told again where its second driver dies as well', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const diesTwice = [
      '[ -e died-2 ] || {',
      'if [ -e died-1 ]; then : > died-2; else : > died-1; fi;',
      'rm -f Needs_Action/RALPH_*; kill -9 $PPID; exit; }; true',
    ].join(' ');
    const killed = { signal: 'SIGKILL' };
    expect(await scene.ralph([...RUN, '-n', '1', '--on-end', diesTwice])).toMatchObject(killed);
    expect(await scene.ralph(['resume', 't', '-n', '2'])).toMatchObject(killed);
    expect(scene.notes()).toEqual([]);
    const { stderr } = await scene.ralph(['resume', 't', '-n', '2']);
    expect(stderr.match(/^ralph: note: /gm)).toHaveLength(1);
    expect(scene.state().status).toBe('completed');
  });

  test('is told by its own settings: those of the resume are in force only once it goes on', async () => {
    const scene = await makeScene([{ hangs: true }, DONE]);
    const diesTwice =
      '[ -e died-2 ] || { [ -e died-1 ] && : > died-2; : > died-1; kill -9 $PPID; }';
    const args = ['--timeout', LIMIT, '--on-end', diesTwice];
    expect(await scene.ralph([...RUN, ...args])).toMatchObject({ signal: 'SIGKILL' });
    const more = ['resume', 't', '--timeout', '2h'];
    expect(await scene.ralph(more)).toMatchObject({ signal: 'SIGKILL' });
    // The limit is still the first one, so that two hours are two hours.
    expect(await scene.ralph(more)).toMatchObject({ exitCode: 0 });
    expect(scene.state().status).toBe('completed');
  });

  test.for([
    ['resume', ['resume', 't', '-n', '2']],
    ['the line for cron', [...RUN, '--resume-if-open', '-n', '2']],
  ] as const)('nothing is started by %s if ralph is stopped while it tells', async ([, words]) => {
    const scene = await makeScene([WORKING, DONE]);
    const waits = '[ -e died ] || { : > died; kill -9 $PPID; exit; }; : > telling; exec sleep 60';
    const killed = await scene.ralph([...RUN, '-n', '1', '--on-end', waits]);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    const ralph = await scene.start(words);
    await until(
      () => scene.has('telling'),
      () => `--on-end has not run; ralph says ${ralph.stderr()}`,
    );
    process.kill(ralph.pid, 'SIGTERM');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.notes()).toHaveLength(1);
  });
});

describe('an end that was told', () => {
  test('is not told again', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const args = [...RUN, '-n', '1', '--on-end', 'cat >> ends.jsonl'];
    expect(await scene.ralph(args)).toMatchObject({ exitCode: 3 });
    expect(scene.state()).toMatchObject({ status: EXHAUSTED, driver: null });
    expect(await scene.ralph(['resume', 't', '-n', '2'])).toMatchObject({ exitCode: 0 });
    const both = [EXHAUSTED, 'task_completed'];
    expect(ends(scene)).toEqual({ given: both, told: both });
  });
});
