import { AGENTS } from '../agent/agents/agents.ts';
import { isSpent, type RateLimitFacts } from '../agent/attempt.ts';
import { hasRoom } from '../task/day-budget.ts';
import type { Policy } from '../task/policy.ts';
import { laterBy, msBetween } from '../task/task-state.ts';
import { type Decided, type Decision, type End, type Moment, strayed } from './decision.ts';
import { end, TIME_OVER } from './ending.ts';
import type { EventOf } from './loop-event.ts';
import type { LoopState } from './loop-state.ts';

/** Continues after a counted iteration, with a pause of `delayMs`, or ends the task at a limit. */
export function nextIteration({ task }: LoopState, at: string, delayMs: number): Decision {
  const leftMs = msBetween(at, task.timeout_at);
  if (leftMs <= 0) return TIME_OVER;
  if (task.current_iteration >= task.max_iterations) {
    return end('max_iterations_reached', 'max_iterations');
  }
  // Do not wait if the pause outlasts the task: no iteration could follow it.
  if (leftMs <= delayMs) return TIME_OVER;
  return delayMs === 0
    ? { kind: 'start', prompt: 'next' }
    : { kind: 'wait', wait: { kind: 'delay', until: laterBy(at, delayMs) } };
}

/** Continues at once: with the next iteration, or with the same one if it was not counted. */
export function continueAtOnce(state: LoopState, moment: Moment): Decision {
  const { metrics, current_iteration } = state.task;
  const isCounted = metrics.iterations >= current_iteration;
  return (
    endBudget(state, moment) ??
    (isCounted ? nextIteration(state, moment.at, 0) : { kind: 'start', prompt: 'updated' })
  );
}

/** Ends the task if its budget is spent; returns null otherwise. */
export function endBudget({ task }: LoopState, { policy: { maxCostUsd } }: Moment): End | null {
  const spent = task.usage.cost_usd;
  if (maxCostUsd === null || !isSpent(spent, maxCostUsd)) return null;
  const error = `$${spent.toFixed(2)} of $${maxCostUsd.toFixed(2)} are spent`;
  return end('budget_spent', 'budget', { error });
}

/** Starts the agent if the budget of the day has room, and ends the task otherwise. */
export function dayCounted(
  state: LoopState,
  { day }: EventOf<'day-counted'>,
  { policy: { maxCostPerDay: maxUsd } }: Moment,
): Decided {
  const { step } = state;
  if (step.kind !== 'counting-day') return strayed(state);
  if (maxUsd === null || hasRoom(day, maxUsd)) {
    return { state, decision: { kind: 'start', prompt: step.prompt, dayHasRoom: true } };
  }
  const error = `all tasks together have spent $${day.spentUsd.toFixed(2)} of $${maxUsd.toFixed(2)} since midnight`;
  return { state, decision: end('budget_spent', 'day_budget', { error, until: day.until }) };
}

/** Ends the task if its budget or its time is used up; returns null otherwise. */
export function endUsedUp(state: LoopState, moment: Moment): End | null {
  const isLate = msBetween(moment.at, state.task.timeout_at) <= 0;
  return endBudget(state, moment) ?? (isLate ? TIME_OVER : null);
}

/** Ends the task if the account has used as much of its usage limit as `--max-usage` allows; returns null otherwise. */
export function endUsage(
  rateLimit: RateLimitFacts | null,
  { policy: { maxUsagePercent } }: Moment,
): End | null {
  const used = rateLimit?.utilization ?? null;
  if (maxUsagePercent === null || used === null || used < maxUsagePercent / 100) return null;
  const error = `${Math.round(used * 100)} % of the account's usage limit are used, and --max-usage is ${maxUsagePercent}`;
  return end('usage_limited', 'max_usage', { error, until: rateLimit?.resetsAt ?? null });
}

/** Returns the remaining budget in US dollars, at least 0.01; null if there is no budget. */
export function moneyLeft({ task }: LoopState, { maxCostUsd }: Policy): number | null {
  return maxCostUsd === null ? null : Math.max(0.01, maxCostUsd - task.usage.cost_usd);
}

/** Returns the remaining budget if the agent can enforce a budget itself; null otherwise. */
export function budgetLeft(state: LoopState, policy: Policy): number | null {
  const { budgetFlag } = AGENTS[policy.agent];
  if (budgetFlag === null || state.trouble.droppedFlags.includes(budgetFlag)) return null;
  return moneyLeft(state, policy);
}
