import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, livingIn, untilNobodyIn } from '../helpers/living-in.ts';
import { until } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A running loop, steered from another terminal.

const WORKING: Turn = { text: 'Not yet.' };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;
const RESUMED = { exitCode: 0, stdout: `${DONE.text}\n` };

/** The shell of an agent that works until the test lets it go on. */
const UNTIL_LET_GO = 'until [ -e go ]; do sleep 0.02; done';

function requests(scene: Scene): readonly string[] {
  const folder = join(scene.folder, '.ralph_state/t/requests');
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe('ralph stop', () => {
  test('ends the iteration cleanly: the driver exits 143, and resume goes on', async () => {
    const scene = await makeScene([WORKING, { hangs: true }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(2);
    const { exitCode, stderr } = await scene.ralph(['stop', 't']);
    expect(exitCode).toBe(0);
    expect(stderr).toBe('ralph: t is stopped\nralph: to continue: ralph resume t\n');
    expect(await ralph.ended).toMatchObject({ exitCode: 143, stdout: '' });
    expect(livingIn(scene.home)).toEqual([]);
    expect(scene.state()).toMatchObject({
      status: 'stopped',
      exit_reason: 'stopped:request',
      driver: null,
    });
    expect(requests(scene)).toEqual([]);
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(scene.state().metrics.iterations).toBe(2);
  });

  test('between two iterations', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const ralph = await scene.start([...RUN, '--delay', '10m']);
    await ralph.untilStderr(/iteration 1 answered/);
    expect(await scene.ralph(['stop', 't'])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
  });

  test('of a suspended driver: says so with its pid, and exits 1', async () => {
    const scene = await makeScene([{ hangs: true }]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    process.kill(ralph.pid, 'SIGSTOP');
    const { exitCode, stderr } = await scene.ralph(['stop', 't']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`the driver of t (pid ${ralph.pid} on `);
    expect(stderr).toContain(`kill -KILL ${ralph.pid}`);
    // It has not been touched, and takes note as soon as it wakes.
    expect(scene.state()).toMatchObject({ status: 'running' });
    process.kill(ralph.pid, 'SIGCONT');
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
  });

  test('of a task whose driver is dead, and of none', async () => {
    const scene = await makeScene([{ hangs: true }]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    process.kill(ralph.pid, 'SIGKILL');
    await ralph.ended;
    const dead = await scene.ralph(['stop', 't']);
    expect(dead.exitCode).toBe(1);
    expect(dead.stderr).toMatch(/task 't' is interrupted\.\nralph: to continue: ralph resume t\n/);
    const none = await scene.ralph(['stop', '../t']);
    expect(none).toMatchObject({ exitCode: 1, stdout: '' });
    expect(none.stderr).toContain('there is no task ');
    await untilNobodyIn(scene.home);
  });
});

describe('ralph pause', () => {
  test('lets the iteration finish: the driver exits 6, and resume goes on', async () => {
    const scene = await makeScene([{ ...WORKING, shell: UNTIL_LET_GO }, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    expect(await scene.ralph(['pause', 't'])).toMatchObject({ exitCode: 0 });
    await until(
      () => requests(scene).length === 0,
      () => 'the request to be noticed',
    );
    await scene.write('go', '');
    expect(await ralph.ended).toMatchObject({ exitCode: 6, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.state()).toMatchObject({
      status: 'paused',
      exit_reason: 'paused',
      iterations: [{ number: 1, outcome: 'answered' }],
      driver: null,
    });
    expect(scene.journal().at(-1)).toMatchObject({ event: 'task_paused', final: true });
    expect(scene.notes()).toEqual([]);
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(scene.state().metrics.iterations).toBe(2);
  });

  test('an iteration that completes the task completes it', async () => {
    const scene = await makeScene([{ ...DONE, shell: UNTIL_LET_GO }]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    await scene.ralph(['pause', 't']);
    await scene.write('go', '');
    expect(await ralph.ended).toMatchObject(RESUMED);
  });

  test('in a delay: at once', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const ralph = await scene.start([...RUN, '--delay', '10m']);
    await ralph.untilStderr(/iteration 1 answered/);
    expect(await scene.ralph(['pause', 't'])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject({ exitCode: 6 });
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(scene.state().metrics.iterations).toBe(2);
  });

  test('in a wait for a usage limit: at once, and the same iteration later', async () => {
    const scene = await makeScene([planLimited(3_600), DONE]);
    const ralph = await scene.start(RUN);
    await ralph.untilStderr(/waiting until/);
    expect(await scene.ralph(['pause', 't'])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject({ exitCode: 6 });
    expect(scene.state()).toMatchObject({ status: 'paused', iterations: [], wait: null });
    expect(await scene.ralph(['resume', 't'])).toMatchObject(RESUMED);
    expect(scene.state()).toMatchObject({ attempt: 2, metrics: { iterations: 1 } });
  });
});

describe('ralph tell', () => {
  test('a running task: in the next prompt, and in no other', async () => {
    const scene = await makeScene([{ ...WORKING, shell: UNTIL_LET_GO }, WORKING, DONE]);
    endAllInLater(scene.home);
    const ralph = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    expect(await scene.ralph(['tell', 't', 'Mind the tests.'])).toMatchObject({ exitCode: 0 });
    await scene.write('go', '');
    expect(await ralph.ended).toMatchObject(RESUMED);
    const told = [1, 2, 3].map((call) => scene.prompt(call).includes('Mind the tests.'));
    expect(told).toEqual([false, true, false]);
  });

  test('a paused task: when it is resumed', async () => {
    const scene = await makeScene([WORKING, DONE]);
    const ralph = await scene.start([...RUN, '--delay', '10m']);
    await ralph.untilStderr(/iteration 1 answered/);
    await scene.ralph(['pause', 't']);
    await ralph.ended;
    const { exitCode, stderr } = await scene.ralph(['tell', 't', 'Mind the tests.']);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'ralph: t is paused and gets the hint when it is resumed: ralph resume t\n',
    );
    expect(await scene.ralph(['resume', 't', '--delay', '0'])).toMatchObject(RESUMED);
    expect(scene.prompt(2)).toContain('Mind the tests.');
  });
});

describe('inside the loop', () => {
  test.for<[string, number]>([
    ['stop t', 1],
    ['resume t', 1],
  ])('the agent calls ralph %s on its own task: refused', async ([words, exitCode]) => {
    const shell = `ralph ${words} > said 2>&1; echo $? > code`;
    const scene = await makeScene([{ ...DONE, shell }]);
    expect(await scene.run()).toMatchObject(RESUMED);
    expect(scene.read('code')).toBe(`${exitCode}\n`);
    expect(scene.read('said')).toMatch(/refused inside the loop of task 't' itself/);
    expect(scene.state()).toMatchObject({ status: 'completed', metrics: { iterations: 1 } });
  });

  test('another task of the same vault may be stopped', async () => {
    const scene = await makeScene([{ hangs: true }, { ...DONE, shell: 'ralph stop other' }]);
    endAllInLater(scene.home);
    const other = await scene.start([...RUN, '--task-id', 'other']);
    await scene.fake.untilCalls(1);
    expect(await scene.run()).toMatchObject(RESUMED);
    expect(await other.ended).toMatchObject({ exitCode: 143 });
  });
});
