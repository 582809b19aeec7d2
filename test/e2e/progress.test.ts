import { describe, expect, test } from 'vitest';
import { RalphService } from '../../src/index.ts';
import { makeScene } from '../helpers/scene.ts';

const REPORT = ['--total', '5', '--done', '2', '--step', 'Lint'];

describe('ralph progress', () => {
  test('is reported from inside the loop, and stands in state and status', async () => {
    const scene = await makeScene();
    const args = ['--agent', 'command', '--agent-command', 'sh agent.sh', '--max-iterations', '1'];
    await scene.write(
      'agent.sh',
      'cd / && ralph progress --total 5 --done 2 --step Lint && echo ok',
    );
    const run = await scene.run(args);
    expect(run.stderr).not.toContain('exit code');
    expect(scene.state().progress).toEqual({
      steps_total: 5,
      steps_completed: 2,
      current_step: 'Lint',
      percentage: 40,
    });
    expect((await scene.ralph(['status', 't'])).stdout).toMatch(/2 of 5 steps/);
  });

  test('is shown at once while the agent works, and by another terminal', async () => {
    const scene = await makeScene();
    const args = ['--agent', 'command', '--agent-command', 'sh agent.sh', '--max-iterations', '1'];
    await scene.write(
      'agent.sh',
      'echo ready >&2; while [ ! -e go ]; do sleep 0.02; done; echo ok',
    );
    const run = await scene.start(['run', '-p', 'x', '--task-id', 't', ...args]);
    await run.untilStderr(/iteration 1/);
    const told = await scene.ralph(['progress', 't', ...REPORT]);
    expect([told.exitCode, told.stdout, told.stderr]).toEqual([0, '', '']);
    const shown = JSON.parse((await scene.ralph(['status', 't', '--json'])).stdout);
    expect(shown.progress).toMatchObject({ steps_completed: 2, current_step: 'Lint' });
    await scene.write('go', '');
    await run.ended;
    expect(scene.state().progress.steps_completed).toBe(2);
    expect(scene.names('.ralph_state/t/requests')).toEqual([]);
  });

  test('is kept in the books of a task of the library', async () => {
    const scene = await makeScene();
    const books = new RalphService({ vault: scene.folder, env: {} });
    await books.startTask({ prompt: 'Fix it.', taskId: 't' });
    expect((await scene.ralph(['progress', 't', ...REPORT])).exitCode).toBe(0);
    expect(scene.state().progress).toMatchObject({ steps_total: 5, percentage: 40 });
  });

  test('is refused of a task that nobody drives', async () => {
    const scene = await makeScene({ text: 'Not yet.' });
    await scene.run(['--max-iterations', '1']);
    const { exitCode, stderr } = await scene.ralph(['progress', 't', ...REPORT]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^ralph: task 't' is max_iterations_reached\.\n/);
    expect((await scene.ralph(['progress', 'none', ...REPORT])).stderr).toContain(
      'there is no task ',
    );
  });

  test.for([
    [[], '--total expects a whole number from 1; found none.'],
    [['--total', '5', '--done', 'x'], "--done expects a whole number from 0; found 'x'."],
    [['--total', '2', '--done', '3'], '--done expects a number no larger than --total'],
    [['--total', '0', '--done', '0'], '--done expects a number no larger than --total'],
  ] as const)('says what is wrong with %j', async ([args, sentence]) => {
    const { exitCode, stderr } = await (await makeScene()).ralph(['progress', 't', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });

  test('needs an id outside a loop', async () => {
    const { exitCode, stderr } = await (await makeScene()).ralph(['progress', ...REPORT]);
    expect([exitCode, stderr.includes('expects the id of a task')]).toEqual([2, true]);
  });
});
