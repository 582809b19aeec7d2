import path from 'node:path';
import { budgetOf, type DayBudget } from '../../core/task/day-budget.ts';
import { laterBy } from '../../core/task/task-state.ts';
import { createDayCounter, type DayCounter } from '../../effects/logs/day-spending.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import type { TaskEntry } from '../../effects/state/task-list.ts';
import { say } from '../terminal/outlet.ts';

/** Returns what is spent of a budget of the day, at the instant `now`; null without a budget. */
export function dayOf(maxUsd: number | null, stateDir: string, now: string): DayBudget | null {
  if (maxUsd === null) return null;
  const count =
    counters.get(stateDir) ?? createDayCounter(path.join(stateDir, 'events.jsonl'), say);
  counters.set(stateDir, count);
  return budgetOf(count(now), maxUsd);
}

/** One for each state folder, so that a view that lasts says a failure once. */
const counters = new Map<string, DayCounter>();

/** The settings of tasks that ended longer ago are not read: there may be hundreds. */
const RECENT_MS = 24 * 60 * 60_000;

/**
 * Returns what is spent of the highest budget of the day among the tasks that are open or worked lately; null
 * if none has one. A task may have a lower one of its own, for example since it was resumed with it.
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
