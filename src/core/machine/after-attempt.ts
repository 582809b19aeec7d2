import { AGENTS } from '../agent/agents/agents.ts';
import { addUsage } from '../agent/attempt.ts';
import { classify } from '../agent/classify.ts';
import { type CountedOutcome, describeOutcome, type Outcome } from '../agent/outcome.ts';
import { judgeMessage } from '../completion/conditions/conditions.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import { ownTexts } from '../prompt/prompt.ts';
import { preview } from '../secrets/secrets.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, type TaskState, withError } from '../task/task-state.ts';
import { askBack } from './asking-back.ts';
import type { Decided, Moment } from './decision.ts';
import type { EventOf, LoopState } from './loop-state.ts';
import { answerOf } from './record-iteration.ts';

/** Classifies an attempt, and adds what it leaves in the state, counted or not. */
export function withAttempt(
  state: LoopState,
  event: EventOf<'attempt-ended'>,
  moment: Moment,
): { readonly state: LoopState; readonly outcome: Outcome } {
  const outcome = outcomeOf(state, event, moment);
  return { state: withFacts(state, event, outcome), outcome };
}

/** Decides what follows an attempt that is counted: a question to the agent, or a look at its work. */
export function counted(
  state: LoopState,
  outcome: CountedOutcome,
  { facts, startedAt }: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  const verdict = verdictOn(state, outcome, facts.finalMessage, moment.policy);
  const answer = answerOf(state, { outcome, verdict, facts, startedAt });
  return askBack(state, answer, moment) ?? { state, decision: { kind: 'looking', answer } };
}

/**
 * Classifies the attempt, corrected by whether its session was resumed. If the prompt is too long in a
 * resumed session, the session is to blame, so it counts as gone. If a session is missing that ralph did
 * not resume, the user asked for it: starting again would fail the same way, so it is an error.
 */
function outcomeOf(
  { step }: LoopState,
  { facts }: EventOf<'attempt-ended'>,
  { at, policy }: Moment,
): Outcome {
  const agent = AGENTS[policy.agent];
  const outcome = classify(facts, agent, at, policy);
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

/** Adds the cost, the session and the error of an attempt. */
function withFacts(state: LoopState, event: EventOf<'attempt-ended'>, outcome: Outcome): LoopState {
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
