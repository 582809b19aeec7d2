import { NO_USAGE } from '../agent/attempt.ts';
import { isCounted } from '../agent/outcome.ts';
import { EMPTY_HANDOVER } from '../prompt/handover.ts';
import { waitingHints } from '../prompt/hints.ts';
import { postponed, withoutStandstill } from '../task/clock-gap.ts';
import type { Policy } from '../task/policy.ts';
import { newSandbox } from '../task/task-sandbox.ts';
import { laterBy, msBetween, type TaskState } from '../task/task-state.ts';
import type { Announcement, Transition } from './action.ts';
import {
  afterCounted,
  withAttempt,
  withLostServers,
  withMetInSandbox,
  withOwnUsage,
} from './after-attempt.ts';
import { apply } from './apply.ts';
import { approvalAnswered, approvalRequested, askPerson, START_APPROVAL } from './approval.ts';
import { replied } from './asking-back.ts';
import { byCaller, isByCaller } from './caller-events.ts';
import { checked, examined } from './checking.ts';
import { type Decided, type Moment, publish, strayed } from './decision.ts';
import { end, endWithoutJudge } from './ending.ts';
import { follow, followed, judgeIteration } from './judge.ts';
import type { CallerEvent, EventOf, LoopEvent } from './loop-event.ts';
import { type LoopState, NO_STREAKS, NO_TROUBLE } from './loop-state.ts';
import { dayCounted } from './next-iteration.ts';
import { withReport } from './record-iteration.ts';
import { resumed } from './resume.ts';
import { retry } from './retry.ts';
import { withSettlement } from './settling.ts';
import { onShift } from './shifts.ts';

/**
 * The heart of the program: takes an event, returns the next state and the actions. `decide` picks the
 * step, the step decides what comes next, and `apply` builds the state and the actions.
 *
 *   new ──started──► (measuring: each check once, if wanted)
 *                       │
 *                       ▼
 *                    working ──attempt-ended──┬─ counted ──► looking ──looked──► judged ◄─verified─ verifying
 *                       ▲                     │                                   ├─ claim to verify ──┘
 *                       │                     ├─ transient ──────► waiting        ├─ --commit ─► settling ──settled──┐
 *                       │                     │                      │            ├─ --after ◄───────────────────────┤
 *                       │                     │                      │            │    └─────► following ──followed──┤
 *                       │                     │                      │            ├─ complete, paused ─► ended ◄─────┤
 *                       │                     └─ fatal, stopped ─► ended          ├─ limit ────────────► ended ◄─────┤
 *                       │                                            │            │                                  │
 *                       └──────────────── waited ◄───────────────────┴── waiting ◄┴──────────────────────────────────┘
 *
 * With a budget of the day, `counting-day` comes before each `working`, and ends the task if the budget is spent.
 * If it is in doubt whether the agent stated the promise (text for "done"), ralph asks it before `looking`: see
 * `asking-back.ts`. A delay of 0 skips `waiting`, which saves a write of the state. `approval.ts` asks a person.
 * `resumed` can continue at any step: see `resume.ts`. A program that works on a task itself, without a loop, sends
 * the events of `caller-events.ts`.
 */
export function transition(state: LoopState, event: LoopEvent, policy: Policy): Transition {
  switch (event.kind) {
    // The events below arrive while an action runs. They do not change `updated_at`, since the duration of that action
    // is measured from it.
    case 'hinted':
      return noted({ ...state, hints: waitingHints([...state.hints, event.hint]) });
    case 'progress-reported':
      return noted(withReport(state, event.report));
    case 'stop-requested':
      // The stop takes effect at the next event, so that an answer that completes the task still counts.
      return noted({ ...state, stopRequested: event.by });
    case 'pause-requested':
      return noted({ ...state, pauseRequested: true });
    case 'met-in-sandbox':
      return withMetInSandbox(state, event.met, policy);
    default: {
      const moment = { at: event.at, policy: onShift(policy, state.task) };
      if (isByCaller(event)) return apply(byCaller(state, event, moment), moment);
      const task = { ...withoutStandstill(state.task, event), updated_at: event.at };
      // In an outage, nothing was tried while the machine slept, so that time does not count against `--max-wait`.
      const lostMs = msBetween(state.task.timeout_at, task.timeout_at);
      const { outageSince } = state.trouble;
      const trouble =
        lostMs === 0 || outageSince === null
          ? state.trouble
          : { ...state.trouble, outageSince: laterBy(outageSince, lostMs) };
      return apply(decide({ ...state, task, trouble }, event, moment), moment);
    }
  }
}

function noted(state: LoopState): Transition {
  return { state, actions: [] };
}

type Happened = Exclude<
  LoopEvent,
  | CallerEvent
  | {
      kind:
        | 'hinted'
        | 'progress-reported'
        | 'stop-requested'
        | 'pause-requested'
        | 'met-in-sandbox';
    }
>;

/** Passes an event to the step that it belongs to. */
function decide(state: LoopState, event: Happened, moment: Moment): Decided {
  const { step } = state;
  switch (event.kind) {
    case 'started':
      return started(state, event, moment);
    case 'resumed':
      return resumed(state, event, moment);
    case 'attempt-ended':
      return attemptEnded(state, event, moment);
    case 'looked':
      if (step.kind !== 'looking') return strayed(state);
      return judgeIteration(state, { ...step, sightings: event.sightings, verified: null }, moment);
    case 'day-counted':
      return dayCounted(state, event, moment);
    case 'verified':
      return checked(state, event, moment);
    case 'examined':
      return examined(state, event, moment);
    case 'settled': {
      if (step.kind !== 'settling') return strayed(state);
      const settled = withSettlement(state, event.settlement);
      return { ...settled, decision: follow(settled.state, step, moment) };
    }
    case 'followed':
      if (step.kind !== 'following') return strayed(state);
      return { state, decision: followed(state, step, moment) };
    case 'waited':
      return waited(state, event);
    case 'approval-requested':
      return approvalRequested(state, event);
    case 'approval-answered':
      return approvalAnswered(state, event, moment);
    case 'broke': {
      const error = `this is a bug in ralph, please report it: ${event.message}`;
      return { state, decision: end('failed', 'failed:bug', { error }) };
    }
  }
}

/** Returns the state of a task's loop before its first event. */
export function initialState(task: TaskState): LoopState {
  return {
    task,
    step: { kind: 'new' },
    carry: EMPTY_HANDOVER,
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

function started(
  state: LoopState,
  { prompt, setupFailed = null, judgeMissing = null, lacks = null }: EventOf<'started'>,
  moment: Moment,
): Decided {
  const { approvalRequired: what, maxIterations: max_iterations } = moment.policy;
  const held = newSandbox(moment.policy);
  const sandbox = held?.is ?? 'off';
  return {
    state: {
      ...state,
      task: { ...state.task, status: 'running', sandbox: held },
      carry: lacks === null ? state.carry : { ...state.carry, lacks },
    },
    announced: [publish({ event: 'task_started', prompt, max_iterations, sandbox })],
    decision:
      setupFailed !== null
        ? end('failed', 'failed:setup', { error: setupFailed })
        : judgeMissing !== null
          ? endWithoutJudge(judgeMissing, moment.policy)
          : what === null
            ? { kind: 'start', prompt: 'next' }
            : askPerson(state.task, { id: START_APPROVAL, what, file: null }, moment),
  };
}

function attemptEnded(before: LoopState, ended: EventOf<'attempt-ended'>, moment: Moment): Decided {
  const lost = withLostServers(before, ended);
  const { state: known, event } = withOwnUsage(lost.state, ended);
  const { state, outcome } = withAttempt(known, event, moment);
  const decided = (): Decided => {
    if (state.step.kind === 'asking-back') {
      return replied(state, state.step.answer, { outcome, facts: event.facts }, moment);
    }
    return isCounted(outcome)
      ? afterCounted(state, outcome, event, moment)
      : retry(state, outcome, event, moment);
  };
  const kept: Announcement = {
    kind: 'keep-tree',
    iteration: state.task.current_iteration,
    as: isCounted(outcome) || state.step.kind === 'asking-back' ? 'end' : 'attempt',
    outcome: outcome.kind,
  };
  const next = decided();
  return { ...next, announced: [kept, ...lost.told, ...(next.announced ?? [])] };
}

function waited(state: LoopState, { tookMs, heldUpMs }: EventOf<'waited'>): Decided {
  const { step, task } = state;
  if (step.kind !== 'waiting' || task.wait === null) return strayed(state);
  if (task.wait.kind === 'delay') return { state, decision: { kind: 'start', prompt: 'next' } };
  // The wait does not use up the task's time; `heldUpMs` has already been added to the limit.
  const rested = { ...state, task: postponed(task, tookMs - heldUpMs) };
  const isCounted = task.metrics.iterations >= task.current_iteration;
  return { state: rested, decision: { kind: 'start', prompt: isCounted ? 'next' : 'same' } };
}
