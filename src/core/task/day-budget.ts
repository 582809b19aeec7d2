import { isSpent } from '../agent/attempt.ts';

/*
 * What the tasks of a vault (a folder of task files) spend in one day, as their journal (event log) shows it. An
 * iteration counts once it has ended, with all its attempts. A failed attempt counts even before that, as soon as
 * another event reports what its task has used.
 */

/** What the tasks of a vault have spent on the current day of the user's time zone. */
export interface DaySpending {
  readonly spentUsd: number;
  /** When the next day begins, as an ISO instant. */
  readonly until: string;
}

/** The budget of the current day, and what is spent and left of it. */
export interface DayBudget extends DaySpending {
  readonly maxUsd: number;
  /** 0 if the budget is spent, so that no iteration may start. */
  readonly leftUsd: number;
}

/** Whether the budget of the day allows another iteration. */
export function hasRoom({ spentUsd }: DaySpending, maxUsd: number): boolean {
  return !isSpent(spentUsd, maxUsd);
}

/** Compares what a day has spent with its budget. */
export function budgetOf(day: DaySpending, maxUsd: number): DayBudget {
  return { ...day, maxUsd, leftUsd: hasRoom(day, maxUsd) ? maxUsd - day.spentUsd : 0 };
}

/** What an event of the journal tells about the money of its task. */
export type MoneyEvent =
  | { readonly kind: 'task-started' }
  /** `usedUsd`: what the task had used by then. */
  | { readonly kind: 'attempt-started'; readonly attempt: number; readonly usedUsd: number }
  | { readonly kind: 'iterated'; readonly costUsd: number }
  | { readonly kind: 'judged'; readonly costUsd: number }
  | { readonly kind: 'task-ended'; readonly usedUsd: number };

/** What one task has spent on the day, by the events of its journal that were added so far. */
export interface TaskSpending {
  /** US dollars for the iterations that have ended or were abandoned. */
  readonly endedUsd: number;
  /** US dollars for the failed attempts of the iteration that has not ended. */
  readonly openUsd: number;
  /** What the task had used when the open iteration began; null if none is open, or if the amount is unknown. */
  readonly beforeUsd: number | null;
}

export const NOTHING_SPENT: TaskSpending = { endedUsd: 0, openUsd: 0, beforeUsd: null };

/** Adds an event of a task. The events must come in the order in which they happened. */
export function withMoney(spending: TaskSpending, event: MoneyEvent): TaskSpending {
  const { endedUsd, openUsd, beforeUsd } = spending;
  switch (event.kind) {
    case 'task-started':
      return { ...NOTHING_SPENT, endedUsd: endedUsd + openUsd };
    case 'attempt-started':
      if (event.attempt > 1) return withUsed(spending, event.usedUsd);
      return { endedUsd: endedUsd + openUsd, openUsd: 0, beforeUsd: event.usedUsd };
    case 'iterated':
      return { ...NOTHING_SPENT, endedUsd: endedUsd + event.costUsd };
    case 'judged':
      // The judge's cost is not part of any iteration, ended or open.
      return {
        ...{ endedUsd: endedUsd + event.costUsd, openUsd },
        beforeUsd: beforeUsd === null ? null : beforeUsd + event.costUsd,
      };
    case 'task-ended':
      // Without an open iteration, every cost is counted already.
      return beforeUsd === null ? spending : withUsed(spending, event.usedUsd);
  }
}

/** Counts what the open iteration has cost so far. Its cost before the first event that was added is unknown and left out. */
function withUsed(spending: TaskSpending, usedUsd: number): TaskSpending {
  const beforeUsd = spending.beforeUsd ?? usedUsd;
  return { ...spending, beforeUsd, openUsd: Math.max(0, usedUsd - beforeUsd) };
}
