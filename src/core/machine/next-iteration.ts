import { NO_USAGE, type RateLimitFacts } from '../agent/attempt.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, msBetween, type TaskState, type Wait } from '../task/task-state.ts';
import { end, endStopped } from './ending.ts';
import { waitingHints } from './hints.ts';
import { type LoopState, NO_TROUBLE, type Transition } from './loop-state.ts';
import { buildAddition } from './prompt.ts';

/** The flag by which `claude` is told what it may spend; older versions do not know it. */
export const BUDGET_FLAG = '--max-budget-usd';

/** Starts the agent, unless the time for the whole task is over. */
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
  // A further attempt of the same iteration is told the same; what came meanwhile waits.
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
          // A session of its own remembers what it said.
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

/** Goes on after an iteration that did not complete the task, or ends where a limit is reached. */
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
  // A pause that outlasts the task is not waited for: nothing could follow it.
  if (msBetween(at, task.timeout_at) <= policy.delayMs) return endByTime(rested, at);
  return waitUntil(rested, at, { kind: 'delay', until: laterBy(at, policy.delayMs) });
}

/** Starts what is to be started next, without a pause before it. */
export function startNext(state: LoopState, at: string, policy: Policy): Transition {
  const { task } = state;
  if (!isCounted(task)) {
    // What was said meanwhile is told at once, though the iteration is an old one.
    const hints = waitingHints([...state.carry.hints, ...state.hints]);
    const told = { ...state, carry: { ...state.carry, hints }, hints: [] };
    return startAttempt(told, task.current_iteration, task.attempt + 1, at, policy);
  }
  if (msBetween(at, task.timeout_at) <= 0) return endByTime(state, at);
  if (task.current_iteration >= task.max_iterations) return endExhausted(state, at);
  const rested: LoopState = { ...state, attemptsUsage: NO_USAGE };
  return startAttempt(rested, task.current_iteration + 1, 1, at, policy);
}

/** Whether the iteration with the newest number has been counted. */
function isCounted(task: TaskState): boolean {
  return task.metrics.iterations >= task.current_iteration;
}

/** Ends the loop if somebody has asked for it; null otherwise. */
function endAsAsked(state: LoopState, at: string): Transition | null {
  if (state.stopRequested !== null) return endStopped(state, at, state.stopRequested);
  return state.pauseRequested ? end(state, at, { status: 'paused', exitReason: 'paused' }) : null;
}

/** Holds the loop until an instant. */
export function waitUntil(state: LoopState, at: string, wait: Wait): Transition {
  const asked = endAsAsked(state, at);
  if (asked !== null) return asked;
  return {
    state: { ...state, step: { kind: 'waiting' }, task: { ...state.task, wait } },
    actions: [{ kind: 'wait', until: wait.until }],
  };
}

/** Ends the task because its iterations are used up. */
function endExhausted(state: LoopState, at: string): Transition {
  return end(state, at, {
    status: 'max_iterations_reached',
    exitReason: 'max_iterations',
  });
}

/** Ends the task because its time is over. */
export function endByTime(state: LoopState, at: string): Transition {
  return end(state, at, {
    status: 'timeout',
    exitReason: 'timeout',
  });
}

/** Sums of costs miss by tiny amounts. */
const ROUNDING_USD = 1e-9;

/** Ends the task if its money is spent; null otherwise. */
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

/** Ends the task if the account has used as much of its limit as it may; null otherwise. */
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

/** What an agent that can keep to a budget is told; at least a cent, since 0 is no budget. */
export function budgetLeft(state: LoopState, policy: Policy): number | null {
  if (policy.maxCostUsd === null || state.trouble.droppedFlags.includes(BUDGET_FLAG)) return null;
  return Math.max(0.01, policy.maxCostUsd - state.task.usage.cost_usd);
}
