import { describe, expect, test } from 'vitest';
import type { Here } from '../../../src/core/task/driver.ts';
import { inShownOrder, showBroken, showTask } from '../../../src/core/task/shown-task.ts';
import type { IterationRecord, TaskState } from '../../../src/core/task/task-state.ts';
import { taskFilePrompt } from '../../../src/effects/vault/task-file.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const PLACES = {
  taskId: 'task-1',
  stateFile: '/s/task-1.json',
  logDir: '/s/task-1',
  archived: false,
  isOwn: true,
};
const LATER = '2026-01-05T10:01:00.000Z';

function here(isAlive: boolean, host = 'host-1'): Here {
  return { host, bootId: 'boot-1', pidNamespace: '', at: LATER, isAlive: () => isAlive };
}

function task(changes: Partial<TaskState> = {}): TaskState {
  return { ...newTask(), ...changes };
}

function shown(changes: Partial<TaskState>, place: Here = here(true)) {
  return showTask(task(changes), PLACES, place);
}

test('of a task file its own text is shown as what was asked', () => {
  const body = 'Answer the letter.\n\nBe kind.\n';
  const task_prompt = taskFilePrompt('letter.md', body, { expandsAtPaths: true });
  expect(shown({ task_prompt }).asked).toBe('Answer the letter. Be kind.');
  expect(shown({ task_prompt: 'Fix it.' }).asked).toBe('Fix it.');
});

describe('the shown state', () => {
  test.for(['pending', 'running', 'paused_awaiting_approval'] as const)(
    'of a task that says %s depends on its driver',
    (status) => {
      expect(shown({ status }).state).toBe(status);
      expect(shown({ status }, here(false)).state).toBe('interrupted');
    },
  );

  test('of a task without a driver is interrupted, unless it waits for an answer or belongs to the library', () => {
    expect(shown({ status: 'running', driver: null }).state).toBe('interrupted');
    const waiting = shown({ status: 'paused_awaiting_approval', driver: null });
    expect(waiting).toMatchObject({ state: 'paused_awaiting_approval', runBy: null });
    const kept = shown({ status: 'running', driver: null, kept_by: 'library' });
    expect(kept).toMatchObject({ state: 'running', runBy: null });
  });

  test.for(['paused', 'completed', 'failed', 'stopped'] as const)('of %s is that', (status) => {
    expect(shown({ status }, here(false)).state).toBe(status);
  });

  test.for(['paused', 'failed', 'stalled', 'stopped'] as const)(
    'of %s is interrupted where its driver died before it had told so',
    (status) => {
      const ended = { status, finished_at: newTask().started_at };
      expect(shown(ended, here(false)).state).toBe('interrupted');
      expect(shown(ended, here(true)).state).toBe(status);
      expect(shown({ ...ended, driver: null }).state).toBe(status);
    },
  );
});

describe('who runs it', () => {
  test('is a pid, with the host where that is another', () => {
    expect(shown({ status: 'running' }).runBy).toBe('pid 1');
    const driver = { ...DRIVER, pid: 7, host: 'other\u001b[1m', beat_at: LATER };
    expect(shown({ status: 'running', driver }, here(false)).runBy).toBe('pid 7 on other');
  });

  test('is nobody if the driver is dead', () => {
    expect(shown({ status: 'running' }, here(false)).runBy).toBeNull();
  });
});

const DRIVER = {
  pid: 1,
  pid_started_at: START,
  boot_id: 'boot-1',
  host: 'host-1',
  pid_namespace: '',
  run_id: 'r',
  beat_at: START,
};

describe('elapsed time', () => {
  test('continues while the task runs, and ends with it', () => {
    expect(shown({ status: 'running' }).elapsedMs).toBe(60_000);
    const finished_at = '2026-01-05T10:00:30.000Z';
    expect(shown({ status: 'completed', finished_at }).elapsedMs).toBe(30_000);
    expect(shown({ status: 'running' }, here(false)).elapsedMs).toBeLessThan(60_000);
  });

  test('is never negative, whatever the clock did', () => {
    expect(shown({ status: 'running', started_at: '2027-01-01T00:00:00.000Z' }).elapsedMs).toBe(0);
  });
});

describe('the last words', () => {
  const record = (output_preview: string): IterationRecord => ({
    number: 1,
    started_at: START,
    duration_ms: 1,
    outcome: 'answered',
    exit_code: 0,
    completed: false,
    near_miss: false,
    cost_usd: 0,
    input_tokens: 0,
    output_tokens: 0,
    turns: 1,
    tools: 0,
    refused: [],
    files_changed: null,
    output_preview,
  });
  const progress = { steps_total: 3, steps_completed: 1, current_step: 'Step two', percentage: 33 };

  test('are the step it reported, else the newest output, on one line', () => {
    const iterations = [record('first'), record('sec\nond\u001b[2J')];
    expect(shown({ iterations, progress }).last).toBe('Step two');
    expect(shown({ iterations }).last).toBe('sec ond');
    expect(shown({}).last).toBeNull();
  });
});

test('running ones come first, then open ones, then ended ones, the newest first', () => {
  const at = (second: number) => `2026-01-05T10:00:0${second}.000Z`;
  const each = (taskId: string, changes: Partial<TaskState>, archived = false) =>
    showTask(task({ task_id: taskId, ...changes }), { ...PLACES, taskId, archived }, here(true));
  const tasks = [
    each('done-1', { status: 'completed', finished_at: at(1) }, true),
    each('failed', { status: 'failed', finished_at: at(9) }),
    each('run-1', { status: 'running', started_at: at(1) }),
    showBroken('corrupt', { ...PLACES, taskId: 'broken' }),
    each('done-2', { status: 'completed', finished_at: at(2) }, true),
    each('run-2', { status: 'running', started_at: at(2) }),
  ];
  expect(inShownOrder(tasks).map(({ taskId }) => taskId)).toEqual([
    'run-2',
    'run-1',
    'failed',
    'broken',
    'done-2',
    'done-1',
  ]);
});
