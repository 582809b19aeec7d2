import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newTaskState } from '../../src/core/task/new-task.ts';
import { thisDriver } from '../../src/effects/lock/driver-identity.ts';
import * as ralph from '../../src/index.ts';
import { openBooks } from '../helpers/books.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// One test, or more, for each error of the contracts, named after it.

async function withTask(options: object = {}) {
  const stage = await openBooks();
  await stage.books.startTask({ prompt: 'Write it.', taskId: 't', ...options });
  return stage;
}

/** What an action is refused with. */
async function refusal(action: Promise<unknown>): Promise<Error> {
  const error = await action.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error('it was not refused');
  return error;
}

describe('TaskAlreadyActiveError', () => {
  test('TaskAlreadyActiveError: a second task from a prompt while one runs', async () => {
    const { books, names } = await openBooks();
    await books.startTask({ prompt: 'One.' });
    const before = names('.ralph_state');
    const error = await refusal(books.startTask({ prompt: 'Two.' }));
    expect(error).toBeInstanceOf(ralph.TaskAlreadyActiveError);
    expect(names('.ralph_state')).toEqual(before);
  });

  test('TaskAlreadyActiveError: the same task twice, also while it waits for an approval', async () => {
    const { books } = await withTask();
    const again = () => books.startTask({ prompt: 'Write it.', taskId: 't' });
    expect(await refusal(again())).toBeInstanceOf(ralph.TaskAlreadyActiveError);
    await books.pauseTask('t', 'send');
    expect(await refusal(again())).toBeInstanceOf(ralph.TaskAlreadyActiveError);
  });

  test('TaskAlreadyActiveError: not where the other has a name, is paused, has ended or is over', async () => {
    const { books, pass } = await withTask();
    await books.startTask({ prompt: 'Another.', taskId: 'named' });
    await books.completeTask('named');
    await books.pauseTask('t', 'send');
    const { task_id } = await books.startTask({ prompt: 'One.' });
    pass(30 * 60);
    await books.startTask({ prompt: 'Two.' });
    await books.failTask(task_id, 'It was forgotten.');
  });

  test('TaskAlreadyActiveError: a live loop has the task', async () => {
    const { books, write, state } = await openBooks();
    const at = new Date().toISOString();
    const driver = thisDriver(at, 'run-1');
    const task = newTaskState(
      {
        task_id: 't',
        task_prompt: 'Write it.',
        prompt_sha256: 'x',
        task_type: 'default',
        completion_promise: 'DONE',
        match: 'statement',
        watch_glob: [],
        watch_file: null,
        done_folder: '/Done',
        max_iterations: 5,
      },
      at,
      60_000,
    );
    write('.ralph_state/t.json', JSON.stringify({ ...task, driver, status: 'running' }));
    for (const action of [
      () => books.startTask({ prompt: 'Write it.', taskId: 't' }),
      () => books.incrementIteration('t', { context: '' }),
      () => books.completeTask('t'),
    ]) {
      expect(await refusal(action())).toBeInstanceOf(ralph.TaskAlreadyActiveError);
    }
    expect(state('t').driver).toEqual(driver);
    expect(await books.getTaskState('t')).toMatchObject({ status: 'running' });
  });
});

describe('InvalidPromptError', () => {
  test.for([
    ['none', {}],
    ['an empty one', { prompt: '' }],
    ['white space', { prompt: ' \n\t' }],
    ['one over 1 MB', { prompt: 'x'.repeat(1024 * 1024 + 1) }],
  ] as const)('InvalidPromptError: %s', async ([, options]) => {
    const { books, names } = await openBooks();
    expect(await refusal(books.startTask(options))).toBeInstanceOf(ralph.InvalidPromptError);
    expect(names('.')).toEqual([]);
  });

  test('InvalidPromptError: a task file without words', async () => {
    const { books, write } = await openBooks();
    write('Needs_Action/empty.md', '\n');
    const error = await refusal(books.startTask({ taskFile: 'Needs_Action/empty.md' }));
    expect(error).toBeInstanceOf(ralph.InvalidPromptError);
    expect(error).toMatchObject({ taskId: 'empty', exitCode: 2 });
  });
});

describe('TaskNotFoundError', () => {
  test('TaskNotFoundError: every method but getTaskState, for an unknown id', async () => {
    const { books } = await openBooks();
    for (const action of [
      books.checkTaskComplete('nobody'),
      books.incrementIteration('nobody', { context: '' }),
      books.updateProgress('nobody', { stepsTotal: 1, stepsCompleted: 0, currentStep: '' }),
      books.pauseTask('nobody', 'a'),
      books.resumeTask('nobody'),
      books.completeTask('nobody'),
      books.failTask('nobody', 'x'),
      books.handleTimeout('nobody'),
      books.handleMaxIterations('nobody'),
      books.checkTaskComplete('../../etc/passwd'),
    ]) {
      expect(await refusal(action)).toBeInstanceOf(ralph.TaskNotFoundError);
    }
  });

  test('TaskNotFoundError: there is no such task file', async () => {
    const { books, names } = await openBooks();
    const error = await refusal(books.startTask({ taskFile: 'Needs_Action/gone.md' }));
    expect(error).toBeInstanceOf(ralph.TaskNotFoundError);
    expect(error.message).toContain('Needs_Action/gone.md');
    expect(names('.')).toEqual([]);
  });
});

describe('InvalidStateError', () => {
  test('InvalidStateError: pausing a task that is not at work', async () => {
    const { books } = await withTask();
    await books.pauseTask('t', 'a');
    expect(await refusal(books.pauseTask('t', 'b'))).toBeInstanceOf(ralph.InvalidStateError);
    await books.failTask('t', 'x');
    expect(await refusal(books.pauseTask('t', 'b'))).toBeInstanceOf(ralph.InvalidStateError);
  });

  test('InvalidStateError: resuming a task that is not paused', async () => {
    const { books } = await withTask();
    expect(await refusal(books.resumeTask('t'))).toBeInstanceOf(ralph.InvalidStateError);
  });

  test('InvalidStateError: counting, reporting or ending a task that has ended', async () => {
    const { books } = await withTask();
    await books.completeTask('t');
    for (const action of [
      () => books.incrementIteration('t', { context: '' }),
      () => books.updateProgress('t', { stepsTotal: 1, stepsCompleted: 1, currentStep: '' }),
      () => books.completeTask('t'),
      () => books.failTask('t', 'x'),
      () => books.handleTimeout('t'),
      () => books.handleMaxIterations('t'),
    ]) {
      expect(await refusal(action())).toBeInstanceOf(ralph.InvalidStateError);
    }
    expect(await books.getTaskState('t')).toMatchObject({ status: 'completed' });
  });

  test('InvalidStateError: a task of the command that has no live driver is left to it', async () => {
    const { books, write, state } = await withTask();
    const { kept_by, ...own } = state('t');
    write('.ralph_state/t.json', JSON.stringify({ ...own, status: 'stopped' }));
    const error = await refusal(books.incrementIteration('t', { context: '' }));
    expect(error).toBeInstanceOf(ralph.InvalidStateError);
    expect(error.message).toContain('ralph resume t');
  });
});

describe('ApprovalPendingError', () => {
  test('ApprovalPendingError: nobody has answered yet', async () => {
    const { books, state } = await withTask();
    await books.pauseTask('t', 'send-mail');
    const error = await refusal(books.resumeTask('t'));
    expect(error).toBeInstanceOf(ralph.ApprovalPendingError);
    expect(error.message).toContain('Pending_Approval/APPROVAL_t_send-mail.md');
    expect(error).toMatchObject({ exitCode: 6 });
    expect(state('t').status).toBe('paused_awaiting_approval');
  });

  test('ApprovalPendingError: a person has rejected it, and the reason is told', async () => {
    const { books, write } = await withTask();
    await books.pauseTask('t', 'send-mail');
    write('Rejected/APPROVAL_t_send-mail.md', '---\nreason: "not to Anna"\n---\n');
    const error = await refusal(books.resumeTask('t'));
    expect(error).toBeInstanceOf(ralph.ApprovalPendingError);
    expect(error.message).toContain('rejected (not to Anna)');
  });
});

describe('MaxIterationsExceededError and MaxIterationsError', () => {
  test('MaxIterationsExceededError: one iteration more than there are', async () => {
    const { books, state } = await withTask({ maxIterations: 1 });
    await books.incrementIteration('t', { context: 'x' });
    const error = await refusal(books.incrementIteration('t', { context: 'y' }));
    expect(error).toBeInstanceOf(ralph.MaxIterationsExceededError);
    expect(error).toMatchObject({ exitCode: 3 });
    expect(state('t')).toMatchObject({ current_iteration: 1, status: 'running' });
  });

  test('MaxIterationsError is its other name; recovery is by hand', () => {
    expect(ralph.MaxIterationsError).toBe(ralph.MaxIterationsExceededError);
    expect(new ralph.MaxIterationsError('task_proposal', 10).toJSON()).toEqual({
      error: {
        type: 'MaxIterationsExceededError',
        message: expect.stringContaining('10'),
        task_id: 'task_proposal',
        recoverable: false,
        action_required: 'manual_review',
      },
    });
  });
});

describe('TimeoutError', () => {
  test('TimeoutError: an iteration that began after the time; what was done before is kept', async () => {
    const { books, pass, state } = await withTask();
    await books.incrementIteration('t', { context: 'in time' });
    pass(31 * 60);
    await books.incrementIteration('t', { context: 'began in time' });
    for (const report of [
      { context: 'too late' },
      { action: 'x', result: 'success', durationSeconds: 5 },
    ]) {
      const error = await refusal(books.incrementIteration('t', report));
      expect(error).toBeInstanceOf(ralph.TimeoutError);
      expect(error).toMatchObject({ exitCode: 4, actionRequired: 'notify_user' });
    }
    expect(state('t')).toMatchObject({ current_iteration: 2 });
  });
});

describe('StateCorruptedError', () => {
  test('StateCorruptedError: a state that is none is not touched by looking at it', async () => {
    const { books, write, read } = await openBooks();
    write('.ralph_state/t.json', '{"task_id": "t", "sta');
    const error = await refusal(books.getTaskState('t'));
    expect(error).toBeInstanceOf(ralph.StateCorruptedError);
    expect(error).toMatchObject({ recoverable: true, actionRequired: 'recreate_state' });
    expect(read('.ralph_state/t.json')).toBe('{"task_id": "t", "sta');
  });

  test('StateCorruptedError: startTask recreates the state, and keeps the broken one aside', async () => {
    const { books, write, names } = await openBooks();
    write('.ralph_state/t.json', 'no JSON');
    expect(await books.startTask({ prompt: 'Write it.', taskId: 't' })).toMatchObject({
      status: 'running',
    });
    expect(names('.ralph_state').filter((name) => name.includes('corrupt'))).toHaveLength(1);
  });
});

describe('the errors of the system', () => {
  test('ValueError and RuntimeError of the contract are the classes above', async () => {
    const { books } = await withTask({ maxIterations: 1 });
    expect((await refusal(books.checkTaskComplete('nobody'))).name).toBe('TaskNotFoundError');
    await books.incrementIteration('t', { context: 'x' });
    const error = await refusal(books.incrementIteration('t', { context: 'x' }));
    expect(error.name).toBe('MaxIterationsExceededError');
  });

  test('IOError: a state that cannot be created or read rejects with the system’s own', async () => {
    const { books, write, names } = await openBooks();
    write('.ralph_state', 'a file in the way');
    const error = await refusal(books.startTask({ prompt: 'Write it.' }));
    expect(error).toHaveProperty('code', expect.stringMatching(/^E(NOTDIR|EXIST)$/));
    expect(names('.')).toEqual(['.ralph_state']);
  });

  test('IOError: a state that is there and cannot be opened', async () => {
    const { books, path, vault } = await withTask();
    rmSync(path('.ralph_state/t.json'));
    symlinkSync('t.json', join(vault, '.ralph_state/t.json'));
    expect(await refusal(books.getTaskState('t'))).toHaveProperty('code', 'ELOOP');
  });

  test('a state of a newer ralph is neither read nor moved', async () => {
    const { books, write, read } = await openBooks();
    const text = '{"schema_version": 99, "task_id": "t", "status": "running"}';
    write('.ralph_state/t.json', text);
    for (const action of [books.getTaskState('t'), books.startTask({ prompt: 'x', taskId: 't' })]) {
      expect(await refusal(action)).toBeInstanceOf(ralph.StateTooNewError);
    }
    expect(read('.ralph_state/t.json')).toBe(text);
  });

  test('a state that gives itself another id is written where it was found', async () => {
    const { books, write, state, names } = await withTask();
    write('.ralph_state/t.json', JSON.stringify({ ...state('t'), task_id: '../x' }));
    await books.incrementIteration('t', { context: 'x' });
    expect(state('t')).toMatchObject({ task_id: 't', current_iteration: 1 });
    expect(names('.')).not.toContain('x.json');
  });

  test('a state folder that leads out of the vault is not followed', async () => {
    const { books, vault, names } = await openBooks();
    symlinkSync(await tempFolder(), join(vault, '.ralph_state'));
    expect(await refusal(books.startTask({ prompt: 'x' }))).toBeInstanceOf(ralph.UsageError);
    expect(names('.ralph_state')).toEqual([]);
  });
});

describe('the error response', () => {
  test.for([
    new ralph.TaskAlreadyActiveError('t', 'pid 1'),
    new ralph.InvalidPromptError('t', 'is empty'),
    new ralph.TaskNotFoundError('t', '/vault/.ralph_state'),
    new ralph.InvalidStateError('t', 'failed', 'it has ended already'),
    new ralph.ApprovalPendingError('t', 'wait'),
    new ralph.MaxIterationsExceededError('t', 10),
    new ralph.TimeoutError('t', '2026-01-15T10:30:00.000Z'),
    new ralph.StateCorruptedError('t', '/t.json', 'it is torn'),
  ])('of $name is data for another program', (error) => {
    const json = JSON.parse(JSON.stringify(error));
    expect(json).toEqual({
      error: {
        type: error.name,
        message: expect.stringMatching(/^[a-z].*\.(\nto [^:]+: .*)*$/),
        task_id: 't',
        recoverable: error.recoverable,
        action_required: expect.stringMatching(/^[a-z]+_[a-z]+(_[a-z]+)?$/),
      },
    });
    expect(error.message).toBe(`${error.name}: ${json.error.message}`);
    expect(error.constructor.name).toBe(error.name);
  });
});
