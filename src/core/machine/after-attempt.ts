import { AGENTS } from '../agent/agents/agents.ts';
import {
  type AttemptFacts,
  addUsage,
  type MetInSandbox,
  sessionUsageAfter,
  usageOfAttempt,
} from '../agent/attempt.ts';
import { classify } from '../agent/classify.ts';
import {
  type CountedOutcome,
  describeOutcome,
  inContext,
  isCounted,
  type Outcome,
} from '../agent/outcome.ts';
import { judgeMessage } from '../completion/conditions/conditions.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import { promptTexts } from '../prompt/prompt.ts';
import { preview } from '../secrets/secrets.ts';
import { agentNamed, type Policy } from '../task/policy.ts';
import { withinBounds, withMet } from '../task/task-sandbox.ts';
import { laterBy, type TaskState, withError } from '../task/task-state.ts';
import type { Announcement, Transition } from './action.ts';
import { askBack } from './asking-back.ts';
import { type Decided, type Moment, publish } from './decision.ts';
import type { EventOf } from './loop-event.ts';
import type { LoopState } from './loop-state.ts';
import { answerOf } from './record-iteration.ts';
import { withoutTrouble, withUsageOfAgent } from './shifts.ts';

/**
 * Returns the event with this attempt's usage only. If the agent reports its session's total, the state keeps that.
 */
export function withOwnUsage(
  state: LoopState,
  event: EventOf<'attempt-ended'>,
): { readonly state: LoopState; readonly event: EventOf<'attempt-ended'> } {
  const { facts } = event;
  const { session_usage: told } = state.task;
  return {
    state: {
      ...state,
      task: { ...state.task, session_usage: sessionUsageAfter(facts, told) },
    },
    event: { ...event, facts: { ...facts, usage: usageOfAttempt(facts, told) } },
  };
}

/** Stores and announces what the sandbox refused or noticed in an attempt, counted or not, or in a check. */
export function withMetInSandbox(
  state: LoopState,
  raw: MetInSandbox,
  { inSandbox }: Policy,
): Transition {
  const rules = inSandbox?.rules ?? null;
  const met = withinBounds(raw, rules);
  const { sandbox: before, current_iteration: iteration } = state.task;
  const sandbox = before === null ? null : withMet(before, met, rules);
  const { refused = 0, planted = 0 } = met.more ?? {};
  const moreAt = (index: number, listed: readonly unknown[], more: number): { more?: number } =>
    more > 0 && index === listed.length - 1 ? { more } : {};
  return {
    state: {
      ...state,
      task: { ...state.task, sandbox },
      // Only hosts that were refused to the agent itself go into the next prompt, not those refused to a check.
      ...(state.step.kind === 'working' ? { refusedHosts: met.refused } : {}),
    },
    actions: [
      ...met.refused.map((each, index) =>
        publish({
          ...{ event: 'sandbox_refused', iteration, ...each },
          ...moreAt(index, met.refused, refused),
        }),
      ),
      ...met.planted.map((path, index) =>
        publish({
          ...{ event: 'sandbox_planted', iteration, path },
          ...moreAt(index, met.planted, planted),
        }),
      ),
    ],
  };
}

/** Returns the outcome of an attempt, and the state with the attempt's cost, session and error added. */
export function withAttempt(
  state: LoopState,
  event: EventOf<'attempt-ended'>,
  moment: Moment,
): { readonly state: LoopState; readonly outcome: Outcome } {
  const outcome = outcomeOf(state, event, moment);
  return { state: withFacts(state, event, outcome, moment.policy), outcome };
}

/** Decides what follows a counted attempt: a question to the agent whether it is done, or a look at its work. */
export function afterCounted(
  state: LoopState,
  outcome: CountedOutcome,
  { facts, startedAt }: EventOf<'attempt-ended'>,
  moment: Moment,
): Decided {
  const verdict = verdictOn(state, outcome, facts, moment.policy);
  const answer = answerOf(state, { outcome, verdict, facts, startedAt }, moment.policy);
  return askBack(state, answer, moment) ?? { state, decision: { kind: 'looking', answer } };
}

/** Classifies the attempt. What some outcomes mean depends on whether the attempt resumed a session. */
function outcomeOf(
  { step, task }: LoopState,
  { facts }: EventOf<'attempt-ended'>,
  { at, policy }: Moment,
): Outcome {
  const agent = AGENTS[policy.agent];
  const resumed = step.kind === 'working' && step.resumed;
  const outcome = classify(facts, agent, at, policy, task.task_prompt);
  // The reply to the question whether the agent is done never changes the outcome: the agent's first answer is judged.
  return step.kind === 'asking-back' ? outcome : inContext(outcome, facts, resumed);
}

/**
 * Judges the final message. The promise (the text that means "done") counts only as a near miss if the agent did not
 * end well, or if a stop hook (a command of the agent that can keep it from ending) rejected that message.
 */
function verdictOn(
  state: LoopState,
  outcome: Outcome,
  { finalMessage, hook }: AttemptFacts,
  policy: Policy,
): PromiseVerdict {
  const own = promptTexts(policy, state.carry, state.task.current_iteration);
  const verdict = judgeMessage(finalMessage, policy, own);
  const isStated = verdict.kind === 'stated' || verdict.kind === 'in-doubt';
  if (!isStated) return verdict;
  const { line } = verdict;
  if (outcome.kind !== 'answered') return { kind: 'near-miss', line, why: 'not-ended-well' };
  return hook?.did === 'held'
    ? { kind: 'near-miss', line, why: 'stop-hook', said: hook.said }
    : verdict;
}

/** Notes which tool servers (MCP) the agent could not use, and announces each of them once per run. */
export function withLostServers(
  state: LoopState,
  { facts: { lostServers = [] } }: EventOf<'attempt-ended'>,
): { readonly state: LoopState; readonly told: readonly Announcement[] } {
  const { toldServers = [], task } = state;
  const news = lostServers.filter(({ server }) => !toldServers.includes(server));
  if (news.length === 0) return { state, told: [] };
  return {
    state: { ...state, toldServers: [...toldServers, ...news.map(({ server }) => server)] },
    told: news.map((lost) =>
      publish({ event: 'mcp_unavailable', iteration: task.current_iteration, ...lost }),
    ),
  };
}

/** Adds the cost, the session and the error of an attempt to the state. */
function withFacts(
  state: LoopState,
  event: EventOf<'attempt-ended'>,
  outcome: Outcome,
  policy: Policy,
): LoopState {
  const { facts } = event;
  let task: TaskState = {
    ...state.task,
    usage: addUsage(state.task.usage, facts.usage),
    session_id: sessionAfter(state.task, facts, outcome),
    timeout_at: laterBy(state.task.timeout_at, facts.retryWaitMs),
  };
  task = withUsageOfAgent(task, policy, facts.usage);
  if (isCounted(outcome)) task = withoutTrouble(task, policy);
  if (outcome.kind !== 'answered' && outcome.kind !== 'stopped' && outcome.kind !== 'bounded') {
    task = withError(task, {
      at: event.at,
      iteration: task.current_iteration,
      attempt: task.attempt,
      ...agentNamed(policy),
      kind: outcome.kind === 'fatal' ? `fatal:${outcome.cause}` : outcome.kind,
      message: preview(outcome.kind === 'fatal' ? outcome.message : describeOutcome(outcome), 300),
    });
  }
  return {
    ...state,
    task,
    trouble: { ...state.trouble, interrupted: 0, ...(facts.worked ? { failedStarts: 0 } : {}) },
    attemptsUsage: addUsage(state.attemptsUsage, facts.usage),
    hasAnswered: state.hasAnswered || outcome.kind === 'answered',
  };
}

/**
 * Returns the session to resume: this attempt's if the model worked, else the earlier one; null if an error ended it.
 */
function sessionAfter(
  { session_id: before }: TaskState,
  { sessionId, worked }: AttemptFacts,
  outcome: Outcome,
): string | null {
  if (outcome.kind === 'errored' && outcome.endsSession === true) return null;
  return worked ? (sessionId ?? before) : before;
}
