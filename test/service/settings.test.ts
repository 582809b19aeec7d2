import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RalphService, UsageError } from '../../src/index.ts';
import { openBooks } from '../helpers/books.ts';

// One test, or more, for each setting and variable of the service contracts, named after it.

const start = async (options: object, env: Record<string, string> = {}) => {
  const stage = await openBooks({ env });
  return { ...stage, task: await stage.books.startTask({ prompt: 'Write it.', ...options }) };
};

describe('settings of a task', () => {
  test('max_iterations: 10, or what is asked for', async () => {
    expect((await start({})).task.max_iterations).toBe(10);
    expect((await start({ maxIterations: 3 })).task.max_iterations).toBe(3);
  });

  test('timeout_minutes: 30, or what is asked for', async () => {
    expect((await start({})).task.timeout_at).toBe('2026-01-15T10:30:00.000Z');
    expect((await start({ timeoutMinutes: 0.5 })).task.timeout_at).toBe('2026-01-15T10:00:30.000Z');
  });

  test('completion_promise: TASK_COMPLETE, or what is asked for, without its tags', async () => {
    expect((await start({})).task.completion_promise).toBe('TASK_COMPLETE');
    const { task } = await start({ completionPromise: '<promise>ALL SENT</promise>' });
    expect(task.completion_promise).toBe('ALL SENT');
  });

  test('completion_strategy promise: the words count', async () => {
    const { books, task } = await start({ completionStrategy: 'promise', taskId: 't' });
    expect(task).toMatchObject({ completion_promise: 'TASK_COMPLETE', watch_file: null });
    await books.incrementIteration('t', { context: 'TASK_COMPLETE' });
    expect(await books.checkTaskComplete('t')).toBe(true);
  });

  test('completion_strategy file_movement: a file counts, words do not', async () => {
    const { books, task, write } = await start({
      completionStrategy: 'file_movement',
      taskId: 't',
    });
    expect(task).toMatchObject({ completion_promise: null, watch_file: 't.md' });
    await books.incrementIteration('t', { context: 'TASK_COMPLETE' });
    expect(await books.checkTaskComplete('t')).toBe(false);
    write('Done/t.md', 'The result.');
    expect(await books.checkTaskComplete('t')).toBe(true);
  });

  test('task_type: any but a payment, which is never looped', async () => {
    expect((await start({ taskType: 'weekly_audit' })).task.task_type).toBe('weekly_audit');
    await expect(start({ taskType: 'Payment-Run' })).rejects.toThrow(
      'ralph never automates payments',
    );
  });

  test('every bad option is told, all at once', async () => {
    const { books } = await openBooks();
    const bad = books.startTask({
      prompt: 'x',
      taskFile: 'y',
      taskId: '../t',
      completionPromise: ' ',
      maxIterations: 0,
      timeoutMinutes: -1,
    });
    const error = await bad.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toHaveProperty('problems.length', 5);
  });
});

describe('places', () => {
  test('state_dir: where the states lie', async () => {
    const { books, names } = await openBooks();
    await books.startTask({ prompt: 'x', taskId: 't' });
    expect(names('.ralph_state')).toContain('t.json');
    const stage = await openBooks();
    await stage.service({ stateDir: stage.path('Ralph_State') }).startTask({ prompt: 'x' });
    expect(stage.names('Ralph_State')).toHaveLength(4);
    expect(stage.names('.ralph_state')).toEqual([]);
  });

  test('done_folder: where files come to, looked up in the vault', async () => {
    const { service, write, move } = await openBooks();
    const books = service({ doneFolder: 'Finished' });
    write('Needs_Action/a.md', 'Write it.');
    await books.startTask({ taskFile: 'Needs_Action/a.md' });
    move('Needs_Action/a.md', 'Finished/a.md');
    expect(await books.checkTaskComplete('a')).toBe(true);
  });
});

describe('environment variables', () => {
  test('RALPH_MAX_ITERATIONS is the default of max_iterations', async () => {
    const env = { RALPH_MAX_ITERATIONS: '7' };
    expect((await start({}, env)).task.max_iterations).toBe(7);
    expect((await start({ maxIterations: 2 }, env)).task.max_iterations).toBe(2);
  });

  test('RALPH_MAX_ITERATIONS inside a loop speaks of that loop', async () => {
    const env = { RALPH_MAX_ITERATIONS: '7', RALPH_RUN_ID: 'run-1' };
    expect((await start({}, env)).task.max_iterations).toBe(10);
  });

  test('RALPH_TIMEOUT_MINUTES is the default of timeout_minutes; RALPH_TIMEOUT comes before it', async () => {
    const env = { RALPH_TIMEOUT_MINUTES: '5' };
    expect((await start({}, env)).task.timeout_at).toBe('2026-01-15T10:05:00.000Z');
    const both = { ...env, RALPH_TIMEOUT: '1h30m' };
    expect((await start({}, both)).task.timeout_at).toBe('2026-01-15T11:30:00.000Z');
  });

  test('RALPH_STATE_DIR is where the states lie', async () => {
    const { vault, service, names } = await openBooks();
    const env = { RALPH_STATE_DIR: join(vault, 'states') };
    await service({ env }).startTask({ prompt: 'x', taskId: 't' });
    expect(names('states')).toContain('t.json');
  });

  test('RALPH_DONE_FOLDER is where files come to', async () => {
    const { vault, service } = await openBooks();
    const env = { RALPH_DONE_FOLDER: join(vault, 'Finished') };
    const task = await service({ env }).startTask({ prompt: 'x' });
    expect(task.done_folder).toBe('Finished');
  });

  test('a variable without a meaning is told, with what it expects', () => {
    const env = { RALPH_MAX_ITERATIONS: 'many', RALPH_TIMEOUT_MINUTES: 'soon' };
    expect(() => new RalphService({ env })).toThrow(
      /RALPH_MAX_ITERATIONS expects .*'many'[\s\S]*RALPH_TIMEOUT_MINUTES expects .*'soon'/,
    );
  });
});
