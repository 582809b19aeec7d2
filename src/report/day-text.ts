import type { DayBudget } from '../core/task/day-budget.ts';
import { formatCost } from './format.ts';

/** Says how much of the day's budget all tasks have spent: `$3.20 of $5.00 spent, $1.80 left`. */
export function dayText({ spentUsd, maxUsd, leftUsd }: DayBudget): string {
  return `${formatCost(spentUsd)} of ${formatCost(maxUsd)} spent, ${formatCost(leftUsd)} left`;
}

/** Returns the budget of the day as JSON, in US dollars. */
export function dayJson({ spentUsd, maxUsd, leftUsd, until }: DayBudget): object {
  return { spent_usd: spentUsd, max_usd: maxUsd, left_usd: leftUsd, until };
}
