import type { ListItem } from './list-item.ts';

/** What the order of items depends on besides the list itself. Items are given by their ids. */
export interface OrderFacts {
  /** The items that failed and wait for a person. */
  readonly blocked: ReadonlySet<string>;
  /** The items to work on; null for all. */
  readonly only: ReadonlySet<string> | null;
}

/** The facts for choosing the next item while others are being worked on. */
export interface ItemStartFacts extends OrderFacts {
  readonly atWork: ReadonlySet<string>;
}

/** The state of an item in this run. */
export interface ItemStand {
  readonly item: ListItem;
  readonly state: 'ready' | 'waiting' | 'done' | 'blocked' | 'left-out';
  /** The ids of the item's blockers that are not done, including those that are not in the list. */
  readonly waitsFor: readonly string[];
}

/** Returns the state of each item of a list, in the order of the file. No file stores `waiting`: it is found here. */
export function itemStands(
  items: readonly ListItem[],
  { blocked }: Pick<OrderFacts, 'blocked'>,
): readonly ItemStand[] {
  const done = new Set(items.filter(({ standing }) => standing === 'done').map(({ id }) => id));
  return items.map((item) => {
    const { standing, id } = item;
    if (standing !== 'open') return { item, state: standing, waitsFor: [] };
    const waitsFor = [...new Set(item.blockers)].filter((blocker) => !done.has(blocker));
    const state = blocked.has(id) ? 'blocked' : waitsFor.length > 0 ? 'waiting' : 'ready';
    return { item, state, waitsFor };
  });
}

/** Returns the item to start next beside those that are being worked on, or null if none can be started now. */
export function nextItem(items: readonly ListItem[], facts: ItemStartFacts): ListItem | null {
  const { atWork } = facts;
  let first: ListItem | null = null;
  let lane: number | null = null;
  for (const { item, state } of itemStands(items, facts)) {
    const isAtWork = atWork.has(item.id);
    if (!isAtWork && (state !== 'ready' || !isMeant(item, facts))) continue;
    // Only items of one lane run side by side. An item of a later lane waits until the items above it are done.
    if (lane !== null && item.lane !== lane) break;
    lane = item.lane;
    // Among items of equal priority, the first one in the file is started.
    if (!isAtWork && (first === null || item.priority < first.priority)) first = item;
  }
  return first;
}

/** Returns the ids of items in the order in which they start if one runs at a time and each succeeds. */
export function startOrder(items: readonly ListItem[], facts: OrderFacts): readonly string[] {
  const left = itemStands(items, facts)
    .filter(({ item, state }) => (state === 'ready' || state === 'waiting') && isMeant(item, facts))
    // Among items of equal priority, the order of the file stays.
    .sort(({ item: { priority: one } }, { item: { priority: other } }) =>
      one === other ? 0 : one - other,
    );
  const order = new Set<string>();
  for (;;) {
    const at = left.findIndex(({ waitsFor }) => waitsFor.every((id) => order.has(id)));
    if (at === -1) return [...order];
    for (const { item } of left.splice(at, 1)) order.add(item.id);
  }
}

function isMeant({ id, isWanted }: ListItem, { only }: OrderFacts): boolean {
  return isWanted && (only === null || only.has(id));
}
