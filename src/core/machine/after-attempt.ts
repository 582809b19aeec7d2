import { AGENTS } from '../agent/agents/agents.ts';
import { addUsage } from '../agent/attempt.ts';
import { classify } from '../agent/classify.ts';
import { describeOutcome, isCounted, type Outcome } from '../agent/outcome.ts';
import { judgeMessage } from '../completion/conditions/conditions.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import { preview } from '../secrets/secrets.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, type TaskState, withError } from '../task/task-state.ts';
import { askBack, replied } from './asking-back.ts';
import { endStopped } from './ending.ts';
import { lookOrJudge } from './judge.ts';
import type { LoopEvent, LoopState, Transition } from './loop-state.ts';
import { ownTexts } from './prompt.ts';
import { answerOf } from './record-iteration.ts';
import { beginAfresh, endUsedUp, fatal, tryAgain, waitForReset } from './retry.ts';

type AttemptEnded = Extract<LoopEvent, { kind: 'attempt-ended' }>;
type NotCounted = Exclude<Outcome, { kind: 'answered' | 'bounded' | 'timed-out' | 'errored' }>;

/** Decides what follows an attempt: judge it (perhaps after asking back), retry it, or end the task. */
export function attemptEnded(state: LoopState, event: AttemptEnded, policy: Policy): Transition {
  const outcome = outcomeOf(state, event, policy);
  const known = withFacts(state, event, outcome);
  if (known.step.kind === 'asking-back') {
    const reply = { outcome, facts: event.facts };
    return replied(known, known.step.answer, reply, event.at, policy);
  }
  if (!isCounted(outcome)) return notCounted(known, outcome, event, policy);

  const { facts, startedAt, at } = event;
  const verdict = verdictOn(state, outcome, facts.finalMessage, policy);
  const answer = answerOf(known, { outcome, verdict, facts, startedAt });
  return askBack(known, answer, at, policy) ?? lookOrJudge(known, answer, at, policy);
}

/**
 * Classifies the attempt, corrected by whether its session was resumed. If the prompt is too long in a
 * resumed session, the session is to blame, so it counts as gone. If a session is missing that ralph did
 * not resume, the user asked for it: starting again would fail the same way, so it is an error.
 */
function outcomeOf(state: LoopState, { facts, at }: AttemptEnded, policy: Policy): Outcome {
  const agent = AGENTS[policy.agent];
  const outcome = classify(facts, agent, at, policy);
  const { step } = state;
  const resumed = step.kind === 'asking-back' || (step.kind === 'working' && step.resumed);
  if (outcome.kind === 'session-gone' && !resumed) {
    return { kind: 'errored', message: outcome.message };
  }
  const isTooLong = facts.result !== null && agent.isTooLong(facts.result);
  return resumed && isTooLong && outcome.kind === 'fatal'
    ? { kind: 'session-gone', message: outcome.message }
    : outcome;
}

/** A promise counts only as a mention if the agent did not end well. */
function verdictOn(
  state: LoopState,
  outcome: Outcome,
  message: string | null,
  policy: Policy,
): PromiseVerdict {
  const own = ownTexts(policy, state.carry, state.task.current_iteration);
  const verdict = judgeMessage(message, policy, own);
  const isStated = verdict.kind === 'stated' || verdict.kind === 'in-doubt';
  return isStated && outcome.kind !== 'answered'
    ? { kind: 'near-miss', line: verdict.line, why: 'not-ended-well' }
    : verdict;
}

/** Adds what every attempt leaves in the state, counted or not: its cost, its session, its error. */
function withFacts(state: LoopState, event: AttemptEnded, outcome: Outcome): LoopState {
  const { facts } = event;
  let task: TaskState = {
    ...state.task,
    usage: addUsage(state.task.usage, facts.usage),
    session_id: facts.sessionId ?? state.task.session_id,
    timeout_at: laterBy(state.task.timeout_at, facts.retryWaitMs),
  };
  if (outcome.kind !== 'answered' && outcome.kind !== 'stopped' && outcome.kind !== 'bounded') {
    task = withError(task, {
      at: event.at,
      iteration: task.current_iteration,
      attempt: task.attempt,
      kind: outcome.kind === 'fatal' ? `fatal:${outcome.cause}` : outcome.kind,
      message: preview(describeOutcome(outcome), 200),
    });
  }
  return {
    ...state,
    task,
    trouble: { ...state.trouble, interrupted: 0 },
    attemptsUsage: addUsage(state.attemptsUsage, facts.usage),
    hasAnswered: state.hasAnswered || outcome.kind === 'answered',
  };
}

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
