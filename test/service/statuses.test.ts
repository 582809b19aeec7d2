import { describe, expect, test } from 'vitest';
import type { Status } from '../../src/core/task/task-state.ts';
import { FOREIGN_STATUSES } from '../../src/effects/state/foreign-state.ts';
import { openBooks } from '../helpers/books.ts';

// One test for each status that the contracts name, by their name and ours.

async function withTask(options: object = {}) {
  const stage = await openBooks();
  await stage.books.startTask({ prompt: 'Write it.', taskId: 't', ...options });
  const status = async () => (await stage.books.getTaskState('t'))?.status;
  return { ...stage, status };
}

describe('statuses of the service contracts', () => {
  test('initializing is pending: a task file that no iteration has begun', async () => {
    const { books, write } = await openBooks();
    write('Needs_Action/a.md', 'Write it.');
    expect(await books.startTask({ taskFile: 'Needs_Action/a.md' })).toMatchObject({
      status: 'pending',
    });
    expect(await books.incrementIteration('a', { context: '' })).toMatchObject({
      status: 'running',
    });
    expect(FOREIGN_STATUSES.initializing).toBe('pending');
  });

  test('in_progress is running', async () => {
    const { status } = await withTask();
    expect(await status()).toBe('running');
    expect(FOREIGN_STATUSES.in_progress).toBe('running');
  });

  test('paused and waiting_approval are paused_awaiting_approval', async () => {
    const { books, status } = await withTask();
    await books.pauseTask('t', 'send');
    expect(await status()).toBe('paused_awaiting_approval');
    expect(FOREIGN_STATUSES.waiting_approval).toBe('paused_awaiting_approval');
  });

  test.for<[Status, (books: Awaited<ReturnType<typeof withTask>>['books']) => Promise<unknown>]>([
    ['completed', (books) => books.completeTask('t')],
    ['failed', (books) => books.failTask('t', 'It broke.')],
    ['timeout', (books) => books.handleTimeout('t')],
    ['max_iterations_reached', (books) => books.handleMaxIterations('t')],
  ])('%s ends a task, whatever it did', async ([wanted, end]) => {
    const { books, status, journal } = await withTask();
    await end(books);
    expect(await status()).toBe(wanted);
    expect(journal().at(-1).status).toBe(wanted);
  });

  test('a paused task can be ended without an answer', async () => {
    const { books, state } = await withTask();
    await books.pauseTask('t', 'send');
    await books.failTask('t', 'Nobody answered.');
    expect(state('t')).toMatchObject({ status: 'failed', paused_for_approval: false });
  });
});
