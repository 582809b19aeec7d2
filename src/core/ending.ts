import type { Ending, LoopState, StopCause, Transition } from './machine.ts';
import { msBetween } from './task-state.ts';

/** Ends the loop: the state says so first, then the world is told. */
export function end(state: LoopState, at: string, ending: Ending): Transition {
  const { task } = state;
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
        driver: null,
        metrics: {
          ...task.metrics,
          total_duration_seconds: Math.max(0, msBetween(task.started_at, at)) / 1000,
        },
      },
    },
    actions: [{ kind: 'stop', ending }],
  };
}

/** Ends the loop because somebody asked for it; the task can be taken up again. */
export function endStopped(state: LoopState, at: string, by: StopCause): Transition {
  return end(state, at, {
    status: 'stopped',
    exitReason: `stopped:${by}`,
    event: 'task_stopped',
    evidence: null,
    note: null,
    error: null,
    until: null,
  });
}
