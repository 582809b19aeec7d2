import { type AttemptFacts, addUsage, type Usage } from '../agent/attempt.ts';
import type { Outcome } from '../agent/outcome.ts';
import { backQuestion } from '../completion/back-question.ts';
import { judgeMessage } from '../completion/conditions/conditions.ts';
import { promptTexts } from '../prompt/prompt.ts';
import type { Policy } from '../task/policy.ts';
import { oneLine, tailOf } from '../text/untrusted-text.ts';
import { type Decided, type Moment, publish } from './decision.ts';
import { saysOtherwise } from './judge.ts';
import type { CountedAnswer, LoopState } from './loop-state.ts';
import { endUsage, endUsedUp } from './next-iteration.ts';
import { answerOf } from './record-iteration.ts';

/*
 * If the agent states the promise (the text that means "done") in a doubtful place, ralph asks whether the task is
 * done, once per iteration and in the same session. The first answer is what counts; the reply only settles the doubt.
 *
 *   working ──in doubt──► asking-back ──┬─ it states the promise ──────────► judged: stated
 *                                       ├─ it says what is missing ────────► judged: a near miss, and the
 *                                       │                                    next prompt repeats the reply
 *                                       └─ limit, cut, failure, a crash ───► judged: a near miss
 */

/**
 * Asks the agent whether it is done. Returns null if that is not in doubt, or the question is impossible or useless.
 */
export function askBack(state: LoopState, answer: CountedAnswer, moment: Moment): Decided | null {
  const { verdict, facts } = answer;
  const { policy } = moment;
  // Without a session id, the agent cannot be asked about its answer.
  if (verdict.kind !== 'in-doubt' || facts.sessionId === null) return null;
  if (!policy.askBack || policy.promise === null) return null;
  if (!isWorthAsking(state, answer, moment)) return null;
  const task = { ...state.task, attempt: state.task.attempt + 1 };
  const { current_iteration: iteration, attempt } = task;
  const { where } = verdict;
  const line = oneLine(verdict.line, 200);
  return {
    state: { ...state, task },
    announced: [publish({ event: 'asked_back', iteration, attempt, line, where })],
    decision: { kind: 'ask-back', answer, question: backQuestion(policy.promise, where) },
  };
}

/** Whether a confirmed promise would count as a claim of completion, and the limits leave room for the question. */
function isWorthAsking(state: LoopState, answer: CountedAnswer, moment: Moment): boolean {
  const { policy } = moment;
  return (
    state.stopRequested === null &&
    answer.record.number >= policy.minIterations &&
    !saysOtherwise(state, answer, policy) &&
    endUsedUp(state, moment) === null &&
    endUsage(answer.facts.rateLimit, moment) === null
  );
}

/** Counted in UTF-16 code units. Each saved state contains the reply, so only the end of a longer reply is stored. */
const LONGEST_REPLY = 20_000;

/** Handles the reply. The doubt is settled if the agent ended well and stated the promise. */
export function replied(
  state: LoopState,
  answer: CountedAnswer,
  reply: { readonly outcome: Outcome; readonly facts: AttemptFacts },
  { policy }: Moment,
): Decided {
  const message = reply.outcome.kind === 'answered' ? reply.facts.finalMessage : null;
  const verdict = judgeMessage(message, policy, textsOf(state, answer, policy));
  // An agent that gives up or asks for an approval is not done, whatever else it states.
  const isSettled =
    verdict.kind === 'stated' && !saysOtherwise(state, { ...answer, ...reply }, policy);
  const known = { ...answer, facts: together(answer.facts, reply.facts) };
  const settled: CountedAnswer = isSettled
    ? { ...known, verdict }
    : { ...known, ...(message === null ? {} : { reply: tailOf(message, LONGEST_REPLY) }) };
  return settle(state, settled, policy);
}

/**
 * Decides what follows if ralph died while the agent was asked. The question is repeated once, and only if the
 * lost attempt cost nothing, so that it is not paid for twice. It is not repeated for another agent, which does not
 * know the session.
 */
export function questionLost(
  state: LoopState,
  answer: CountedAnswer,
  lost: Usage | null,
  moment: Moment,
): Decided {
  const isUnpaid = lost === null || Object.values(lost).every((amount) => amount === 0);
  const { agent } = state.task;
  const knowsSession = agent === null || agent === moment.policy.agent;
  const mayAsk = isUnpaid && knowsSession && state.trouble.interrupted <= 1;
  const again = mayAsk ? askBack(state, answer, moment) : null;
  return again ?? settle(state, answer, moment.policy);
}

/** Decides to look at the work folder next. The record of the iteration then includes the cost of the question. */
function settle(state: LoopState, answer: CountedAnswer, policy: Policy): Decided {
  const settled = answerOf(state, { ...answer, startedAt: answer.record.started_at }, policy);
  return { state, decision: { kind: 'looking', answer: settled } };
}

/** Returns the texts that ralph put into the session. An echo of one of them does not count as a statement. */
function textsOf(state: LoopState, { verdict }: CountedAnswer, policy: Policy) {
  const own = promptTexts(policy, state.carry, state.task.current_iteration);
  if (verdict.kind !== 'in-doubt' || policy.promise === null) return own;
  const text = backQuestion(policy.promise, verdict.where);
  return [...own, { kind: 'sentence-wise' as const, text }];
}

/** Adds the time, usage and tools of the reply to the facts of the answer. */
function together(answer: AttemptFacts, reply: AttemptFacts): AttemptFacts {
  return {
    ...answer,
    durationMs: answer.durationMs + reply.durationMs,
    usage: addUsage(answer.usage, reply.usage),
    turns: answer.turns + reply.turns,
    tools: answer.tools + reply.tools,
    refused: [...answer.refused, ...reply.refused],
    rateLimit: reply.rateLimit ?? answer.rateLimit,
    stoppedSubAgents: answer.stoppedSubAgents + reply.stoppedSubAgents,
    leftovers: [...answer.leftovers, ...reply.leftovers],
  };
}
