import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RalphService, type StartTaskOptions } from '../../src/index.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

/** A task that a program keeps by the library. */
async function keptTask(scene: Scene, options: StartTaskOptions = {}): Promise<RalphService> {
  const books = new RalphService({ vault: scene.folder, env: {} });
  await books.startTask({ prompt: 'Fix the tests.', taskId: 't', ...options });
  return books;
}

/** What Claude Code tells a stop hook. */
function hookInput(scene: Scene, lastMessage: string | null): string {
  const transcript = join(scene.folder, 'session.jsonl');
  const content = [{ type: 'text', text: lastMessage ?? '' }];
  const line = { type: 'assistant', message: { id: 'm1', role: 'assistant', content } };
  writeFileSync(transcript, lastMessage === null ? '' : `${JSON.stringify(line)}\n`);
  return JSON.stringify({
    session_id: 's1',
    transcript_path: transcript,
    cwd: scene.folder,
    hook_event_name: 'Stop',
    stop_hook_active: false,
  });
}

const STATED = 'All tests pass.\n\n<promise>TASK_COMPLETE</promise>';

describe('ralph check', () => {
  test('holds an agent whose task is open: exit 1, the prompt and what is missing', async () => {
    const scene = await makeScene();
    await keptTask(scene);
    for (const args of [['check', 't'], ['check']]) {
      const { exitCode, stdout, stderr } = await scene.ralph(args);
      expect(exitCode).toBe(1);
      expect(stdout.startsWith('Fix the tests.\n\n')).toBe(true);
      expect(stdout).toContain("ensure '<promise>TASK_COMPLETE</promise>' is satisfied.");
      expect(stderr).toBe('ralph: t is not complete\n');
    }
  });

  test('gives the context of the last iteration', async () => {
    const scene = await makeScene();
    const books = await keptTask(scene);
    await books.incrementIteration('t', { context: 'Half of it works.' });
    expect((await scene.ralph(['check', 't'])).stdout).toContain('Half of it works.');
  });

  test.for([
    [
      'complete by its promise',
      (books: RalphService) => books.incrementIteration('t', { context: STATED }),
    ],
    ['completed', (books: RalphService) => books.completeTask('t')],
    ['failed', (books: RalphService) => books.failTask('t', 'no')],
    ['waiting for an approval', (books: RalphService) => books.pauseTask('t', 'push')],
  ] as const)('lets go where the task is %s', async ([, act]) => {
    const scene = await makeScene();
    await act(await keptTask(scene));
    for (const args of [['check', 't'], ['check'], ['check', '--hook']]) {
      const { exitCode, stdout } = await scene.ralph(args, { input: hookInput(scene, null) });
      expect([exitCode, stdout]).toEqual([0, '']);
    }
  });

  test('lets go where the file has been moved', async () => {
    const scene = await makeScene();
    await scene.write('Needs_Action/x.md', 'Do it.');
    const books = new RalphService({ vault: scene.folder, env: {} });
    await books.startTask({ taskFile: 'Needs_Action/x.md', taskId: 't' });
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(1);
    await scene.write('Done/x.md', 'Do it.');
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(0);
  });

  test('lets go where the task is unknown, damaged, or one of several', async () => {
    const scene = await makeScene();
    expect((await scene.ralph(['check'])).exitCode).toBe(0);
    expect(await scene.ralph(['check', '../../etc'])).toMatchObject({ exitCode: 0, stdout: '' });
    const books = await keptTask(scene);
    await books.startTask({ prompt: 'Another.', taskId: 'u' });
    const several = await scene.ralph(['check']);
    expect(several).toMatchObject({ exitCode: 0, stdout: '' });
    expect(several.stderr).toContain('several tasks are open (t, u)');
    await scene.write('.ralph_state/v.json', '{');
    expect(await scene.ralph(['check', 'v'])).toMatchObject({ exitCode: 0, stdout: '' });
  });

  test('lets go inside a loop, which decides by itself', async () => {
    const scene = await makeScene();
    await keptTask(scene);
    const env = { RALPH_RUN_ID: 'x' };
    for (const args of [
      ['check', 't'],
      ['check', '--hook'],
    ]) {
      const end = await scene.ralph(args, { env, input: hookInput(scene, null) });
      expect(end).toMatchObject({ exitCode: 0, stdout: '' });
    }
  });

  test('changes nothing', async () => {
    const scene = await makeScene();
    await keptTask(scene);
    const before = scene.read('.ralph_state/t.json');
    await scene.ralph(['check', 't']);
    expect(scene.read('.ralph_state/t.json')).toBe(before);
  });

  test('understands the state that a stop hook of another tool reads', async () => {
    const scene = await makeScene();
    const state = {
      loop_id: 'RALPH_1',
      prompt: 'Process all invoices.',
      max_iterations: 10,
      completion_promise: 'TASK_COMPLETE',
      current_iteration: 3,
      status: 'running',
      started_at: '2026-01-19T10:00:00Z',
      iterations: [],
    };
    await scene.write('.ralph_state/RALPH_1.json', JSON.stringify(state));
    for (const words of [['check'], ['check', 'RALPH_1']]) {
      expect(await scene.ralph(words)).toMatchObject({ exitCode: 0, stdout: '' });
    }
    const named = ['check', 'RALPH_1', '--trust'];
    const { exitCode, stdout } = await scene.ralph(named);
    expect(exitCode).toBe(1);
    expect(stdout.startsWith('Process all invoices.')).toBe(true);
    expect(await scene.ralph(['check', '--trust'])).toMatchObject({ exitCode: 2 });
    const end = await scene.ralph([...named, '--hook'], { input: hookInput(scene, STATED) });
    expect(end).toMatchObject({ exitCode: 0, stdout: '' });
  });
});

describe('ralph check of a task that ralph run left', () => {
  /** One whose driver died, as far as its state tells. */
  async function interrupted(args: readonly string[]): Promise<Scene> {
    const scene = await makeScene({ text: 'Not yet.' });
    await scene.run(['--max-iterations', '1', ...args]);
    const state = { ...scene.state(), status: 'running', finished_at: null, max_iterations: 5 };
    await scene.writeState(state);
    return scene;
  }

  test('looks at the watched files against the marks of its start', async () => {
    const scene = await interrupted(['--watch-glob', 'out-*.md']);
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(1);
    await scene.write('out-1.md', 'Here.');
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(0);
    expect((await scene.ralph(['check'])).exitCode).toBe(0);
  });

  test('runs its commands only where it is named', async () => {
    const scene = await interrupted(['--until', 'touch ran && test -e ready']);
    await scene.write('ready', '');
    rmSync(join(scene.folder, 'ran'));
    expect((await scene.ralph(['check'])).exitCode).toBe(1);
    const input = hookInput(scene, 'Not yet.');
    expect((await scene.ralph(['check', '--hook'], { input })).stdout).not.toBe('');
    expect(scene.has('ran')).toBe(false);
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(0);
    expect(scene.has('ran')).toBe(true);
  });

  test('has a claim verified, and tells what that printed', async () => {
    const scene = await interrupted(['--verify', 'echo 3 tests failed; test -e ready']);
    const ask = (...id: readonly string[]) =>
      scene.ralph(['check', ...id, '--hook'], { input: hookInput(scene, STATED) });
    const held = JSON.parse((await ask('t')).stdout);
    expect(held.reason).toContain('3 tests failed');
    await scene.write('ready', '');
    expect((await ask()).stdout).not.toBe('');
    expect((await ask('t')).stdout).toBe('');
  });

  test('runs all checks for a claim, and names each that failed', async () => {
    const second = 'echo x >> ran; echo lint is red; exit 4';
    const scene = await interrupted(['--verify', 'test -e ready', '--verify', second]);
    const { stdout } = await scene.ralph(['check', 't', '--hook'], {
      input: hookInput(scene, STATED),
    });
    const { reason } = JSON.parse(stdout);
    expect(reason).toContain(`these checks failed: test -e ready exited with 1; ${second} exited`);
    expect(reason).toContain('\nlint is red\n');
    expect(scene.read('ran')).toBe('x\n');
  });

  test('holds the agent by the beginning of the prompt where the stored one is lost or changed', async () => {
    const scene = await interrupted(['--prompt', `Fix it. ${'And the next. '.repeat(200)}`]);
    expect((await scene.ralph(['check', 't'])).exitCode).toBe(1);
    const input = hookInput(scene, 'Not yet.');
    for (const lose of [
      () => scene.write('.ralph_state/t/prompt.md', 'Delete it.'),
      () => rmSync(join(scene.folder, '.ralph_state/t/prompt.md')),
    ]) {
      await lose();
      for (const args of [['t'], ['t', '--hook']]) {
        const { exitCode, stdout } = await scene.ralph(['check', ...args], { input });
        expect(exitCode).toBe(args.length === 1 ? 1 : 0);
        expect(stdout).toContain('Fix it. And the next.');
        expect(stdout).toContain('it is not what the task was started with');
        expect(stdout).not.toContain('Delete it.');
      }
    }
  });

  test('gives no earlier output to a task with --context none', async () => {
    const scene = await interrupted([]);
    expect((await scene.ralph(['check', 't'])).stdout).toContain('Not yet.');
    const bare = await interrupted(['--context', 'none']);
    expect((await bare.ralph(['check', 't'])).stdout).not.toContain('Not yet.');
  });

  test('counts nothing: that is for its loop', async () => {
    const scene = await interrupted([]);
    const before = scene.read('.ralph_state/t.json');
    const input = hookInput(scene, 'Not yet.');
    expect((await scene.ralph(['check', '--hook'], { input })).stdout).not.toBe('');
    expect(scene.read('.ralph_state/t.json')).toBe(before);
  });
});

describe('ralph check --hook', () => {
  test('holds a session by the JSON of Claude Code, and counts', async () => {
    const scene = await makeScene();
    const books = await keptTask(scene);
    const input = hookInput(scene, 'Half of it works.');
    const { exitCode, stdout } = await scene.ralph(['check', '--hook'], { input });
    expect(exitCode).toBe(0);
    const answer = JSON.parse(stdout);
    expect(answer.decision).toBe('block');
    expect(answer.reason).toContain('Fix the tests.');
    expect(answer.reason).not.toContain('Half of it works.');
    const task = await books.getTaskState('t');
    expect(task?.current_iteration).toBe(1);
    expect(task?.iterations[0]?.output_preview).toBe('Half of it works.');
  });

  test('lets a session go that states the promise, and keeps that in the books', async () => {
    const scene = await makeScene();
    const books = await keptTask(scene);
    const end = await scene.ralph(['check', 't', '--hook'], { input: hookInput(scene, STATED) });
    expect(end).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await books.checkTaskComplete('t')).toBe(true);
  });

  test('takes the last message itself, where it is told', async () => {
    const scene = await makeScene();
    await keptTask(scene);
    const told = { ...JSON.parse(hookInput(scene, 'Not yet.')), last_assistant_message: STATED };
    const end = await scene.ralph(['check', '--hook'], { input: JSON.stringify(told) });
    expect(end.stdout).toBe('');
  });

  test('tells a near miss', async () => {
    const scene = await makeScene();
    await keptTask(scene);
    const input = hookInput(scene, 'I am not ready to say TASK_COMPLETE yet.');
    const { stdout } = await scene.ralph(['check', '--hook'], { input });
    expect(JSON.parse(stdout).reason).toContain('mentioned the promise without stating it');
  });

  test('lets go once the iterations are used up', async () => {
    const scene = await makeScene();
    await keptTask(scene, { maxIterations: 2 });
    const ask = () => scene.ralph(['check', '--hook'], { input: hookInput(scene, 'More to do.') });
    expect((await ask()).stdout).not.toBe('');
    expect((await ask()).stdout).toBe('');
    expect((await ask()).stdout).toBe('');
    expect(scene.state().current_iteration).toBe(2);
  });

  test.for(['', 'no json', '[]', '{}', '{"transcript_path":7}'])(
    'keeps nobody from stopping for want of a good input: %j',
    async (input) => {
      const scene = await makeScene();
      const { exitCode } = await scene.ralph(['check', '--hook'], { input });
      expect(exitCode).toBe(0);
    },
  );
});
