import { describe, expect, test } from 'vitest';
import { RalphService } from '../../src/index.ts';
import { makeScene } from '../helpers/scene.ts';

// The command and what others have left for it: states of other loop tools, and tasks of the library.

const DONE = { text: '<promise>TASK_COMPLETE</promise>' };

/** Minutes ago, as a state file has it. */
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

const STATES = {
  RALPH_20260119_abc123: {
    loop_id: 'RALPH_20260119_abc123',
    prompt: 'Process all invoices.',
    max_iterations: 10,
    completion_promise: 'TASK_COMPLETE',
    current_iteration: 3,
    status: 'running',
    started_at: ago(5),
    iterations: [{ number: 1, timestamp: ago(4), output_preview: 'Invoice 1', completed: false }],
    errors: [],
    paused_for_approval: false,
  },
  task_client_proposal: {
    task_id: 'task_client_proposal',
    task_file: 'to be filled in',
    completion_promise: 'TASK_COMPLETE',
    status: 'in_progress',
    iteration: 3,
    max_iterations: 10,
    started_at: ago(5),
    last_updated: ago(2),
    timeout_at: ago(-25),
    progress: {
      steps_total: 5,
      steps_completed: 2,
      current_step: 'Writing sections',
      percentage: 40,
    },
    iterations_history: [
      {
        iteration: 2,
        timestamp: ago(3),
        action: 'Draft',
        result: 'success',
        duration_seconds: 20.5,
      },
    ],
  },
  task_20260220_230000_123456: {
    task_id: '20260220_230000_123456',
    task_prompt: 'Process all invoices.',
    task_type: 'email_processing',
    max_iterations: 5,
    completion_promise: 'TASK_COMPLETE',
    watch_glob: 'Done/FILE_*invoice*.md',
    current_iteration: 0,
    started_at: ago(5),
    status: 'running',
    outputs: [],
  },
};

describe('a state of another tool', () => {
  test.for(Object.keys(STATES) as (keyof typeof STATES)[])(
    '%s is shown by status and continued by resume',
    async (taskId) => {
      const scene = await makeScene([DONE]);
      const task_file = await scene.write('Needs_Action/a.md', 'Process all invoices.');
      const state: object = STATES[taskId];
      const text = JSON.stringify('task_file' in state ? { ...state, task_file } : state);
      await scene.write(`.ralph_state/${taskId}.json`, text);

      const shown = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
      expect(shown).toMatchObject([{ task_id: taskId, state: 'interrupted' }]);

      const refused = await scene.ralph(['resume', taskId, '--delay', '0']);
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
      expect(refused.stderr).toContain(`if it is yours: ralph resume ${taskId} --trust\n`);
      expect(scene.fake.calls()).toEqual([]);

      const words = ['resume', taskId, '--trust', '--delay', '0'];
      const { stderr, exitCode } = await scene.ralph(words);
      expect({ stderr, exitCode }).toEqual({ stderr: expect.anything(), exitCode: 0 });
      expect(scene.prompt(1)).toContain('Process all invoices.');
      expect(scene.state(taskId)).toMatchObject({ status: 'completed', schema_version: 1 });
    },
  );
});

describe('a task of the library', () => {
  test('is shown by status as it stands, and gone on with by resume once it has ended', async () => {
    const scene = await makeScene([DONE]);
    const books = new RalphService({ vault: scene.folder, env: {} });
    await books.startTask({ prompt: 'Write it.', taskId: 't', maxIterations: 1 });
    await books.incrementIteration('t', { context: 'Half of it.' });
    const shown = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
    expect(shown).toMatchObject([{ task_id: 't', state: 'running', iteration: 1, driver: null }]);

    await books.handleMaxIterations('t');
    const words = scene.notes()[0]?.command.split(' ').slice(1) ?? [];
    expect(words).toEqual(['resume', 't', '--max-iterations', '+5', '--vault', scene.folder]);
    const { stderr, exitCode } = await scene.ralph([...words, '--delay', '0']);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.anything(), exitCode: 0 });
    expect(scene.prompt(1)).toContain('Write it.');
    expect(scene.state('t')).toMatchObject({
      status: 'completed',
      max_iterations: 6,
      metrics: { iterations: 2 },
    });
  });
});

describe('an approval that a task of the library waits for', () => {
  test('is listed by approvals, and granted by approve', async () => {
    const scene = await makeScene([]);
    const books = new RalphService({ vault: scene.folder, env: {} });
    await books.startTask({ prompt: 'Write it.', taskId: 't' });
    await books.pauseTask('t', 'send-mail', 'Send the mail to Anna');
    expect((await scene.ralph(['approvals'])).stdout).toContain('Send the mail to Anna');
    expect(await scene.ralph(['approve', 't'])).toMatchObject({ exitCode: 0 });
    expect(await books.resumeTask('t')).toMatchObject({ status: 'running' });
  });

  test('is refused by reject, with its reason', async () => {
    const scene = await makeScene([]);
    const books = new RalphService({ vault: scene.folder, env: {} });
    await books.startTask({ prompt: 'Write it.', taskId: 't' });
    await books.pauseTask('t', 'send-mail');
    expect(await scene.ralph(['reject', 't', '--reason', 'not today'])).toMatchObject({
      exitCode: 0,
    });
    await expect(books.resumeTask('t')).rejects.toThrow('rejected (not today)');
  });
});

describe('the command line of the documents', () => {
  test('dry-run: no agent is started, and nothing is written', async () => {
    const scene = await makeScene([]);
    const words = '--prompt Briefing --promise Generated --task-type weekly_audit --dry-run';
    const { exitCode } = await scene.ralph(['run', ...words.split(' ')]);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toEqual([]);
    expect(scene.names()).toEqual([]);
  });
});
