import { endingRow, type StatusAndReason } from '../task/endings.ts';
import { msBetween, type TaskState } from '../task/task-state.ts';
import type { EndingBody, EndingFields } from './events.ts';
import type { Ending, LoopState, StopCause, Transition } from './loop-state.ts';

/** How a task ended, as the machine says it. */
export type HowItEnded = StatusAndReason & Partial<Pick<Ending, 'evidence' | 'error' | 'until'>>;

function endingOf(how: Partial<Ending> & Pick<Ending, 'status' | 'exitReason'>): Ending {
  const { event, note } = endingRow(how.status, how.exitReason);
  return { evidence: null, error: null, until: null, ...how, event, note: note?.word ?? null };
}

/** Derives how a task ended from its state. Returns null if it has not ended. */
function endingOfTask({ status, exit_reason, evidence, errors }: TaskState): Ending | null {
  if (status === 'pending' || status === 'running') return null;
  const error = status === 'failed' ? (errors.at(-1)?.message ?? null) : null;
  return endingOf({ status, exitReason: exit_reason ?? status, evidence, error });
}

/**
 * Announces a task's ending again, because its driver died before announcing it. Throws if the task has
 * not ended.
 */
export function tellEndAgain(state: LoopState): Transition {
  const ending = endingOfTask(state.task);
  if (ending === null) throw new Error('a task that has not ended has no end to be told');
  const task = { ...state.task, driver: untilTold(state.task, ending) };
  return { state: { ...state, task }, actions: [{ kind: 'stop', ending }] };
}

/**
 * The task keeps its driver until the ending is announced. A completed task has none: its memory file in
 * the history shows that the ending must still be announced.
 */
function untilTold({ driver }: TaskState, { status }: Ending): TaskState['driver'] {
  return status === 'completed' ? null : driver;
}

/** Ends the loop: first the state is saved, then the ending is announced. */
export function end(state: LoopState, at: string, how: HowItEnded): Transition {
  const { task } = state;
  const ending = endingOf(how);
  return {
    state: {
      ...state,
      step: { kind: 'ended' },
      task: {
        ...task,
        status: ending.status,
        exit_reason: ending.exitReason,
        evidence: ending.evidence,
        finished_at: at,
        wait: null,
        driver: untilTold(task, ending),
        metrics: {
          ...task.metrics,
          total_duration_seconds: Math.max(0, msBetween(task.started_at, at)) / 1000,
        },
      },
    },
    actions: [{ kind: 'stop', ending }],
  };
}

/** Ends the loop because a person asked for it; the task can be resumed. */
export function endStopped(state: LoopState, at: string, by: StopCause): Transition {
  return end(state, at, {
    status: 'stopped',
    exitReason: `stopped:${by}`,
  });
}

/** The event that announces how a task ended. */
export function endingBody(
  ending: Ending,
  maxIterations: number,
  fields: EndingFields,
): EndingBody {
  switch (ending.event) {
    case 'task_failed':
      return { event: ending.event, error: ending.error ?? '', ...fields };
    case 'max_iterations_reached':
      return { event: ending.event, max_iterations: maxIterations, ...fields };
    case 'task_usage_limited':
      return { event: ending.event, until: ending.until, ...fields };
    case 'task_paused':
      return { event: ending.event, final: true, ...fields };
    default:
      return { event: ending.event, ...fields };
  }
}
