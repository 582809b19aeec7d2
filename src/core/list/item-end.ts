import { isSpent } from '../agent/attempt.ts';
import { canTaskFix, type LandingRefusal } from '../snapshots/landing.ts';
import { type EndedStatus, endingRow } from '../task/endings.ts';
import type { TaskState } from '../task/task-state.ts';

/** What the end of an item's task means for the list. */
type ItemEnd =
  | 'done'
  /** The item is the cause: it waits for a person, and the list goes on. */
  | 'blocked'
  /** The next item would meet the same, or a person holds this one: the list ends, and the next run goes on with it. */
  | 'ends-list';

/** Failures that lie in the words of an item. */
const OF_ITEM = ['failed:refused-request', 'failed:slash-command'];

/** Returns what the end of an item's task means for the list. */
export function itemEnd(status: EndedStatus, exitReason: string | null): ItemEnd {
  const { verdict } = endingRow(status, exitReason);
  if (verdict === 'done') return 'done';
  const isOfItem =
    verdict === 'failed' ||
    (status === 'budget_spent' && exitReason === 'budget') ||
    (status === 'failed' && exitReason !== null && OF_ITEM.includes(exitReason));
  // A killed driver is an ending of its own once a task was interrupted too often.
  return isOfItem ? 'blocked' : 'ends-list';
}

/** Whether a task has nothing left of its iterations, or of what it may cost. */
export function isUsedUp(
  task: Pick<TaskState, 'current_iteration' | 'max_iterations' | 'usage'>,
  maxCostUsd: number | null,
): boolean {
  const { current_iteration, max_iterations, usage } = task;
  return (
    current_iteration >= max_iterations ||
    (maxCostUsd !== null && isSpent(usage.cost_usd, maxCostUsd))
  );
}

/** How often a landing that failed goes back to its item. */
export const MOST_RETURNS = 3;

/** What a landing that was refused means for its item, which is complete. */
export type RefusedItem =
  /** Its task goes on with the reason. */
  | 'goes-back'
  /** It waits for a person. */
  | 'blocked'
  /** It waits for a person, and so would the next ones: nothing more is started. */
  | 'blocks-list'
  /** The branch has moved: the same once more. */
  | 'try-again'
  /** ralph was stopped: the next run lands it. */
  | 'stopped';

/**
 * Returns what a landing that was refused means for an item that has gone back so often. A task that is used up would
 * end at once, and not be complete any more: it stays as it is, so that what a person fixes lands.
 */
export function refusedItem(
  why: LandingRefusal,
  { returned, isUsedUp }: { readonly returned: number; readonly isUsedUp: boolean },
): RefusedItem {
  if (canTaskFix(why)) return returned < MOST_RETURNS && !isUsedUp ? 'goes-back' : 'blocked';
  switch (why.kind) {
    case 'moved':
      return 'try-again';
    case 'stopped':
      return 'stopped';
    case 'failed':
    case 'half-moved':
    case 'shallow':
      return 'blocks-list';
    default:
      return 'blocked';
  }
}
