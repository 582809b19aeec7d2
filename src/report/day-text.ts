import { type DayBudget, leftOf } from '../core/task/day-budget.ts';
import { formatCost } from './format.ts';

/** Says what all tasks together have spent of the budget of the day: `$3.20 of $5.00 spent, $1.80 left`. */
export function dayText(day: DayBudget): string {
  const { spentUsd, maxUsd } = day;
  return `${formatCost(spentUsd)} of ${formatCost(maxUsd)} spent, ${formatCost(leftOf(day))} left`;
}

/** Returns the budget of the day as JSON, in US dollars; null if there is none. */
export function dayJson(day: DayBudget | null): object | null {
  if (day === null) return null;
  const { spentUsd, maxUsd, until } = day;
  return { spent_usd: spentUsd, max_usd: maxUsd, left_usd: leftOf(day), until };
}
