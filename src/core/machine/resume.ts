import { addUsage } from '../agent/attempt.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, NO_BREAKER, withError } from '../task/task-state.ts';
import { askAgain } from './approval.ts';
import { questionLost } from './asking-back.ts';
import { end, tellEndAgain } from './ending.ts';
import { follow, judge, nextAfter } from './judge.ts';
import {
  type LoopEvent,
  type LoopState,
  NO_STREAKS,
  NO_TROUBLE,
  type Transition,
} from './loop-state.ts';
import { endBudget, startNext } from './next-iteration.ts';

/*
 * Where a task resumes. The action that was running when the driver died is repeated. An attempt that was
 * running was never counted, so its iteration is tried again.
 *
 *   looking, verifying, following, waiting ──► the same action again
 *   working, ended within an iteration ──────► a further attempt of the same iteration; the cost of the
 *                                              lost one is counted, and five in a row end the task
 *   asking-back ─────────────────────────────► the first answer is judged; the question is repeated
 *                                              only if the lost one cost nothing
 *   ended after an iteration ────────────────► the next iteration
 *   ended, but not announced ────────────────► announced, and nothing else
 */

type Resumed = Extract<LoopEvent, { kind: 'resumed' }>;

/** Resumes a task whose driver ended or died. */
export function resumed(state: LoopState, event: Resumed, policy: Policy): Transition {
  if (state.task.status === 'completed' || event.tellsOnly === true) return tellEndAgain(state);
  const running = withLost(takenUp(state, event, policy), event);
  const next = endInterrupted(running, event.at) ?? goOnFrom(running, event, policy);
  const { current_iteration: iteration, max_iterations } = running.task;
  const body = { event: 'task_resumed' as const, iteration, max_iterations };
  return { ...next, actions: [{ kind: 'publish', body }, ...next.actions] };
}

/** The state of a task that runs again: its ending is cleared, its usage is kept. */
function takenUp(state: LoopState, { at, timeLeftMs }: Resumed, policy: Policy): LoopState {
  const { task } = state;
  const isStalled = task.status === 'stalled';
  const hadEnded = state.step.kind === 'ended';
  const trouble = hadEnded
    ? { ...NO_TROUBLE, droppedFlags: state.trouble.droppedFlags }
    : { ...NO_TROUBLE, ...state.trouble };
  return {
    ...state,
    // The limit for waiting starts again, since nothing was tried while no driver ran.
    trouble: { ...trouble, outageSince: null, limitedSince: null },
    streaks: isStalled ? NO_STREAKS : state.streaks,
    task: {
      ...task,
      status: 'running',
      exit_reason: null,
      evidence: null,
      finished_at: null,
      max_iterations: policy.maxIterations,
      timeout_at: laterBy(at, timeLeftMs),
      breaker: isStalled ? NO_BREAKER : task.breaker,
    },
  };
}

/** Adds the cost of the attempt that was running when the driver died: it has to be paid, too. */
function withLost(state: LoopState, { at, lost }: Resumed): LoopState {
  if (lost === null) return state;
  const { task, trouble } = state;
  return {
    ...state,
    attemptsUsage: addUsage(state.attemptsUsage, lost),
    trouble: { ...trouble, interrupted: trouble.interrupted + 1 },
    task: withError(
      { ...task, usage: addUsage(task.usage, lost) },
      {
        at,
        iteration: task.current_iteration,
        attempt: task.attempt,
        kind: 'interrupted',
        message: 'ralph was killed while the agent worked; what that had cost by then is counted',
      },
    ),
  };
}

/** This many in a row are no accident: whatever kills ralph would do so for ever. */
const INTERRUPTED_AT_MOST = 5;

function endInterrupted(state: LoopState, at: string): Transition | null {
  if (state.trouble.interrupted < INTERRUPTED_AT_MOST) return null;
  const { current_iteration } = state.task;
  const error = `ralph was killed ${state.trouble.interrupted} times in a row in iteration ${current_iteration}`;
  return end(state, at, { status: 'stalled', exitReason: 'interrupted', error });
}

function goOnFrom(state: LoopState, { at, lost }: Resumed, policy: Policy): Transition {
  const { step, task } = state;
  if (step.kind === 'asking-back') return questionLost(state, step.answer, lost, at, policy);
  if (step.kind === 'looking') return { state, actions: [{ kind: 'look' }] };
  if (step.kind === 'verifying') {
    return policy.verify === null
      ? judge(state, step.answer, step.sightings, null, at, policy)
      : { state, actions: [{ kind: 'verify', command: policy.verify }] };
  }
  if (step.kind === 'following') {
    return policy.after === null
      ? nextAfter(state, step, at, policy)
      : follow(state, step, policy.after);
  }
  if (step.kind === 'waiting' && task.wait !== null) {
    return { state, actions: [{ kind: 'wait', until: task.wait.until }] };
  }
  const asked = askAgain(state, at, policy);
  if (asked !== null) return asked;
  const rested: LoopState = { ...state, task: { ...task, wait: null } };
  return endBudget(rested, at, policy) ?? startNext(rested, at, policy);
}
