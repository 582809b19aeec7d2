import { AGENTS } from '../agent/agents/agents.ts';
import { describeOutcome, type Outcome } from '../agent/outcome.ts';
import { backOffMs, type Policy, SLOWEST_RETRY_MS } from '../task/policy.ts';
import { laterBy, msBetween } from '../task/task-state.ts';
import { end } from './ending.ts';
import type { EventBody } from './events.ts';
import type { LoopEvent, LoopState, Transition } from './loop-state.ts';
import { budgetLeft, endBudget, endByTime, startAttempt, waitUntil } from './next-iteration.ts';

type AttemptEnded = Extract<LoopEvent, { kind: 'attempt-ended' }>;

/** Ends the task if its budget or its time is used up, so that no wait or retry follows. */
export function endUsedUp(state: LoopState, at: string, policy: Policy): Transition | null {
  const isLate = msBetween(at, state.task.timeout_at) <= 0;
  return endBudget(state, at, policy) ?? (isLate ? endByTime(state, at) : null);
}

/**
 * Retries after a transient error: quickly at first, then every five minutes. Gives up once `maxWaitMs`
 * of these slow retries have failed.
 */
export function tryAgain(
  state: LoopState,
  outcome: Extract<Outcome, { kind: 'transient' }>,
  event: AttemptEnded,
  policy: Policy,
): Transition {
  const { at } = event;
  const transientAttempts = state.trouble.transientAttempts + 1;
  const quick = transientAttempts <= policy.retries;
  const outageSince = quick ? null : (state.trouble.outageSince ?? at);
  const delayMs = quick ? backOffMs(transientAttempts, event.random) : SLOWEST_RETRY_MS;
  if (outageSince !== null && msBetween(outageSince, at) + delayMs > policy.maxWaitMs) {
    return end(state, at, {
      status: 'usage_limited',
      exitReason: 'outage',
      error: outcome.message,
    });
  }
  const waiting = waitUntil(
    { ...state, trouble: { ...state.trouble, transientAttempts, outageSince } },
    at,
    { kind: quick ? 'back-off' : 'outage', until: laterBy(at, delayMs) },
  );
  return announced(waiting, { status: outcome.status, delay_ms: delayMs, error: outcome.message });
}

/** Announces that a further attempt follows, and why. */
function announced(
  waiting: Transition,
  why: Pick<Extract<EventBody, { event: 'agent_retry' }>, 'status' | 'delay_ms' | 'error'>,
): Transition {
  const { current_iteration: iteration, attempt } = waiting.state.task;
  const body = { event: 'agent_retry' as const, iteration, attempt, by: 'ralph' as const, ...why };
  return { ...waiting, actions: [{ kind: 'publish', body }, ...waiting.actions] };
}

/** Starts a new session; the previous output returns as context in the prompt. */
export function beginAfresh(state: LoopState, at: string, policy: Policy): Transition {
  const task = { ...state.task, session_id: null };
  return startAttempt({ ...state, task }, task.current_iteration, task.attempt + 1, at, policy);
}

/** The reset time that the service reports is sometimes a little early. */
const RESET_MARGIN_MS = 1_000;
const FIRST_LIMIT_WAIT_MS = 30_000;
const LONGEST_LIMIT_WAIT_MS = 30 * 60_000;

/**
 * Waits for the reset of a plan limit. If the reset time is unknown or has passed, or the next answer is
 * limited again at once, the pauses grow, so that the loop does not spin.
 */
export function waitForReset(
  state: LoopState,
  outcome: Extract<Outcome, { kind: 'usage-limited' }>,
  { at, facts }: AttemptEnded,
  policy: Policy,
): Transition {
  const { resetsAt, message } = outcome;
  // If the attempt produced output before the limit, it has hit a new one.
  const hasWorked = facts.usage.output_tokens > 0;
  const limitedInARow = hasWorked ? 1 : state.trouble.limitedInARow + 1;
  const limitedSince = (hasWorked ? null : state.trouble.limitedSince) ?? at;
  const isAhead = resetsAt !== null && msBetween(at, resetsAt) > 0;
  const pauses = limitedInARow - (isAhead ? 1 : 0);
  const pauseMs =
    pauses === 0 ? 0 : Math.min(LONGEST_LIMIT_WAIT_MS, FIRST_LIMIT_WAIT_MS * 2 ** (pauses - 1));
  const resetMs = isAhead && resetsAt !== null ? msBetween(at, resetsAt) + RESET_MARGIN_MS : 0;
  const waitMs = Math.max(pauseMs, resetMs);
  const until = laterBy(at, waitMs);
  if (msBetween(limitedSince, until) > policy.maxWaitMs) {
    return end(state, at, {
      status: 'usage_limited',
      exitReason: 'usage_limit',
      error: message,
      until: resetsAt,
    });
  }
  const trouble = { ...state.trouble, limitedInARow, limitedSince };
  const waiting = waitUntil({ ...state, trouble }, at, { kind: 'usage-limit', until });
  const iteration = state.task.current_iteration;
  const body = { event: 'usage_limit_wait' as const, iteration, until };
  return { ...waiting, actions: [{ kind: 'publish', body }, ...waiting.actions] };
}

const FATAL_RETRIES = 3;
const FATAL_RETRY_MS = 60_000;

/**
 * Ends the task on a fatal error. Retries first if the agent had worked before, or if it only does not know
 * a flag that ralph added.
 */
export function fatal(
  state: LoopState,
  outcome: Extract<Outcome, { kind: 'fatal' }>,
  at: string,
  policy: Policy,
): Transition {
  const { droppedFlags } = state.trouble;
  const { budgetFlag: flag } = AGENTS[policy.agent];
  const isOurFlag =
    outcome.cause === 'bad-option' && flag !== null && outcome.message.includes(flag);
  if (isOurFlag && budgetLeft(state, policy) !== null) {
    const without = { ...state.trouble, droppedFlags: [...droppedFlags, flag] };
    const again = startAttempt(
      { ...state, trouble: without },
      state.task.current_iteration,
      state.task.attempt + 1,
      at,
      policy,
    );
    const said = {
      kind: 'say' as const,
      what: { kind: 'flag-dropped' as const, flag },
    };
    return { ...again, actions: [said, ...again.actions] };
  }
  // May be temporary if it worked before: the agent is being updated, or its token renewed.
  const mayPass = outcome.cause === 'agent-not-found' || outcome.cause === 'not-logged-in';
  if (mayPass && state.hasAnswered && state.trouble.fatalRetries < FATAL_RETRIES) {
    const waiting = waitUntil(
      { ...state, trouble: { ...state.trouble, fatalRetries: state.trouble.fatalRetries + 1 } },
      at,
      { kind: 'recheck', until: laterBy(at, FATAL_RETRY_MS) },
    );
    return announced(waiting, {
      status: null,
      delay_ms: FATAL_RETRY_MS,
      error: describeOutcome(outcome),
    });
  }
  return end(state, at, {
    status: 'failed',
    exitReason: `failed:${outcome.cause}`,
    error: outcome.message,
  });
}
