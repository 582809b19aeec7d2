import { isSpent } from '../agent/attempt.ts';
import { canTaskFix, type LandingRefusal } from '../snapshots/landing.ts';
import { type EndedStatus, endingRow } from '../task/endings.ts';
import type { TaskState } from '../task/task-state.ts';

type ItemEnd =
  | 'done'
  /** The task ended because of the item: the item waits for a person, and the list goes on. */
  | 'blocked'
  /** The next item would fail in the same way, or this item's task has to be resumed. So this run of the list ends. */
  | 'ends-list';

/** Failures that the text of an item causes. */
const OF_ITEM = ['failed:refused-request', 'failed:slash-command'];

/** Returns the consequence for the list when an item's task has ended. */
export function itemEnd(status: EndedStatus, exitReason: string | null): ItemEnd {
  const { verdict } = endingRow(status, exitReason);
  if (verdict === 'done') return 'done';
  const isOfItem =
    verdict === 'failed' ||
    (status === 'budget_spent' && exitReason === 'budget') ||
    (status === 'failed' && exitReason !== null && OF_ITEM.includes(exitReason));
  // A task whose ralph process was killed too often ends with the verdict `failed`, so its item is blocked.
  return isOfItem ? 'blocked' : 'ends-list';
}

/** Whether a task has used up its iterations or its budget. */
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

/** How often the task of an item goes on because its work could not be landed (merged into the target branch). */
export const MOST_RETURNS = 3;

/** The consequence for a complete item if the landing of its work was refused. */
export type RefusedItem =
  /** The item's task goes on, and its agent is told the reason. */
  | 'goes-back'
  /** The item waits for a person. */
  | 'blocked'
  /** The item waits for a person. The next items would have the same problem, so nothing more is started. */
  | 'blocks-list'
  /** The target branch has moved, so the landing is tried again. */
  | 'try-again'
  /** ralph was stopped, so the next run lands the item. */
  | 'stopped';

/** Returns the consequence of a refused landing. A used-up task does not go on: it would end at once, incomplete. */
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
