import type { Ending, LoopState, Transition } from './machine.ts';
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
