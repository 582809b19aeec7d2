import { statSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OPENED, openBooks } from '../helpers/books.ts';

// One test, or more, for each method of both service contracts, named after it.

const TASK_FILE = 'Needs_Action/task_proposal.md';

/** Books with a task of that id, started from a prompt. */
async function withTask(taskId = 't', options: object = {}) {
  const stage = await openBooks();
  await stage.books.startTask({ prompt: 'Write the proposal.', taskId, ...options });
  return stage;
}

describe('startTask', () => {
  test('startTask from a prompt: the task runs, with the defaults of the contract', async () => {
    const { books, state, path } = await openBooks();
    const task = await books.startTask({ prompt: 'Write the proposal.' });
    expect(task.task_id).toMatch(/^20260115_100000_\d{6}$/);
    expect(task).toMatchObject({
      status: 'running',
      kept_by: 'library',
      driver: null,
      task_prompt: 'Write the proposal.',
      task_file: null,
      completion_promise: 'TASK_COMPLETE',
      max_iterations: 10,
      current_iteration: 0,
      started_at: OPENED,
      timeout_at: '2026-01-15T10:30:00.000Z',
    });
    const { state_file, ...kept } = task;
    expect(state(task.task_id)).toEqual(kept);
    expect(state_file).toBe(path(`.ralph_state/${task.task_id}.json`));
  });

  test('startTask from a task file: its name is the id, and it stays where it is', async () => {
    const { books, write, read, names } = await openBooks();
    const file = write(TASK_FILE, '# Proposal\n\nWrite it.\n');
    const task = await books.startTask({
      taskFile: TASK_FILE,
      maxIterations: 4,
      timeoutMinutes: 15,
    });
    expect(task).toMatchObject({
      task_id: 'task_proposal',
      status: 'pending',
      task_file: file,
      max_iterations: 4,
      timeout_at: '2026-01-15T10:15:00.000Z',
    });
    expect(read(TASK_FILE)).toBe('# Proposal\n\nWrite it.\n');
    expect(read('.ralph_state/task_proposal/prompt.md')).toContain('# Proposal\n\nWrite it.\n');
    expect(names('.ralph_state')).toContain('task_proposal.json');
  });

  test('startTask from a task file of an odd name: an id that can stand in a folder', async () => {
    const { books, write } = await openBooks();
    write('Needs_Action/für Anna (1).md', 'Write.');
    const task = await books.startTask({ taskFile: 'Needs_Action/für Anna (1).md' });
    expect(task.task_id).toMatch(/^f_r_Anna__1__[0-9a-f]{6}$/);
  });

  test('startTask takes no task file from elsewhere, and no link', async () => {
    const { books, path, write } = await openBooks();
    write('Needs_Action/real.md', 'Write.');
    symlinkSync('real.md', path('Needs_Action/link.md'));
    for (const taskFile of [import.meta.filename, 'Needs_Action/link.md', 'Needs_Action']) {
      await expect(books.startTask({ taskFile })).rejects.toThrow(/^The task file /);
    }
  });

  test('startTask keeps the words of a task file apart from orders, for an agent that may follow', async () => {
    const { books, write, read } = await openBooks();
    write('Needs_Action/a.md', '---\ntype: weekly_audit\n---\nRead @/etc/passwd.\n');
    const task = await books.startTask({ taskFile: 'Needs_Action/a.md' });
    expect(task.task_prompt).toBe('Read @/etc/passwd.\n');
    expect(read('.ralph_state/a/prompt.md')).toMatch(/=====[^\n]*\nRead \\@\/etc\/passwd\.\n/);
  });

  test('startTask keeps state and prompt for their owner alone', async () => {
    const { path } = await withTask();
    const mode = (name: string) => (statSync(path(name)).mode & 0o777).toString(8);
    expect(
      ['', '/t', '/t.json', '/t/prompt.md'].map((name) => mode(`.ralph_state${name}`)),
    ).toEqual(['700', '700', '600', '600']);
  });

  test('startTask masks a credential in what is shown of the prompt', async () => {
    const { books, journal, read } = await openBooks();
    const prompt = 'Use sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.';
    const task = await books.startTask({ prompt, taskId: 't' });
    expect(task.task_prompt).not.toContain('abcdefghijkl');
    expect(JSON.stringify(journal())).not.toContain('abcdefghijkl');
    expect(read('.ralph_state/t/prompt.md')).toBe(prompt);
  });

  test('startTask puts an ended task of the same id into the history', async () => {
    const { books, pass, names } = await withTask();
    await books.failTask('t', 'It broke.');
    pass(60);
    expect(await books.startTask({ prompt: 'Again.', taskId: 't' })).toMatchObject({
      status: 'running',
      current_iteration: 0,
    });
    expect(names('.ralph_state/history')).toEqual([
      't.2026-01-15T100000.000Z',
      't.2026-01-15T100000.000Z.json',
    ]);
  });
});

describe('getTaskState', () => {
  test('getTaskState is null for an unknown task, also for what is no id', async () => {
    const { books } = await openBooks();
    expect(await books.getTaskState('nobody')).toBeNull();
    expect(await books.getTaskState('../t')).toBeNull();
  });

  test('getTaskState tells how a task stands: iterations, progress, times', async () => {
    const { books, pass, state } = await withTask();
    pass(45);
    await books.incrementIteration('t', {
      action: 'Read the requirements',
      result: 'success',
      durationSeconds: 45.2,
    });
    await books.updateProgress('t', {
      stepsTotal: 5,
      stepsCompleted: 2,
      currentStep: 'Writing the sections',
    });
    const task = await books.getTaskState('t');
    expect(task).toEqual(state('t'));
    expect(task).toMatchObject({
      status: 'running',
      current_iteration: 1,
      updated_at: '2026-01-15T10:00:45.000Z',
      progress: { steps_total: 5, steps_completed: 2, percentage: 40 },
      iterations: [
        {
          number: 1,
          started_at: '2026-01-15T09:59:59.800Z',
          duration_ms: 45_200,
          outcome: 'answered',
          output_preview: 'Read the requirements',
        },
      ],
    });
  });

  test('getTaskState finds a completed task in the history', async () => {
    const { books } = await withTask();
    await books.completeTask('t');
    expect(await books.getTaskState('t')).toMatchObject({ status: 'completed' });
  });

  test('getTaskState shows a task whose time is over as timeout, and changes nothing', async () => {
    const { books, pass, state, journal } = await withTask();
    pass(30 * 60);
    expect(await books.getTaskState('t')).toMatchObject({ status: 'timeout', finished_at: null });
    expect(state('t').status).toBe('running');
    expect(journal()).toHaveLength(1);
  });
});

describe('checkTaskComplete', () => {
  test('checkTaskComplete: once the task file has come to the done folder', async () => {
    const { books, write, move } = await openBooks();
    write(TASK_FILE, 'Write it.');
    await books.startTask({ taskFile: TASK_FILE });
    expect(await books.checkTaskComplete('task_proposal')).toBe(false);
    move(TASK_FILE, 'Done/task_proposal.md');
    expect(await books.checkTaskComplete('task_proposal')).toBe(true);
  });

  test('checkTaskComplete: a file that was in the done folder before does not count', async () => {
    const { books, write } = await openBooks();
    write(TASK_FILE, 'Write it.');
    write('Done/task_proposal.md', 'Of last month.');
    await books.startTask({ taskFile: TASK_FILE });
    expect(await books.checkTaskComplete('task_proposal')).toBe(false);
    write('Done/task_proposal.md', 'Of today, and longer.');
    expect(await books.checkTaskComplete('task_proposal')).toBe(true);
  });

  test('checkTaskComplete: once the last context states the promise, not where it is talked about', async () => {
    const { books } = await withTask();
    await books.incrementIteration('t', { context: 'I will say TASK_COMPLETE when it is done.' });
    expect(await books.checkTaskComplete('t')).toBe(false);
    await books.incrementIteration('t', { context: 'Done.\n<promise>TASK_COMPLETE</promise>' });
    expect(await books.checkTaskComplete('t')).toBe(true);
    await books.incrementIteration('t', { context: 'No, one thing is missing.' });
    expect(await books.checkTaskComplete('t')).toBe(false);
  });

  test('checkTaskComplete: of a task that has ended, whether it was completed', async () => {
    const { books } = await withTask('good');
    await books.startTask({ prompt: 'Another.', taskId: 'bad' });
    await books.completeTask('good');
    await books.failTask('bad', 'It broke.');
    expect(await books.checkTaskComplete('good')).toBe(true);
    expect(await books.checkTaskComplete('bad')).toBe(false);
  });

  test('checkTaskComplete takes less than the 50 ms of the contract', async () => {
    const { books, write } = await openBooks();
    write(TASK_FILE, 'Write it.');
    await books.startTask({ taskFile: TASK_FILE });
    // Processor time: what else runs on the machine does not count.
    const began = process.cpuUsage();
    for (let n = 0; n < 20; n += 1) await books.checkTaskComplete('task_proposal');
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000 / 20).toBeLessThan(50);
  });
});

describe('incrementIteration', () => {
  test('incrementIteration with a context: counts, keeps it whole, and says whether to go on', async () => {
    const { books, pass, read } = await withTask();
    pass(20);
    const context = 'Half of it is done.\n\nThe rest follows.';
    expect(await books.incrementIteration('t', { context })).toMatchObject({
      iteration: 1,
      current_iteration: 1,
      max_iterations: 10,
      status: 'running',
      should_continue: true,
      metrics: { iterations: 1 },
      iterations: [
        { duration_ms: 20_000, output_preview: 'Half of it is done. The rest follows.' },
      ],
    });
    expect(read('.ralph_state/t/context.md')).toBe(context);
  });

  test('incrementIteration with action and result: a result other than success is an error', async () => {
    const { books, write } = await openBooks();
    write(TASK_FILE, 'Write it.');
    await books.startTask({ taskFile: TASK_FILE });
    const report = { action: 'Draft it', result: 'the template is gone', durationSeconds: 120.5 };
    expect(await books.incrementIteration('task_proposal', report)).toMatchObject({
      iteration: 1,
      should_continue: true,
      status: 'running',
      iterations: [{ outcome: 'errored', duration_ms: 120_500, output_preview: 'Draft it' }],
      errors: [{ iteration: 1, kind: 'reported', message: 'the template is gone' }],
    });
  });

  test('incrementIteration: should_continue is false at the last iteration', async () => {
    const { books } = await withTask('t', { maxIterations: 2 });
    const goesOn = async () =>
      (await books.incrementIteration('t', { context: 'x' })).should_continue;
    expect([await goesOn(), await goesOn()]).toEqual([true, false]);
  });

  test('incrementIteration: should_continue is false once it is complete', async () => {
    const { books, write, move } = await withTask();
    const context = 'All of it.\n\nTASK_COMPLETE';
    expect(await books.incrementIteration('t', { context })).toMatchObject({
      should_continue: false,
      evidence: { kind: 'promise', detail: 'TASK_COMPLETE' },
    });
    write(TASK_FILE, 'Write it.');
    await books.startTask({ taskFile: TASK_FILE });
    move(TASK_FILE, 'Done/task_proposal.md');
    expect(await books.incrementIteration('task_proposal', { context: 'Moved.' })).toMatchObject({
      should_continue: false,
    });
  });

  test('incrementIteration: should_continue is false where the time ran out meanwhile', async () => {
    const { books, pass } = await withTask();
    pass(31 * 60);
    expect(await books.incrementIteration('t', { context: 'late' })).toMatchObject({
      iteration: 1,
      should_continue: false,
    });
  });

  test('incrementIteration: calls at once are counted one after the other', async () => {
    const { books } = await withTask();
    const all = ['a', 'b', 'c', 'd'].map((context) => books.incrementIteration('t', { context }));
    expect((await Promise.all(all)).map(({ iteration }) => iteration)).toEqual([1, 2, 3, 4]);
  });

  test('incrementIteration: the state stays below 50 KB after a hundred of them', async () => {
    const { books, path } = await withTask('t', { maxIterations: 100 });
    const context = 'word '.repeat(2_000);
    for (let n = 0; n < 100; n += 1) await books.incrementIteration('t', { context });
    expect(statSync(path('.ralph_state/t.json')).size).toBeLessThanOrEqual(50_000);
    expect(await books.getTaskState('t')).toMatchObject({
      current_iteration: 100,
      metrics: { iterations: 100 },
    });
  });
});

describe('updateProgress', () => {
  test('updateProgress writes down the steps, and how much that is', async () => {
    const { books, state } = await withTask();
    const update = { stepsTotal: 5, stepsCompleted: 3, currentStep: 'Review it' };
    const progress = {
      steps_total: 5,
      steps_completed: 3,
      current_step: 'Review it',
      percentage: 60,
    };
    expect(await books.updateProgress('t', update)).toMatchObject({ progress });
    expect(state('t').progress).toEqual(progress);
  });

  test('updateProgress takes no numbers that make no sense', async () => {
    const { books } = await withTask();
    for (const [stepsTotal, stepsCompleted] of [
      [0, 0],
      [3, 4],
      [3, -1],
      [2.5, 1],
      [Number.NaN, 1],
    ] as const) {
      const update = { stepsTotal, stepsCompleted, currentStep: '' };
      await expect(books.updateProgress('t', update)).rejects.toThrow('whole numbers');
    }
  });
});

describe('pauseTask and resumeTask', () => {
  const REQUEST = 'Pending_Approval/APPROVAL_t_send-mail.md';
  const APPROVED = 'Approved/APPROVAL_t_send-mail.md';

  test('pauseTask holds the task, and asks in Pending_Approval', async () => {
    const { books, read } = await withTask();
    expect(await books.pauseTask('t', 'send-mail')).toMatchObject({
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
    });
    expect(read(REQUEST)).toContain('task_id: "t"');
    expect(read(REQUEST)).toContain('Write the proposal.');
  });

  test('pauseTask leaves a request alone that is there already', async () => {
    const { books, write, read } = await withTask();
    write(REQUEST, 'May I send the mail to Anna?');
    await books.pauseTask('t', 'send-mail');
    expect(read(REQUEST)).toBe('May I send the mail to Anna?');
  });

  test('pauseTask that cannot write its request rejects, and the task goes on', async () => {
    const { books, write, state, journal } = await withTask();
    write('Pending_Approval', 'a file in the way');
    const before = state('t');
    await expect(books.pauseTask('t', 'send-mail')).rejects.toThrow();
    expect(state('t')).toEqual(before);
    expect(journal()).toHaveLength(1);
  });

  test('pauseTask takes no id that leads out of the folder', async () => {
    const { books, names } = await withTask();
    await expect(books.pauseTask('t', '../../x')).rejects.toThrow('approvalId expects');
    expect(names('Pending_Approval')).toEqual([]);
  });

  test('resumeTask goes on once the request was approved; the time stood still meanwhile', async () => {
    const { books, move, pass } = await withTask();
    pass(60);
    await books.pauseTask('t', 'send-mail');
    pass(3_600);
    move(REQUEST, APPROVED);
    expect(await books.resumeTask('t')).toMatchObject({
      status: 'running',
      paused_for_approval: false,
      timeout_at: '2026-01-15T11:30:00.000Z',
    });
    expect(await books.getTaskState('t')).toMatchObject({ status: 'running' });
  });

  test('resumeTask: an answer from before the request is none', async () => {
    const { books, write, move } = await withTask();
    write(APPROVED, 'Of last week.');
    await books.pauseTask('t', 'send-mail');
    await expect(books.resumeTask('t')).rejects.toThrow('ApprovalPendingError');
    move(REQUEST, APPROVED);
    expect(await books.resumeTask('t')).toMatchObject({ status: 'running' });
  });

  test('resumeTask: the same id can be asked for twice', async () => {
    const { books, move, pass } = await withTask();
    for (let n = 0; n < 2; n += 1) {
      pass(60);
      await books.pauseTask('t', 'send-mail');
      await expect(books.resumeTask('t')).rejects.toThrow('ApprovalPendingError');
      move(REQUEST, APPROVED);
      await books.resumeTask('t');
    }
  });
});

describe('completeTask', () => {
  test('completeTask ends it with its metrics, and moves it to the history', async () => {
    const { books, pass, names } = await withTask();
    await books.incrementIteration('t', { context: 'Done.\n\nTASK_COMPLETE' });
    pass(930);
    const task = await books.completeTask('t', { apiCalls: 12, filesCreated: 1, filesModified: 3 });
    expect(task).toMatchObject({
      status: 'completed',
      exit_reason: 'completed',
      finished_at: '2026-01-15T10:15:30.000Z',
      evidence: { kind: 'promise' },
      metrics: {
        total_duration_seconds: 930,
        iterations: 1,
        api_calls: 12,
        files_created: 1,
        files_modified: 3,
      },
    });
    expect(names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 'history']);
    expect(names('.ralph_state/history')).toEqual(['t', 't.json']);
    expect(names('Needs_Action')).toEqual([]);
  });

  test('completeTask takes a reason of its own', async () => {
    const { books } = await withTask();
    expect(await books.completeTask('t', { exitReason: 'good enough' })).toMatchObject({
      exit_reason: 'good enough',
    });
  });

  test('completeTask leaves an older task of the same name its place in the history', async () => {
    const { books, pass, names } = await withTask();
    await books.completeTask('t');
    pass(60);
    await books.startTask({ prompt: 'Again.', taskId: 't' });
    await books.completeTask('t', { exitReason: 'second' });
    expect(await books.getTaskState('t')).toMatchObject({ exit_reason: 'second' });
    expect(names('.ralph_state/history')).toContain('t.2026-01-15T100000.000Z.json');
  });
});

describe('failTask, handleTimeout, handleMaxIterations', () => {
  test('failTask ends it as failed, with a note for a human', async () => {
    const { books, names, read, path } = await withTask();
    expect(await books.failTask('t', 'The mail server is gone.')).toMatchObject({
      status: 'failed',
      exit_reason: 'failed:reported',
      finished_at: OPENED,
    });
    expect(names('Needs_Action')).toEqual(['RALPH_FAILED_t_20260115T100000Z.md']);
    const note = read('Needs_Action/RALPH_FAILED_t_20260115T100000Z.md');
    expect(note).toContain('The mail server is gone.');
    expect(note).toContain(`ralph resume t --vault ${path('.').replace(/\/$/, '')}`);
  });

  test('failTask reports a note that cannot be written, after it has saved the state', async () => {
    const { books, write, state, events } = await withTask();
    write('Needs_Action', 'in the way');
    await expect(books.failTask('t', 'It broke.')).rejects.toThrow();
    expect(state('t').status).toBe('failed');
    expect(events.at(-1)).toMatchObject({ event: 'task_failed', note: null });
  });

  test('handleTimeout ends it as timeout, says so in a note, and keeps what was done', async () => {
    const { books, pass, names, state } = await withTask();
    await books.incrementIteration('t', { context: 'Half of it.' });
    await books.updateProgress('t', { stepsTotal: 2, stepsCompleted: 1, currentStep: 'Half' });
    pass(30 * 60);
    const task = await books.handleTimeout('t');
    expect(task).toMatchObject({
      status: 'timeout',
      exit_reason: 'timeout',
      finished_at: '2026-01-15T10:30:00.000Z',
      progress: { steps_completed: 1 },
    });
    expect(task.message).toContain('30m');
    expect(state('t')).toMatchObject({ status: 'timeout', iterations: [{ number: 1 }] });
    expect(names('Needs_Action')).toEqual(['RALPH_TIMEOUT_t_20260115T103000Z.md']);
  });

  test('handleTimeout done twice leaves one note and tells one event', async () => {
    const { books, events, names } = await withTask();
    const first = await books.handleTimeout('t');
    expect(await books.handleTimeout('t')).toEqual(first);
    expect(events.filter(({ event }) => event === 'task_timeout')).toHaveLength(1);
    expect(names('Needs_Action')).toHaveLength(1);
  });

  test('handleMaxIterations ends it as max_iterations_reached, with the last output in a note', async () => {
    const { books, names, read } = await withTask('t', { maxIterations: 1 });
    await books.incrementIteration('t', { context: 'I could not find the template.' });
    const task = await books.handleMaxIterations('t');
    expect(task).toMatchObject({ status: 'max_iterations_reached', exit_reason: 'max_iterations' });
    expect(task.message).toContain('1 iteration');
    expect(names('Needs_Action')).toEqual(['RALPH_EXHAUSTED_t_20260115T100000Z.md']);
    const note = read('Needs_Action/RALPH_EXHAUSTED_t_20260115T100000Z.md');
    expect(note).toContain('I could not find the template.');
    expect(note).toContain('--max-iterations +5');
  });
});

describe('the example of the contract', () => {
  test('runs as it is written: work, count, report, complete', async () => {
    const { books, write, move } = await openBooks();
    write('Needs_Action/task_simple.md', 'Do three things.');
    const { task_id } = await books.startTask({
      taskFile: 'Needs_Action/task_simple.md',
      maxIterations: 5,
      timeoutMinutes: 15,
    });
    let step = 0;
    while (!(await books.checkTaskComplete(task_id))) {
      step += 1;
      await books.incrementIteration(task_id, {
        action: `Step ${step}`,
        result: 'success',
        durationSeconds: 60,
      });
      await books.updateProgress(task_id, {
        stepsTotal: 3,
        stepsCompleted: step,
        currentStep: `Step ${step}`,
      });
      if (step === 3) move('Needs_Action/task_simple.md', 'Done/task_simple.md');
    }
    expect(await books.completeTask(task_id)).toMatchObject({
      metrics: { iterations: 3 },
      evidence: { kind: 'file-moved' },
    });
  });
});

test('reading creates nothing in a vault', async () => {
  const { books, names } = await openBooks();
  await books.getTaskState('t');
  await books.checkTaskComplete('t').catch(() => undefined);
  await books.startTask({ prompt: ' ' }).catch(() => undefined);
  expect(names('.')).toEqual([]);
});
