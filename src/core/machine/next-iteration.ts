import { AGENTS } from '../agent/agents/agents.ts';
import { NO_USAGE, type RateLimitFacts } from '../agent/attempt.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, msBetween, type TaskState, type Wait } from '../task/task-state.ts';
import { end, endStopped } from './ending.ts';
import { waitingHints } from './hints.ts';
import { type LoopState, NO_TROUBLE, type Transition } from './loop-state.ts';
import { buildAddition } from './prompt.ts';

/** Starts the agent, unless a stop or a pause was requested or the time for the whole task is over. */
export function startAttempt(
  state: LoopState,
  iteration: number,
  attempt: number,
  at: string,
  policy: Policy,
): Transition {
  const asked = endAsAsked(state, at);
  if (asked !== null) return asked;
  if (msBetween(at, state.task.timeout_at) <= 0) return endByTime(state, at);
  const task = { ...state.task, current_iteration: iteration, attempt };
  // A retry repeats the same prompt; hints that arrived since wait for the next iteration.
  const carry = attempt === 1 ? { ...state.carry, hints: state.hints } : state.carry;
  const session = policy.session === 'continue' && iteration > 1 ? task.session_id : null;
  return {
    state: {
      ...state,
      task,
      carry,
      hints: attempt === 1 ? [] : state.hints,
      step: { kind: 'working', resumed: session !== null },
    },
    actions: [
      {
        kind: 'publish',
        body: {
          event: 'iteration_started',
          iteration,
          max_iterations: task.max_iterations,
          attempt,
          timeout_at: task.timeout_at,
          usage: task.usage,
        },
      },
      {
        kind: 'start-agent',
        iteration,
        attempt,
        prompt: {
          kind: 'task',
          // A resumed session already contains the agent's earlier output.
          addition: buildAddition(
            policy,
            session === null ? carry : { ...carry, output: null },
            iteration,
          ),
        },
        taskDeadlineAt: task.timeout_at,
        resumeSession: session,
        budgetUsd: budgetLeft(state, policy),
      },
    ],
  };
}

/** Continues after an iteration that did not complete the task, or ends the task at a limit. */
export function goOn(state: LoopState, at: string, policy: Policy): Transition {
  const { task } = state;
  if (msBetween(at, task.timeout_at) <= 0) return endByTime(state, at);
  if (task.current_iteration >= task.max_iterations) return endExhausted(state, at);
  const rested: LoopState = {
    ...state,
    attemptsUsage: NO_USAGE,
    trouble: { ...NO_TROUBLE, droppedFlags: state.trouble.droppedFlags },
  };
  if (policy.delayMs === 0) return startAttempt(rested, task.current_iteration + 1, 1, at, policy);
  // Do not wait if the pause outlasts the task: no iteration could follow it.
  if (msBetween(at, task.timeout_at) <= policy.delayMs) return endByTime(rested, at);
  return waitUntil(rested, at, { kind: 'delay', until: laterBy(at, policy.delayMs) });
}

/** Retries an iteration that was not counted, or starts the next one, without a pause. */
export function startNext(state: LoopState, at: string, policy: Policy): Transition {
  const { task } = state;
  if (!isCounted(task)) {
    // Hints that arrived since go into the prompt at once, although this is not a new iteration.
    const hints = waitingHints([...state.carry.hints, ...state.hints]);
    const told = { ...state, carry: { ...state.carry, hints }, hints: [] };
    return startAttempt(told, task.current_iteration, task.attempt + 1, at, policy);
  }
  if (msBetween(at, task.timeout_at) <= 0) return endByTime(state, at);
  if (task.current_iteration >= task.max_iterations) return endExhausted(state, at);
  const rested: LoopState = { ...state, attemptsUsage: NO_USAGE };
  return startAttempt(rested, task.current_iteration + 1, 1, at, policy);
}

/** Whether the current iteration has been counted. */
function isCounted(task: TaskState): boolean {
  return task.metrics.iterations >= task.current_iteration;
}

/** Ends the loop if a stop or a pause was requested; returns null otherwise. */
function endAsAsked(state: LoopState, at: string): Transition | null {
  if (state.stopRequested !== null) return endStopped(state, at, state.stopRequested);
  return state.pauseRequested ? end(state, at, { status: 'paused', exitReason: 'paused' }) : null;
}

/** Makes the loop wait, unless a stop or a pause was requested. */
export function waitUntil(state: LoopState, at: string, wait: Wait): Transition {
  const asked = endAsAsked(state, at);
  if (asked !== null) return asked;
  return {
    state: { ...state, step: { kind: 'waiting' }, task: { ...state.task, wait } },
    actions: [{ kind: 'wait', until: wait.until }],
  };
}

function endExhausted(state: LoopState, at: string): Transition {
  return end(state, at, {
    status: 'max_iterations_reached',
    exitReason: 'max_iterations',
  });
}

export function endByTime(state: LoopState, at: string): Transition {
  return end(state, at, {
    status: 'timeout',
    exitReason: 'timeout',
  });
}

/** Tolerance for rounding errors in sums of costs. */
const ROUNDING_USD = 1e-9;

/** Ends the task if its budget is spent; returns null otherwise. */
export function endBudget(state: LoopState, at: string, policy: Policy): Transition | null {
  const { maxCostUsd } = policy;
  const spent = state.task.usage.cost_usd;
  if (maxCostUsd === null || spent < maxCostUsd - ROUNDING_USD) return null;
  return end(state, at, {
    status: 'budget_spent',
    exitReason: 'budget',
    error: `$${spent.toFixed(2)} of $${maxCostUsd.toFixed(2)} are spent`,
  });
}

/** Ends the task if the account has used its allowed share of the plan limit; returns null otherwise. */
export function endUsage(
  state: LoopState,
  rateLimit: RateLimitFacts | null,
  at: string,
  policy: Policy,
): Transition | null {
  const { maxUsagePercent } = policy;
  const used = rateLimit?.utilization ?? null;
  if (maxUsagePercent === null || used === null || used < maxUsagePercent / 100) return null;
  return end(state, at, {
    status: 'usage_limited',
    exitReason: 'max_usage',
    error: `${Math.round(used * 100)} % of the account's usage limit are used, and --max-usage is ${maxUsagePercent}`,
    until: rateLimit?.resetsAt ?? null,
  });
}

/** The budget to pass to an agent that can enforce one. At least a cent, since 0 is not a budget. */
export function budgetLeft(state: LoopState, policy: Policy): number | null {
  const { budgetFlag } = AGENTS[policy.agent];
  if (policy.maxCostUsd === null || budgetFlag === null) return null;
  if (state.trouble.droppedFlags.includes(budgetFlag)) return null;
  return Math.max(0.01, policy.maxCostUsd - state.task.usage.cost_usd);
}
