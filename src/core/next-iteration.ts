import { NO_USAGE } from './attempt.ts';
import { end, endStopped } from './ending.ts';
import type { LoopState, Transition } from './machine.ts';
import { NO_TROUBLE } from './machine.ts';
import type { Policy } from './policy.ts';
import { buildAddition } from './prompt.ts';
import { laterBy, msBetween, type Wait } from './task-state.ts';

/** Starts the agent, unless the time for the whole task is over. */
export function startAttempt(
  state: LoopState,
  iteration: number,
  attempt: number,
  at: string,
  policy: Policy,
): Transition {
  if (state.stopRequested !== null) return endStopped(state, at, state.stopRequested);
  if (msBetween(at, state.task.timeout_at) <= 0) return endByTime(state, at);
  const task = { ...state.task, current_iteration: iteration, attempt };
  return {
    state: { ...state, task, step: { kind: 'working' } },
    actions: [
      {
        kind: 'publish',
        body: {
          event: 'iteration_started',
          iteration,
          max_iterations: task.max_iterations,
          attempt,
        },
      },
      {
        kind: 'start-agent',
        iteration,
        attempt,
        addition: buildAddition(policy, state.carry, iteration),
        taskDeadlineAt: task.timeout_at,
      },
    ],
  };
}

/** Goes on after an iteration that did not complete the task, or ends where a limit is reached. */
export function goOn(state: LoopState, at: string, policy: Policy): Transition {
  const { task } = state;
  if (msBetween(at, task.timeout_at) <= 0) return endByTime(state, at);
  if (task.current_iteration >= task.max_iterations) {
    return end(state, at, {
      status: 'max_iterations_reached',
      exitReason: 'max_iterations',
      event: 'max_iterations_reached',
      evidence: null,
      note: 'EXHAUSTED',
      error: null,
      until: null,
    });
  }
  const rested: LoopState = {
    ...state,
    attemptsUsage: NO_USAGE,
    trouble: { ...NO_TROUBLE, heldClaims: state.trouble.heldClaims },
  };
  if (policy.delayMs === 0) return startAttempt(rested, task.current_iteration + 1, 1, at, policy);
  // A pause that outlasts the task is not waited for: nothing could follow it.
  if (msBetween(at, task.timeout_at) <= policy.delayMs) return endByTime(rested, at);
  return waitUntil(rested, at, { kind: 'delay', until: laterBy(at, policy.delayMs) });
}

/** Holds the loop until an instant. */
export function waitUntil(state: LoopState, at: string, wait: Wait): Transition {
  if (state.stopRequested !== null) return endStopped(state, at, state.stopRequested);
  return {
    state: { ...state, step: { kind: 'waiting' }, task: { ...state.task, wait } },
    actions: [{ kind: 'wait', until: wait.until }],
  };
}

/** Ends the task because its time is over. */
export function endByTime(state: LoopState, at: string): Transition {
  return end(state, at, {
    status: 'timeout',
    exitReason: 'timeout',
    event: 'task_timeout',
    evidence: null,
    note: 'TIMEOUT',
    error: null,
    until: null,
  });
}
