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
 * Where a task is taken up. What was asked for before the driver died is asked for again; an attempt
 * that nobody saw the end of was never counted, so its iteration is tried once more.
 *
 *   looking, verifying, following, waiting ──► the same again
 *   working, ended within an iteration ──────► the same iteration, a further attempt; what the lost
 *                                              one has cost is counted, and five in a row are the end
 *   asking-back ─────────────────────────────► the answer is judged as it stood, or asked about again
 *                                              where the lost question had cost nothing
 *   ended after an iteration ────────────────► the next iteration
 *   ended, but nobody was told ──────────────► told, and nothing else
 */

type Resumed = Extract<LoopEvent, { kind: 'resumed' }>;

/** Goes on with a task whose driver ended or died. */
export function resumed(state: LoopState, event: Resumed, policy: Policy): Transition {
  if (state.task.status === 'completed' || event.tellsOnly === true) return tellEndAgain(state);
  const running = withLost(takenUp(state, event, policy), event);
  const next = endInterrupted(running, event.at) ?? goOnFrom(running, event, policy);
  const { current_iteration: iteration, max_iterations } = running.task;
  const body = { event: 'task_resumed' as const, iteration, max_iterations };
  return { ...next, actions: [{ kind: 'publish', body }, ...next.actions] };
}

/** The state of a task that runs again: what ended it is forgotten, what it has used is not. */
function takenUp(state: LoopState, { at, timeLeftMs }: Resumed, policy: Policy): LoopState {
  const { task } = state;
  const isStalled = task.status === 'stalled';
  const hadEnded = state.step.kind === 'ended';
  const trouble = hadEnded
    ? { ...NO_TROUBLE, droppedFlags: state.trouble.droppedFlags }
    : { ...NO_TROUBLE, ...state.trouble };
  return {
    ...state,
    // The longest wait counts anew: nobody has tried anything meanwhile.
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

/** What the agent of a dead driver has cost was paid, whoever saw its end. */
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

/** So often in a row is no accident: whatever kills ralph would kill it for ever. */
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
