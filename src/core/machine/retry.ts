import { AGENTS } from '../agent/agents/agents.ts';
import type { AttemptFacts } from '../agent/attempt.ts';
import { describeOutcome, type Outcome } from '../agent/outcome.ts';
import { backOffMs, hasSeveralAgents, SLOWEST_RETRY_MS } from '../task/policy.ts';
import { laterBy, msBetween } from '../task/task-state.ts';
import type { Announcement } from './action.ts';
import { type Decided, type Decision, type Moment, publish } from './decision.ts';
import { end, stoppedBy } from './ending.ts';
import type { EventBody } from './events.ts';
import type { EventOf } from './loop-event.ts';
import type { LoopState, Trouble } from './loop-state.ts';
import { budgetLeft, endUsedUp } from './next-iteration.ts';
import { hasOthers, isStillOut, loseShift, skippedBecause } from './shifts.ts';

type Failed<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>;

/** Decides what follows an attempt that does not count: another one, at once or after a wait, or the task's end. */
export function retry(
  state: LoopState,
  outcome: Failed<
    'transient' | 'usage-limited' | 'session-gone' | 'stopped' | 'fatal' | 'failed-start'
  >,
  event: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  if (outcome.kind === 'stopped') {
    return { state, decision: stoppedBy(state.stopRequested ?? 'SIGTERM') };
  }
  if (outcome.kind === 'fatal') return fatal(state, outcome, event, moment);
  const over = endUsedUp(state, moment);
  if (over !== null) return { state, decision: over };
  switch (outcome.kind) {
    case 'transient':
      return backOff(state, outcome, event, moment);
    case 'usage-limited':
      return waitForReset(state, outcome, event, moment);
    case 'session-gone': {
      // A new session begins; the previous output returns as context in the prompt.
      const task = { ...state.task, session_id: null };
      const why = { status: null, delay_ms: 0, error: outcome.message };
      return { state: { ...state, task }, announced: [retried(state, why)], decision: RETRY };
    }
    case 'failed-start':
      return (
        startAgain(state, outcome.message, event, moment) ??
        fatal(state, { ...outcome, kind: 'fatal', cause: 'agent-error' }, event, moment)
      );
  }
}

/** How often a failed start is repeated: an update of the agent or a restart of its gateway is often soon over. */
const QUICK_STARTS = 2;

/** Starts the agent again for this iteration after a short pause. Returns null after too many failed starts. */
function startAgain(
  state: LoopState,
  error: string,
  { random }: EventOf<'attempt-ended'>,
  { at, policy }: Moment,
): Decided | null {
  const failedStarts = state.trouble.failedStarts + 1;
  if (failedStarts > Math.min(QUICK_STARTS, policy.retries)) return null;
  const delay_ms = backOffMs(failedStarts, random);
  return {
    state: withTrouble(state, { failedStarts }),
    announced: [retried(state, { status: null, delay_ms, error })],
    decision: { kind: 'wait', wait: { kind: 'back-off', until: laterBy(at, delay_ms) } },
  };
}

const RETRY: Decision = { kind: 'start', prompt: 'same' };

/**
 * Retries after a transient error: quickly at first, then every five minutes. Gives up when the slow retries would
 * take longer than `maxWaitMs`. In a list of agents, the next one takes over instead of the slow retries.
 */
function backOff(
  state: LoopState,
  { status, message: error }: Failed<'transient'>,
  { random, facts }: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  const { at, policy } = moment;
  const transientAttempts = state.trouble.transientAttempts + 1;
  const quick = transientAttempts <= policy.retries && !isStillOut(state.task, policy);
  if (!quick && hasSeveralAgents(policy)) {
    const until = laterBy(at, SLOWEST_RETRY_MS);
    return loseShift(state, { why: 'outage', until, error }, moment, hasWorkedLong(facts));
  }
  const outageSince = quick ? null : (state.trouble.outageSince ?? at);
  const delay_ms = quick ? backOffMs(transientAttempts, random) : SLOWEST_RETRY_MS;
  if (outageSince !== null && msBetween(outageSince, at) + delay_ms > policy.maxWaitMs) {
    return { state, decision: end('usage_limited', 'outage', { error }) };
  }
  const wait = { kind: quick ? 'back-off' : 'outage', until: laterBy(at, delay_ms) } as const;
  return {
    state: withTrouble(state, { transientAttempts, outageSince }),
    announced: [retried(state, { status, delay_ms, error })],
    decision: { kind: 'wait', wait },
  };
}

function withTrouble(state: LoopState, trouble: Partial<Trouble>): LoopState {
  return { ...state, trouble: { ...state.trouble, ...trouble } };
}

/** Builds the event that announces a further attempt, and says why it is made. */
function retried(
  { task: { current_iteration: iteration, attempt } }: LoopState,
  why: Pick<Extract<EventBody, { event: 'agent_retry' }>, 'status' | 'delay_ms' | 'error'>,
): Announcement {
  return publish({ event: 'agent_retry', iteration, attempt, by: 'ralph', ...why });
}

/** Added to the reset time that the service reports, because that time is sometimes a little early. */
const RESET_MARGIN_MS = 1_000;
const FIRST_LIMIT_WAIT_MS = 30_000;
const LONGEST_LIMIT_WAIT_MS = 30 * 60_000;

/** Whether an attempt took so long that the trouble it ended with is not the previous one. */
function hasWorkedLong({ worked, durationMs }: AttemptFacts): boolean {
  return worked && durationMs >= SLOWEST_RETRY_MS;
}

/**
 * Waits until a usage limit is reset. If the reset time is unknown or has passed, or the next attempt hits the limit
 * at once, each pause is longer than the one before, so that ralph does not retry in quick succession.
 */
function waitForReset(
  state: LoopState,
  { resetsAt, message: error }: Failed<'usage-limited'>,
  { facts }: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  const { at, policy } = moment;
  const isAhead = resetsAt !== null && msBetween(at, resetsAt) > 0;
  // An attempt that produced output has hit a new limit, not the previous one. If no reset is known, it must have taken
  // a while: a command prints its banner, and an account in debt may begin again and again.
  const isNew = isAhead ? facts.worked : hasWorkedLong(facts);
  const limitedInARow = isNew ? 1 : state.trouble.limitedInARow + 1;
  const limitedSince = (isNew ? null : state.trouble.limitedSince) ?? at;
  const pauses = limitedInARow - (isAhead ? 1 : 0);
  const pauseMs =
    pauses === 0 ? 0 : Math.min(LONGEST_LIMIT_WAIT_MS, FIRST_LIMIT_WAIT_MS * 2 ** (pauses - 1));
  const resetMs = isAhead && resetsAt !== null ? msBetween(at, resetsAt) + RESET_MARGIN_MS : 0;
  const until = laterBy(at, Math.max(pauseMs, resetMs));
  if (hasSeveralAgents(policy)) {
    // While another agent works, there is no hurry to try this one again.
    const held = isAhead ? until : laterBy(at, Math.max(pauseMs, SLOWEST_RETRY_MS));
    const counted = withTrouble(state, { limitedInARow });
    const lost = { why: 'usage-limit', until: held, error, isGuess: !isAhead } as const;
    return loseShift(counted, lost, moment, isNew);
  }
  if (msBetween(limitedSince, until) > policy.maxWaitMs) {
    return { state, decision: end('usage_limited', 'usage_limit', { error, until: resetsAt }) };
  }
  const iteration = state.task.current_iteration;
  return {
    state: withTrouble(state, { limitedInARow, limitedSince }),
    announced: [publish({ event: 'usage_limit_wait', iteration, until })],
    decision: {
      kind: 'wait',
      wait: { kind: 'usage-limit', until, ...(resetMs > pauseMs ? {} : { is_guess: true }) },
    },
  };
}

const FATAL_RETRIES = 3;
const FATAL_RETRY_MS = 60_000;

/** Fatal causes that may pass by themselves if the agent has worked before, for example because it is being updated. */
const MAY_PASS: ReadonlySet<string> = new Set(['agent-not-found', 'not-logged-in', 'agent-error']);

/**
 * Ends the task on a fatal error, or skips this agent of a list. Retries first if ralph can leave out a flag
 * that the agent does not know, or if the agent had worked before and the cause may pass.
 */
function fatal(
  state: LoopState,
  outcome: Failed<'fatal'>,
  event: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  const { at, policy } = moment;
  const { cause, message } = outcome;
  const { droppedFlags, fatalRetries } = state.trouble;
  const { budgetFlag: flag } = AGENTS[policy.agent];
  const isOurFlag = cause === 'bad-option' && flag !== null && message.includes(flag);
  if (isOurFlag && budgetLeft(state, policy) !== null) {
    return {
      state: withTrouble(state, { droppedFlags: [...droppedFlags, flag] }),
      announced: [{ kind: 'say', what: { kind: 'flag-dropped', flag } }],
      decision: RETRY,
    };
  }
  const skipped = hasSeveralAgents(policy) ? skippedBecause(cause) : null;
  const skip = (why: NonNullable<typeof skipped>): Decided =>
    loseShift(state, { why, until: null, error: message }, moment, false);
  if (skipped !== null && hasOthers(state.task, policy)) return skip(skipped);
  const mayGoOn = state.hasAnswered && endUsedUp(state, moment) === null;
  if (MAY_PASS.has(cause) && mayGoOn && fatalRetries < FATAL_RETRIES) {
    const why = { status: null, delay_ms: FATAL_RETRY_MS, error: describeOutcome(outcome) };
    return {
      state: withTrouble(state, { fatalRetries: fatalRetries + 1 }),
      announced: [retried(state, why)],
      decision: { kind: 'wait', wait: { kind: 'recheck', until: laterBy(at, FATAL_RETRY_MS) } },
    };
  }
  if (skipped !== null) return skip(skipped);
  // An earlier request of this run was accepted, so this refusal may pass.
  const wasAccepted = cause === 'refused-request' && mayGoOn;
  return (
    (wasAccepted ? startAgain(state, message, event, moment) : null) ?? {
      state,
      decision: end('failed', `failed:${cause}`, { error: message }),
    }
  );
}
