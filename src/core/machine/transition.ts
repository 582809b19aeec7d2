import { NO_USAGE } from '../agent/attempt.ts';
import type { Policy } from '../task/policy.ts';
import type { TaskState } from '../task/task-state.ts';
import { attemptEnded } from './after-attempt.ts';
import { approvalAnswered, approvalRequested, askApproval, START_APPROVAL } from './approval.ts';
import { byCaller } from './caller-events.ts';
import { postponed, withoutStandstill } from './clock-gap.ts';
import { end } from './ending.ts';
import { waitingHints } from './hints.ts';
import { judge, nextAfter } from './judge.ts';
import {
  type LoopEvent,
  type LoopState,
  NO_STREAKS,
  NO_TROUBLE,
  type Transition,
} from './loop-state.ts';
import { startAttempt } from './next-iteration.ts';
import { NOTHING_CARRIED } from './prompt.ts';
import { withReport } from './record-iteration.ts';
import { resumed } from './resume.ts';

/**
 * The heart of the program: takes what happened, returns the next state and what to do.
 *
 *   new ──started──► working ──attempt-ended──┬─ counted ──► looking ──looked──► judged ◄─verified─ verifying
 *                       ▲                     │                                   ├─ claim to verify ──┘
 *                       │                     ├─ transient ──────► waiting        ├─ --after ─► following ──followed──┐
 *                       │                     │                      │            ├─ complete, paused ─► ended ◄──────┤
 *                       │                     └─ fatal, stopped ─► ended          ├─ limit ────────────► ended ◄──────┤
 *                       │                                            │            │                                   │
 *                       └──────────────── waited ◄───────────────────┴── waiting ◄┴───────────────────────────────────┘
 *
 * If the agent's statement is in doubt, it is asked back before `looking`: see `asking-back.ts`. Without
 * anything to observe `looking` is skipped, and with a delay of 0 `waiting` is skipped; each saves a write
 * of the state. `approval.ts` asks a person. `resumed` may continue at any step: see `resume.ts`. A program
 * that works on a task itself, without a loop, sends the events of `caller-events.ts`.
 */
export function transition(state: LoopState, event: LoopEvent, policy: Policy): Transition {
  const moved = {
    ...state,
    task: { ...withoutStandstill(state.task, event), updated_at: event.at },
  };
  switch (event.kind) {
    case 'started':
      return started(moved, event.prompt, event.at, policy);
    case 'attempt-ended':
      return attemptEnded(moved, event, policy);
    case 'looked':
      return moved.step.kind === 'looking'
        ? judge(moved, moved.step.answer, event.sightings, null, event.at, policy)
        : { state: moved, actions: [] };
    case 'resumed':
      return resumed(moved, event, policy);
    case 'followed':
      return moved.step.kind === 'following'
        ? nextAfter(moved, moved.step, event.at, policy)
        : { state: moved, actions: [] };
    case 'verified':
      return moved.step.kind === 'verifying'
        ? judge(moved, moved.step.answer, moved.step.sightings, event.result, event.at, policy)
        : { state: moved, actions: [] };
    case 'approval-requested':
      return approvalRequested(moved, event, policy);
    case 'approval-answered':
      return approvalAnswered(moved, event, policy);
    case 'waited':
      return waited(moved, event, policy);
    case 'hinted':
      // `updated_at` must not change: the duration of the next event is measured from it.
      return {
        state: { ...state, hints: waitingHints([...state.hints, event.hint]) },
        actions: [],
      };
    case 'progress-reported':
      return { state: withReport(state, event.report), actions: [] };
    case 'stop-requested':
      // It takes effect at the next event, so that an answer that completes the task still counts.
      return { state: { ...state, stopRequested: event.by }, actions: [] };
    case 'pause-requested':
      return { state: { ...state, pauseRequested: true }, actions: [] };
    case 'broke': {
      const error = `this is a bug in ralph, please report it: ${event.message}`;
      return end(moved, event.at, { status: 'failed', exitReason: 'failed:bug', error });
    }
    default:
      return byCaller(state, event, policy);
  }
}

/** The state of a task's loop before its first event. */
export function initialState(task: TaskState): LoopState {
  return {
    task,
    step: { kind: 'new' },
    carry: NOTHING_CARRIED,
    finalMessage: null,
    trouble: NO_TROUBLE,
    streaks: NO_STREAKS,
    hints: [],
    reported: null,
    hasAnswered: false,
    stopRequested: null,
    pauseRequested: false,
    attemptsUsage: NO_USAGE,
  };
}

function started(state: LoopState, prompt: string, at: string, policy: Policy): Transition {
  const running = { ...state, task: { ...state.task, status: 'running' as const } };
  const { approvalRequired: what } = policy;
  const first =
    what === null
      ? startAttempt(running, 1, 1, at, policy)
      : askApproval(running, { id: START_APPROVAL, what, file: null }, at, policy);
  const body = {
    event: 'task_started' as const,
    prompt,
    max_iterations: policy.maxIterations,
  };
  return { ...first, actions: [{ kind: 'publish', body }, ...first.actions] };
}

function waited(
  state: LoopState,
  { at, tookMs, heldUpMs }: Extract<LoopEvent, { kind: 'waited' }>,
  policy: Policy,
): Transition {
  const { task } = state;
  const { wait } = task;
  if (state.step.kind !== 'waiting' || wait === null) return { state, actions: [] };
  if (wait.kind === 'delay') {
    return startAttempt(withoutWait(state, task), task.current_iteration + 1, 1, at, policy);
  }
  // The wait does not use up the task's time, since no work was possible.
  const rested = withoutWait(state, postponed(task, tookMs - heldUpMs));
  return startAttempt(rested, task.current_iteration, task.attempt + 1, at, policy);
}

function withoutWait(state: LoopState, task: TaskState): LoopState {
  return { ...state, task: { ...task, wait: null } };
}
