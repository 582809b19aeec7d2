import { describe, expect, test } from 'vitest';
import {
  lastWorkAt,
  laterBy,
  type TaskState,
  type Wait,
} from '../../../src/core/task/task-state.ts';
import { newTask, START } from '../../helpers/new-task.ts';

/** A running task that was saved last at 60 s, its driver's beat so much later. */
function task(beatMs: number | null, changes: Partial<TaskState> = {}): TaskState {
  const fresh = newTask();
  const { driver } = fresh;
  return {
    ...fresh,
    status: 'running',
    updated_at: laterBy(START, 60_000),
    driver: beatMs === null ? null : driver && { ...driver, beat_at: laterBy(START, beatMs) },
    ...changes,
  };
}

function waiting(kind: Wait['kind']): Partial<TaskState> {
  return { wait: { kind, until: laterBy(START, 3_600_000) } };
}

describe('until when a task was worked on', () => {
  test.for<[name: string, task: TaskState, atMs: number]>([
    ['to its last beat while the agent worked', task(75_000), 75_000],
    ['to its last save where no beat came after it', task(45_000), 60_000],
    ['to its last save where they are one', task(60_000), 60_000],
    ['to its last save where nobody is known to have driven it', task(null), 60_000],
    ['to its last beat in a delay, which is its own time', task(75_000, waiting('delay')), 75_000],
    ['to the beginning of a back-off', task(75_000, waiting('back-off')), 60_000],
    ['to the beginning of a wait in an outage', task(75_000, waiting('outage')), 60_000],
    ['to the beginning of a wait for the agent', task(75_000, waiting('recheck')), 60_000],
    ['to the beginning of a wait for a limit', task(75_000, waiting('usage-limit')), 60_000],
    ['to its end', task(null, { status: 'stopped', finished_at: laterBy(START, 50_000) }), 50_000],
    [
      'to its end, though its files were written later',
      task(90_000, { status: 'paused', finished_at: laterBy(START, 50_000) }),
      50_000,
    ],
  ])('%s', ([, state, atMs]) => {
    expect(lastWorkAt(state)).toBe(laterBy(START, atMs));
  });
});
