import path from 'node:path';
import { budgetOf, type DayBudget } from '../../core/task/day-budget.ts';
import { laterBy } from '../../core/task/task-state.ts';
import { createDayCounter, type DayCounter } from '../../effects/logs/day-spending.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import type { TaskEntry } from '../../effects/state/task-list.ts';
import { say } from '../terminal/outlet.ts';

/** Returns how much of a daily budget is spent at the instant `now`; null without a budget. */
export function dayOf(maxUsd: number | null, stateDir: string, now: string): DayBudget | null {
  if (maxUsd === null) return null;
  const count =
    counters.get(stateDir) ?? createDayCounter(path.join(stateDir, 'events.jsonl'), say);
  counters.set(stateDir, count);
  return budgetOf(count(now), maxUsd);
}

/** One counter for each state folder. They are kept, so that a view that is redrawn reports a failure only once. */
const counters = new Map<string, DayCounter>();

/** The settings of tasks that ended longer ago than this are not read, because there may be hundreds. */
const RECENT_MS = 24 * 60 * 60_000;

/**
 * Returns how much is spent of the highest daily budget among the tasks that are open or worked lately; null if no such
 * task has one. A task may have its own lower budget, for example because a resume gave it one.
 */
export function dayOfAll(
  entries: readonly TaskEntry[],
  stateDir: string,
  now: string,
): DayBudget | null {
  const since = laterBy(now, -RECENT_MS);
  const budgets = entries.flatMap(({ found, folder }) => {
    if (found.kind !== 'task') return [];
    const { finished_at, updated_at } = found.state;
    if (finished_at !== null && updated_at < since) return [];
    return readStoredRun(folder)?.settings.maxCostPerDay ?? [];
  });
  return budgets.length === 0 ? null : dayOf(Math.max(...budgets), stateDir, now);
}
