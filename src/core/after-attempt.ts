import { type AttemptFacts, addUsage, outputOf } from './attempt.ts';
import { classify } from './classify.ts';
import { judgeMessage, NOTHING_SEEN, needsLook } from './completion.ts';
import { end, endStopped } from './ending.ts';
import { judge } from './judge.ts';
import type { LoopEvent, LoopState, Transition } from './machine.ts';
import { oneLine } from './material.ts';
import { BUDGET_FLAG, endBudget, endByTime, startAttempt, waitUntil } from './next-iteration.ts';
import { describeOutcome, isCounted, type Outcome } from './outcome.ts';
import { backOffMs, type Policy, SLOWEST_RETRY_MS } from './policy.ts';
import type { PromiseVerdict } from './promise.ts';
import { ownTexts } from './prompt.ts';
import {
  type IterationRecord,
  laterBy,
  msBetween,
  type TaskState,
  withError,
} from './task-state.ts';

type AttemptEnded = Extract<LoopEvent, { kind: 'attempt-ended' }>;
type NotCounted = Exclude<Outcome, { kind: 'answered' | 'bounded' | 'timed-out' | 'errored' }>;

/** An attempt is over: it counts and is judged, or it is tried again, or nothing can help. */
export function attemptEnded(state: LoopState, event: AttemptEnded, policy: Policy): Transition {
  const outcome = outcomeOf(state, event, policy);
  const known = withFacts(state, event, outcome);
  if (!isCounted(outcome)) return notCounted(known, outcome, event, policy);

  const facts = event.facts;
  const verdict = verdictOn(state, outcome, facts.finalMessage, policy);
  const record: IterationRecord = {
    number: known.task.current_iteration,
    started_at: event.startedAt,
    duration_ms: facts.durationMs,
    outcome: outcome.kind,
    exit_code: exitCodeOf(facts),
    completed: false,
    near_miss: verdict.kind === 'near-miss',
    ...known.attemptsUsage,
    turns: facts.turns,
    tools: facts.tools,
    // Those that nothing made good come first: they are what a claim is held for.
    refused: [...facts.refused]
      .sort((a, b) => Number(a.laterSucceeded) - Number(b.laterSucceeded))
      .slice(0, 5)
      .map(({ tool, target }) => oneLine(target === '' ? tool : `${tool}: ${target}`, 120)),
    files_changed: null,
    output_preview: oneLine(outputOf(facts), 200),
  };
  const answer = { outcome, verdict, record, facts };
  if (!needsLook(policy)) return judge(known, answer, NOTHING_SEEN, null, event.at, policy);
  return { state: { ...known, step: { kind: 'looking', answer } }, actions: [{ kind: 'look' }] };
}

/**
 * A prompt that is too long in a resumed session is the session's fault, not the prompt's; and only
 * a session that was resumed can be gone: one that the user asks for would be gone each time.
 */
function outcomeOf(state: LoopState, { facts, at }: AttemptEnded, policy: Policy): Outcome {
  const outcome = classify(facts, at, policy.timeZone);
  const resumed = state.step.kind === 'working' && state.step.resumed;
  if (outcome.kind === 'session-gone' && !resumed) {
    return { kind: 'errored', message: outcome.message };
  }
  const isTooLong =
    facts.result?.terminalReason === 'prompt_too_long' ||
    /^prompt is too long/i.test(facts.result?.text ?? '');
  return resumed && isTooLong && outcome.kind === 'fatal'
    ? { kind: 'session-gone', message: outcome.message }
    : outcome;
}

/** A promise that is stated where the agent did not end well is no more than a mention. */
function verdictOn(
  state: LoopState,
  outcome: Outcome,
  message: string | null,
  policy: Policy,
): PromiseVerdict {
  const own = ownTexts(policy, state.carry, state.task.current_iteration);
  const verdict = judgeMessage(message, policy, own);
  return verdict.kind === 'stated' && outcome.kind !== 'answered'
    ? { kind: 'near-miss', line: verdict.line, why: 'not-ended-well' }
    : verdict;
}

/** What is true of the task after any attempt: its cost, its session, its error. */
function withFacts(state: LoopState, event: AttemptEnded, outcome: Outcome): LoopState {
  const { facts } = event;
  let task: TaskState = {
    ...state.task,
    usage: addUsage(state.task.usage, facts.usage),
    session_id: facts.sessionId ?? state.task.session_id,
    timeout_at: laterBy(state.task.timeout_at, facts.retryWaitMs + suspendedMs(event)),
  };
  if (outcome.kind !== 'answered' && outcome.kind !== 'stopped' && outcome.kind !== 'bounded') {
    task = withError(task, {
      at: event.at,
      iteration: task.current_iteration,
      attempt: task.attempt,
      kind: outcome.kind === 'fatal' ? `fatal:${outcome.cause}` : outcome.kind,
      message: oneLine(describeOutcome(outcome), 200),
    });
  }
  return {
    ...state,
    task,
    attemptsUsage: addUsage(state.attemptsUsage, facts.usage),
    hasAnswered: state.hasAnswered || outcome.kind === 'answered',
  };
}

/** A clock that runs while the machine sleeps, against one that does not: the gap was no time to work in. */
function suspendedMs({ startedAt, at, facts }: AttemptEnded): number {
  const gap = msBetween(startedAt, at) - facts.durationMs;
  return gap > NOTICEABLE_GAP_MS ? gap : 0;
}

const NOTICEABLE_GAP_MS = 5_000;

function notCounted(
  state: LoopState,
  outcome: NotCounted,
  event: AttemptEnded,
  policy: Policy,
): Transition {
  switch (outcome.kind) {
    case 'transient':
      return endUsedUp(state, event.at, policy) ?? tryAgain(state, outcome, event, policy);
    case 'usage-limited':
      return endUsedUp(state, event.at, policy) ?? waitForReset(state, outcome, event, policy);
    case 'session-gone':
      return endUsedUp(state, event.at, policy) ?? beginAfresh(state, event.at, policy);
    case 'stopped':
      return endStopped(state, event.at, state.stopRequested ?? 'SIGTERM');
    case 'fatal':
      return fatal(state, outcome, event.at, policy);
  }
}

/** Nothing is waited for or tried again without money or time to go on with. */
function endUsedUp(state: LoopState, at: string, policy: Policy): Transition | null {
  const isLate = msBetween(at, state.task.timeout_at) <= 0;
  return endBudget(state, at, policy) ?? (isLate ? endByTime(state, at) : null);
}

/**
 * A passing fault: quick tries first, then one every five minutes, until `maxWaitMs` of those have
 * brought nothing.
 */
function tryAgain(
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
      event: 'task_usage_limited',
      evidence: null,
      note: 'LIMITED',
      error: outcome.message,
      until: null,
    });
  }
  const waiting = waitUntil(
    { ...state, trouble: { ...state.trouble, transientAttempts, outageSince } },
    at,
    { kind: quick ? 'back-off' : 'outage', until: laterBy(at, delayMs) },
  );
  const retry = {
    event: 'agent_retry' as const,
    iteration: state.task.current_iteration,
    attempt: state.task.attempt,
    by: 'ralph' as const,
    status: outcome.status,
    delay_ms: delayMs,
    error: outcome.message,
  };
  return { ...waiting, actions: [{ kind: 'publish', body: retry }, ...waiting.actions] };
}

/** The session is forgotten, and what it knew comes back as context. */
function beginAfresh(state: LoopState, at: string, policy: Policy): Transition {
  const task = { ...state.task, session_id: null };
  return startAttempt({ ...state, task }, task.current_iteration, task.attempt + 1, at, policy);
}

/** The reset as the service tells it is a little early at times. */
const RESET_MARGIN_MS = 1_000;
const FIRST_LIMIT_WAIT_MS = 30_000;
const LONGEST_LIMIT_WAIT_MS = 30 * 60_000;

/**
 * A plan limit: waits for its reset. A reset that has passed already, an answer that is limited again
 * at once, or no time at all is met with growing pauses, so that nothing spins.
 */
function waitForReset(
  state: LoopState,
  outcome: Extract<Outcome, { kind: 'usage-limited' }>,
  { at, facts }: AttemptEnded,
  policy: Policy,
): Transition {
  const { resetsAt, message } = outcome;
  // An attempt that was let work first has met a new limit.
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
      event: 'task_usage_limited',
      evidence: null,
      note: 'LIMITED',
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

function fatal(
  state: LoopState,
  outcome: Extract<Outcome, { kind: 'fatal' }>,
  at: string,
  policy: Policy,
): Transition {
  const { droppedFlags } = state.trouble;
  const isOurFlag = outcome.cause === 'bad-option' && outcome.message.includes(BUDGET_FLAG);
  if (isOurFlag && policy.maxCostUsd !== null && !droppedFlags.includes(BUDGET_FLAG)) {
    const without = { ...state.trouble, droppedFlags: [...droppedFlags, BUDGET_FLAG] };
    const again = startAttempt(
      { ...state, trouble: without },
      state.task.current_iteration,
      state.task.attempt + 1,
      at,
      policy,
    );
    const said = {
      kind: 'say' as const,
      what: { kind: 'flag-dropped' as const, flag: BUDGET_FLAG },
    };
    return { ...again, actions: [said, ...again.actions] };
  }
  // What worked before may be away for a moment: an update of the agent, a token being renewed.
  const mayPass = outcome.cause === 'agent-not-found' || outcome.cause === 'not-logged-in';
  if (mayPass && state.hasAnswered && state.trouble.fatalRetries < FATAL_RETRIES) {
    const waiting = waitUntil(
      { ...state, trouble: { ...state.trouble, fatalRetries: state.trouble.fatalRetries + 1 } },
      at,
      { kind: 'recheck', until: laterBy(at, FATAL_RETRY_MS) },
    );
    const retry = {
      event: 'agent_retry' as const,
      iteration: state.task.current_iteration,
      attempt: state.task.attempt,
      by: 'ralph' as const,
      status: null,
      delay_ms: FATAL_RETRY_MS,
      error: describeOutcome(outcome),
    };
    return { ...waiting, actions: [{ kind: 'publish', body: retry }, ...waiting.actions] };
  }
  return end(state, at, {
    status: 'failed',
    exitReason: `failed:${outcome.cause}`,
    event: 'task_failed',
    evidence: null,
    note: 'FAILED',
    error: outcome.message,
    until: null,
  });
}

function exitCodeOf({ end }: AttemptFacts): number | null {
  return end.kind === 'exited' || end.kind === 'cut' ? end.exitCode : null;
}
