import { type EndedStatus, endingRow } from '../task/endings.ts';

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
