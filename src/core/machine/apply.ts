import { NO_USAGE } from '../agent/attempt.ts';
import { wantsBaseline } from '../completion/check-result.ts';
import { waitingHints } from '../prompt/hints.ts';
import { buildAddition } from '../prompt/prompt.ts';
import { limitsOf } from '../supervisor/signs.ts';
import { agentNamed, type Policy } from '../task/policy.ts';
import { msBetween } from '../task/task-state.ts';
import type { Action, AgentPrompt, Transition } from './action.ts';
import { toJudgeOf } from './checking.ts';
import { type Decided, type Decision, type End, type Moment, publish } from './decision.ts';
import { announcedAgain, endTask, PAUSED, stoppedBy, TIME_OVER } from './ending.ts';
import { type Ending, type LoopState, NO_TROUBLE } from './loop-state.ts';
import { budgetLeft, moneyLeft } from './next-iteration.ts';
import { iteratedEvent } from './record-iteration.ts';
import { treeLeft, treeToSettle } from './settling.ts';
import { onShift, takeShift } from './shifts.ts';

/** Builds the next state and the actions from what a step has decided. */
export function apply({ state, announced = [], decision }: Decided, moment: Moment): Transition {
  if (decision === null) return { state, actions: announced };
  const next = carryOut(state, insteadOf(state, decision, moment) ?? decision, moment);
  return { state: next.state, actions: [...announced, ...next.actions] };
}

/** Returns the task's end if a stop or pause forbids a start or a wait, or the time limit forbids a start; or null. */
function endInstead(state: LoopState, { kind }: Decision, at: string): End | null {
  const isStart = kind === 'start';
  // The repeated wait of a resumed task is not replaced: a stop or pause request cuts that wait short anyway.
  const isWait = kind === 'wait' && state.step.kind !== 'waiting';
  if (!isStart && !isWait) return null;
  if (state.stopRequested !== null) return stoppedBy(state.stopRequested);
  if (state.pauseRequested) return PAUSED;
  return isStart && msBetween(at, state.task.timeout_at) <= 0 ? TIME_OVER : null;
}

/** Returns what is carried out instead of `decision`: an end, or a step that must come before a start; or null. */
function insteadOf(state: LoopState, decision: Decision, { at, policy }: Moment): Decision | null {
  const ended = endInstead(state, decision, at);
  if (ended !== null) return ended;
  if (decision.kind !== 'start') return null;
  const isFirst = state.task.current_iteration === 0;
  if (isFirst && state.checksAtStart === undefined && wantsBaseline(policy)) {
    return { kind: 'measuring', results: [] };
  }
  return policy.maxCostPerDay === null || decision.dayHasRoom === true
    ? null
    : { kind: 'counting-day', prompt: decision.prompt };
}

function carryOut(state: LoopState, decision: Decision, { at, policy }: Moment): Transition {
  switch (decision.kind) {
    case 'end': {
      const { task, ending } = endTask(state.task, at, decision, policy);
      return to({ ...state, step: { kind: 'ended' }, task }, stop(state, ending, policy));
    }
    case 'announce-end': {
      const { task, ending } = announcedAgain(state.task);
      return to({ ...state, task }, stop(state, ending, policy));
    }
    case 'start': {
      const taken = takeShift(state, decision, { at, policy });
      const next =
        taken.decision?.kind === 'start'
          ? start(taken.state, taken.decision.prompt, onShift(policy, taken.state.task))
          : apply({ ...taken, announced: [] }, { at, policy });
      return { state: next.state, actions: [...(taken.announced ?? []), ...next.actions] };
    }
    case 'ask-back': {
      const { answer, question: text } = decision;
      const asking: LoopState = { ...state, step: { kind: 'asking-back', answer } };
      const { sessionId } = answer.facts;
      return to(asking, startAgent(asking, { kind: 'question', text }, sessionId, policy));
    }
    case 'counting-day':
      return to({ ...state, step: decision }, { kind: 'count-day' });
    case 'looking':
      return to({ ...state, step: decision }, { kind: 'look' });
    case 'measuring':
    case 'verifying': {
      const check = policy.verify[decision.results.length];
      if (check === undefined) throw new Error('there is no check left to run');
      const forClaim = decision.kind === 'verifying' && decision.forClaim;
      return to({ ...state, step: decision }, { kind: 'verify', check, forClaim });
    }
    case 'examining': {
      const { part, checks } = decision;
      const { rewritten = [], task } = state;
      const toJudge = part === 'judge' ? { toJudge: toJudgeOf(state, decision) } : {};
      const about = { iteration: task.current_iteration, rewritten, ...toJudge };
      return to({ ...state, step: decision }, { kind: 'examine', part, checks, ...about });
    }
    case 'settling': {
      // A task that is already in this step was resumed, because the ralph process that ran it died in this step.
      const again = state.step.kind === 'settling';
      const tree = treeToSettle(state.streaks, decision.answer, policy, again);
      return to({ ...state, step: decision }, { kind: 'settle-tree', by: decision.by, ...tree });
    }
    case 'following': {
      const body = iteratedEvent(state, decision.answer);
      const command = policy.after ?? '';
      return to({ ...state, step: decision }, { kind: 'run-after', command, body });
    }
    case 'wait': {
      const { wait } = decision;
      const task = { ...state.task, wait };
      return to({ ...state, step: { kind: 'waiting' }, task }, { kind: 'wait', until: wait.until });
    }
    case 'request-approval': {
      const { approval } = decision;
      const paused = { status: 'paused_awaiting_approval', paused_for_approval: true } as const;
      const task = { ...state.task, ...paused, approval, wait: null };
      return to({ ...state, step: { kind: 'approving' }, task }, decision);
    }
    case 'await-approval':
      return to(state, { ...decision, patiently: !policy.noWait });
  }
}

function stop(state: LoopState, ending: Ending, policy: Policy): Action {
  return { kind: 'stop', ending, left: treeLeft(state, policy) };
}

function to(state: LoopState, ...actions: readonly Action[]): Transition {
  return { state, actions };
}

function start(before: LoopState, prompt: 'next' | 'same' | 'updated', policy: Policy): Transition {
  const isNew = prompt === 'next';
  const iteration = before.task.current_iteration + (isNew ? 1 : 0);
  const attempt = isNew ? 1 : before.task.attempt + 1;
  const task = { ...before.task, current_iteration: iteration, attempt, wait: null };
  const session = policy.session === 'continue' && iteration > 1 ? task.session_id : null;
  // The `same` prompt must not change, so newer hints wait for the next prompt.
  const isSame = prompt === 'same';
  const hints = isSame ? before.carry.hints : [...before.carry.hints, ...before.hints];
  const carry = { ...before.carry, hints: waitingHints(hints) };
  const { droppedFlags } = before.trouble;
  const state: LoopState = {
    ...before,
    task,
    carry,
    hints: isSame ? before.hints : [],
    ...(isNew ? { attemptsUsage: NO_USAGE, trouble: { ...NO_TROUBLE, droppedFlags } } : {}),
    step: { kind: 'working', resumed: session !== null },
  };
  // A resumed session already contains the agent's earlier output.
  const told = session === null ? carry : { ...carry, output: null };
  const addition = buildAddition(policy, told, iteration);
  const { max_iterations, timeout_at, usage } = task;
  const counts = { iteration, max_iterations, attempt, ...agentNamed(policy) };
  return to(
    state,
    publish({ event: 'iteration_started', ...counts, timeout_at, usage }),
    startAgent(state, { kind: 'task', addition }, session, policy),
  );
}

function startAgent(
  state: LoopState,
  prompt: AgentPrompt,
  resumeSession: string | null,
  policy: Policy,
): Action {
  const { current_iteration: iteration, attempt, timeout_at: taskDeadlineAt } = state.task;
  const budgetUsd = budgetLeft(state, policy);
  const limits = limitsOf(policy, policy.agent, moneyLeft(state, policy));
  return {
    kind: 'start-agent',
    ...{ agent: policy.agent, iteration, attempt, prompt, taskDeadlineAt },
    ...{ resumeSession, budgetUsd, limits },
  };
}
