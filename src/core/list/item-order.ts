import type { ListItem } from './list-item.ts';

/** What is known of an item beside its file. */
export interface OrderFacts {
  /** The items that failed and wait for a person. */
  readonly blocked: ReadonlySet<string>;
  /** The items to work on; null for all. */
  readonly only: ReadonlySet<string> | null;
}

/** What is known while other items are being worked on. */
export interface ItemStartFacts extends OrderFacts {
  readonly atWork: ReadonlySet<string>;
}

/** What can become of an item in this run. */
export interface ItemStand {
  readonly item: ListItem;
  readonly state: 'ready' | 'waiting' | 'done' | 'blocked' | 'left-out';
  /** The blockers that are not done; also those that are no items of the list. */
  readonly waitsFor: readonly string[];
}

/** Returns how each item of a list stands, in the order of the file. That an item waits is written nowhere. */
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

/** Returns the item to start next beside those at work, or null if none can be started now. */
export function nextItem(items: readonly ListItem[], facts: ItemStartFacts): ListItem | null {
  const { only, atWork } = facts;
  let first: ListItem | null = null;
  let lane: number | null = null;
  for (const { item, state } of itemStands(items, facts)) {
    const isAtWork = atWork.has(item.id);
    const isMeant = item.isWanted && (only === null || only.has(item.id));
    if (!isAtWork && (state !== 'ready' || !isMeant)) continue;
    // Whatever is open above in another lane comes first.
    if (lane !== null && item.lane !== lane) break;
    lane = item.lane;
    // Of equal priorities, the earlier place counts.
    if (!isAtWork && (first === null || item.priority < first.priority)) first = item;
  }
  return first;
}

/** Returns the ids of items as they start, one at a time, if each succeeds. */
export function startOrder(items: readonly ListItem[], facts: OrderFacts): readonly string[] {
  const waiters = new Map<string, string[]>();
  const open = new Map<string, number>();
  const byId = new Map(items.map((item, place) => [item.id, { item, place }]));
  for (const { item, state, waitsFor } of itemStands(items, facts)) {
    const isMeant = item.isWanted && (facts.only === null || facts.only.has(item.id));
    if ((state !== 'ready' && state !== 'waiting') || !isMeant) continue;
    open.set(item.id, waitsFor.length);
    for (const blocker of waitsFor)
      waiters.set(blocker, [...(waiters.get(blocker) ?? []), item.id]);
  }
  const rank = (id: string) => byId.get(id) ?? { item: { priority: 0 }, place: 0 };
  const order: string[] = [];
  const ready = [...open].flatMap(([id, waits]) => (waits === 0 ? [id] : []));
  while (ready.length > 0) {
    let best = 0;
    for (let at = 1; at < ready.length; at += 1) {
      const [one, other] = [rank(ready[at] ?? ''), rank(ready[best] ?? '')];
      const isBefore =
        one.item.priority < other.item.priority ||
        (one.item.priority === other.item.priority && one.place < other.place);
      if (isBefore) best = at;
    }
    const [id = ''] = ready.splice(best, 1);
    order.push(id);
    for (const waiter of waiters.get(id) ?? []) {
      const left = (open.get(waiter) ?? 0) - 1;
      open.set(waiter, left);
      if (left === 0) ready.push(waiter);
    }
  }
  return order;
}
