import { itemStands } from './item-order.ts';
import type { TaskList } from './list-item.ts';
import { blockedIds, type ListState } from './list-state.ts';

/** The progress of a list. */
export interface ListStand {
  /** The path of the list's file, relative if it is below the current folder; or the name of a list that is no file. */
  readonly source: string;
  /** Null if the file cannot be read. For a list that is not a file, only ralph's own records are counted. */
  readonly counts: {
    readonly done: number;
    readonly total: number | null;
    readonly blocked: number;
    readonly waiting: number;
  } | null;
  /** The items that are being worked on, or with which the next run goes on. */
  readonly working: readonly string[];
}

/** Returns the progress of a list. `here` is the current folder of the person who asks. */
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
