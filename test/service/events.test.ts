import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { OPENED, openBooks } from '../helpers/books.ts';

// One test for each event of the contracts, named after it. What a listener is told is what the
// journal holds.

async function withTask(options: object = {}) {
  const stage = await openBooks();
  await stage.books.startTask({ prompt: 'Write it.', taskId: 't', ...options });
  /** The newest event, told and written alike. */
  const newest = () => {
    expect(stage.journal()).toEqual(stage.events);
    return stage.journal().at(-1);
  };
  return { ...stage, newest };
}

test('an event after a torn line in the journal is a line of its own', async () => {
  const { books, events, read, write } = await withTask();
  const whole = read('.ralph_state/events.jsonl');
  write('.ralph_state/events.jsonl', `${whole}{"event":"task_ite`);
  await books.incrementIteration('t', { context: 'Half of it.' });
  const lines = read('.ralph_state/events.jsonl').split('\n');
  expect(lines.slice(1)).toEqual(['{"event":"task_ite', JSON.stringify(events.at(-1)), '']);
});

describe('events', () => {
  test('task_started: a task begins; with its prompt', async () => {
    const { newest } = await withTask();
    expect(newest()).toEqual({
      event: 'task_started',
      at: OPENED,
      task_id: 't',
      prompt: 'Write it.',
      max_iterations: 10,
    });
  });

  test('task_iterated: an iteration was counted; with its number', async () => {
    const { books, newest } = await withTask();
    await books.incrementIteration('t', { context: 'Half of it.' });
    expect(newest()).toMatchObject({
      event: 'task_iterated',
      task_id: 't',
      iteration: 1,
      outcome: 'answered',
      completed: false,
      output_preview: 'Half of it.',
    });
  });

  test('task_paused: it waits for an approval; with its id', async () => {
    const { books, newest } = await withTask();
    await books.pauseTask('t', 'send-mail', 'Send the mail to Anna');
    expect(newest()).toEqual({
      event: 'task_paused',
      at: OPENED,
      task_id: 't',
      approval_id: 'send-mail',
      what: 'Send the mail to Anna',
      file: 'APPROVAL_t_send-mail.md',
    });
  });

  test('task_resumed: the approval has come', async () => {
    const { books, newest, move } = await withTask();
    await books.pauseTask('t', 'send-mail');
    move('Pending_Approval/APPROVAL_t_send-mail.md', 'Approved/APPROVAL_t_send-mail.md');
    await books.resumeTask('t');
    expect(newest()).toMatchObject({
      event: 'task_resumed',
      task_id: 't',
      approval_id: 'send-mail',
      decision: 'approved',
      file: 'Approved/APPROVAL_t_send-mail.md',
    });
  });

  test('task_completed: it is finished; with the iterations it used and all of an ending', async () => {
    const { books, newest, path } = await withTask();
    await books.incrementIteration('t', { context: 'All of it.\n\nTASK_COMPLETE' });
    await books.completeTask('t');
    expect(newest()).toEqual({
      event: 'task_completed',
      at: OPENED,
      task_id: 't',
      status: 'completed',
      exit_reason: 'completed',
      exit_code: 0,
      iterations_used: 1,
      elapsed_seconds: 0,
      usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
      evidence: { kind: 'promise', detail: 'TASK_COMPLETE' },
      final_message: 'All of it.\n\nTASK_COMPLETE',
      note: null,
      state_file: path('.ralph_state/history/t.json'),
      log_dir: path('.ralph_state/history/t'),
      changes: null,
      git: { snapshots: null, work_tree: null },
    });
  });

  test('task_failed: it went wrong; with the error', async () => {
    const { books, newest, path } = await withTask();
    await books.failTask('t', 'The mail server\nis gone.');
    expect(newest()).toMatchObject({
      event: 'task_failed',
      error: 'The mail server is gone.',
      exit_code: 1,
      note: path('Needs_Action/RALPH_FAILED_t_20260115T100000Z.md'),
      state_file: path('.ralph_state/t.json'),
    });
  });

  test('max_iterations_reached: the limit was hit; with the limit', async () => {
    const { books, newest } = await withTask({ maxIterations: 4 });
    await books.handleMaxIterations('t');
    expect(newest()).toMatchObject({
      event: 'max_iterations_reached',
      max_iterations: 4,
      exit_code: 3,
    });
  });

  test('task_timeout: the time is over', async () => {
    const { books, newest } = await withTask();
    await books.handleTimeout('t');
    expect(newest()).toMatchObject({ event: 'task_timeout', exit_code: 4 });
  });

  test('a listener that throws does not harm the stored state', async () => {
    const { service, state } = await withTask();
    const onEvent = () => {
      throw new Error('of the listener');
    };
    const books = service({ onEvent });
    await expect(books.incrementIteration('t', { context: 'x' })).rejects.toThrow('listener');
    expect(state('t').current_iteration).toBe(1);
  });

  test('an async listener that rejects does not end the program, and is not waited for', async () => {
    const { service, state } = await withTask();
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const books = service({
      async onEvent() {
        // It may call the books itself: nobody waits for the other.
        await books.getTaskState('t');
        throw new Error('of the listener');
      },
    });
    await books.incrementIteration('t', { context: 'x' });
    await books.getTaskState('t');
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
    expect(state('t').current_iteration).toBe(1);
  });
});
