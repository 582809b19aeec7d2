import { type AttemptFacts, addUsage, type Usage } from '../agent/attempt.ts';
import type { Outcome } from '../agent/outcome.ts';
import { backQuestion } from '../completion/back-question.ts';
import { judgeMessage } from '../completion/conditions/conditions.ts';
import type { Policy } from '../task/policy.ts';
import { oneLine, tailOf } from '../text/untrusted-text.ts';
import { look, saysOtherwise } from './judge.ts';
import type { Answer, LoopState, Transition } from './loop-state.ts';
import { budgetLeft, endUsage } from './next-iteration.ts';
import { ownTexts } from './prompt.ts';
import { answerOf } from './record-iteration.ts';
import { endUsedUp } from './retry.ts';

/*
 * If the agent states the promise in a doubtful place, ralph asks it back, once per iteration and in the
 * same session. The first answer remains the iteration's answer; the reply only settles the doubt.
 *
 *   working ──in doubt──► asking-back ──┬─ it states the promise ──────────► judged: stated
 *                                       ├─ it says what is missing ────────► judged: a near miss, and the
 *                                       │                                    next prompt repeats the reply
 *                                       └─ limit, cut, failure, a crash ───► judged: a near miss
 */

/** Asks the agent whether it is done. Returns null if there is no doubt, or if a reply could not help. */
export function askBack(
  state: LoopState,
  answer: Answer,
  at: string,
  policy: Policy,
): Transition | null {
  const { verdict, facts } = answer;
  // An agent without sessions has no session id, so it cannot be asked.
  if (verdict.kind !== 'in-doubt' || facts.sessionId === null) return null;
  if (!policy.askBack || policy.promise === null) return null;
  if (!isWorthAsking(state, answer, at, policy)) return null;
  const task = { ...state.task, attempt: state.task.attempt + 1 };
  const { current_iteration: iteration, attempt } = task;
  const { line, where } = verdict;
  return {
    state: { ...state, task, step: { kind: 'asking-back', answer } },
    actions: [
      {
        kind: 'publish',
        body: { event: 'asked_back', iteration, attempt, line: oneLine(line, 200), where },
      },
      {
        kind: 'start-agent',
        iteration,
        attempt,
        prompt: { kind: 'question', text: backQuestion(policy.promise, where) },
        taskDeadlineAt: task.timeout_at,
        resumeSession: facts.sessionId,
        budgetUsd: budgetLeft(state, policy),
      },
    ],
  };
}

/** Whether a confirmed statement would be a claim, and money and time are left to ask for it. */
function isWorthAsking(state: LoopState, answer: Answer, at: string, policy: Policy): boolean {
  return (
    state.stopRequested === null &&
    answer.record.number >= policy.minIterations &&
    !saysOtherwise(state, answer, policy) &&
    endUsedUp(state, at, policy) === null &&
    endUsage(state, answer.facts.rateLimit, at, policy) === null
  );
}

/** Only the end of a longer reply is kept, since every saved step contains it. In UTF-16 code units. */
const LONGEST_REPLY = 20_000;

/** Handles the reply. The doubt is settled if the agent ended well and states the promise. */
export function replied(
  state: LoopState,
  answer: Answer,
  reply: { readonly outcome: Outcome; readonly facts: AttemptFacts },
  policy: Policy,
): Transition {
  const message = reply.outcome.kind === 'answered' ? reply.facts.finalMessage : null;
  const verdict = judgeMessage(message, policy, textsOf(state, answer, policy));
  // As with any answer, an agent that asks for an approval is not done.
  const isSettled =
    verdict.kind === 'stated' && !saysOtherwise(state, { ...answer, ...reply }, policy);
  const known = { ...answer, facts: together(answer.facts, reply.facts) };
  const settled: Answer = isSettled
    ? { ...known, verdict }
    : { ...known, ...(message === null ? {} : { reply: tailOf(message, LONGEST_REPLY) }) };
  return settle(state, settled);
}

/**
 * Handles a question whose driver died. To avoid paying twice, the question is repeated only if the lost
 * one cost nothing, and only once.
 */
export function questionLost(
  state: LoopState,
  answer: Answer,
  lost: Usage | null,
  at: string,
  policy: Policy,
): Transition {
  const isUnpaid = lost === null || Object.values(lost).every((amount) => amount === 0);
  const again =
    isUnpaid && state.trouble.interrupted <= 1 ? askBack(state, answer, at, policy) : null;
  return again ?? settle(state, answer);
}

/** Judges the iteration; its record includes the cost of the question. */
function settle(state: LoopState, answer: Answer): Transition {
  const startedAt = answer.record.started_at;
  return look(state, answerOf(state, { ...answer, startedAt }));
}

/** Everything that ralph has put into the session, so that an echo of it is no statement. */
function textsOf(state: LoopState, { verdict }: Answer, policy: Policy) {
  const own = ownTexts(policy, state.carry, state.task.current_iteration);
  if (verdict.kind !== 'in-doubt' || policy.promise === null) return own;
  const text = backQuestion(policy.promise, verdict.where);
  return [...own, { kind: 'sentence-wise' as const, text }];
}

/** The facts of the answer, plus what the question used. */
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
