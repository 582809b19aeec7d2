import { itemStands } from './item-order.ts';
import type { TaskList } from './list-item.ts';
import { blockedIds, type ListState } from './list-state.ts';

/** How far a list is. */
export interface ListStand {
  /** The path of its file, as short as it can be told. */
  readonly source: string;
  /** Null if the file cannot be read. Of a list that is no file, only what ralph did is known. */
  readonly counts: {
    readonly done: number;
    readonly total: number | null;
    readonly blocked: number;
    readonly waiting: number;
  } | null;
  /** The items that are being worked on, or that the next run goes on with. */
  readonly working: readonly string[];
}

/** Returns how far a list is. `here` is the folder in which the person looks. */
export function standOfList(
  { state, list }: { readonly state: ListState; readonly list: TaskList | null },
  here: string,
): ListStand {
  const source = state.file.startsWith(`${here}/`) ? state.file.slice(here.length + 1) : state.file;
  const working = state.items.flatMap((item) => (item.state === 'working' ? [item.id] : []));
  if (!state.file.startsWith('/')) {
    const count = (wanted: string): number =>
      state.items.filter((item) => item.state === wanted).length;
    const counts = { done: count('done'), total: null, blocked: count('blocked'), waiting: 0 };
    return { source, counts, working };
  }
  if (list === null) return { source, counts: null, working };
  const stands = itemStands(list.items, { blocked: blockedIds(state) }).filter(
    ({ item }) => item.isWanted,
  );
  const count = (wanted: string): number => stands.filter((each) => each.state === wanted).length;
  const counts = {
    ...{ done: count('done'), total: stands.length },
    ...{ blocked: count('blocked'), waiting: count('waiting') },
  };
  return { source, counts, working };
}
