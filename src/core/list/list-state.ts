import type { ListItem } from './list-item.ts';

/** What ralph knows of an item beside the file of the list. */
export interface ItemRecord {
  readonly id: string;
  readonly state:
    | 'working'
    | 'done'
    /** It failed, and waits for a person. */
    | 'blocked'
    /** It is to be begun once more. */
    | 'open';
  readonly task_id: string;
  /** When an earlier task of this id had started, so that it is not taken for this one; null if there was none. */
  readonly earlier: string | null;
  /** Why it is blocked; null if it is not. */
  readonly reason: string | null;
  /** What proves it, in a line; null if it is not done. */
  readonly proof: string | null;
  /** How often its landing failed, and its task went on because of that; absent if it never did. */
  readonly returned?: number;
  /** The commit in which it landed, or else the newest with its work; absent if it has none. */
  readonly commit?: string;
  /** The item as JSON, as its source had it; absent if nobody will ask for it. */
  readonly kept?: string;
  /** Set once ralph has begun to claim it. */
  readonly claimed?: true;
  /** Whether its source was told that it is done; absent if nobody has to be told. */
  readonly told?: boolean;
  /** When it was done; absent if it is not. */
  readonly done_at?: string;
}

/** What ralph keeps of a list from one run to the next. */
export interface ListState {
  readonly schema_version: 1;
  readonly list: string;
  /** Absolute path of the file; the name of the list if it is no file. */
  readonly file: string;
  readonly sections: readonly string[];
  /** What the ids belong to: a repository, a folder, or a sum of the command that prints them. Absent for a file. */
  readonly origin?: string;
  readonly items: readonly ItemRecord[];
  /** The list as it has to be while items are being worked on: as it was when they began, with ralph's own ticks. */
  readonly before: string | null;
  /** The branch that ralph made for its items to land on; absent if it made none. */
  readonly target?: string;
}

/** Returns the state of a list that nobody has worked on. */
export function newListState(place: Pick<ListState, 'list' | 'file' | 'sections'>): ListState {
  return { schema_version: 1, ...place, items: [], before: null };
}

/** Returns the state with a record added, or replaced. */
export function withRecord(state: ListState, record: ItemRecord): ListState {
  return { ...state, items: [...without(state, record.id), record] };
}

/** Returns the state without what is known of an item. */
export function withoutRecord(state: ListState, id: string): ListState {
  return { ...state, items: without(state, id) };
}

/**
 * Returns the state after a person has asked for items once more: those that failed, or `all` of them. A list that is no
 * file (`isPrinted`) may not print them any more, so that they are kept; what is done there is only done here, so that it
 * is opened as well if it is named.
 */
export function openedAgain(
  state: ListState,
  again: readonly string[],
  isPrinted: boolean,
): ListState {
  const items = state.items.flatMap((record): readonly ItemRecord[] => {
    const isNamed = again.includes(record.id);
    const isMeant =
      record.state === 'blocked'
        ? isNamed || again.includes('all')
        : isNamed && isPrinted && record.state === 'done';
    if (!isMeant) return [record];
    const { told, ...rest } = record;
    return isPrinted ? [{ ...rest, state: 'open' }] : [];
  });
  return { ...state, items };
}

/**
 * Returns the state after people have opened items of a printed list again, or have put others in their places, and the ids
 * of these. An item was opened again if it was asked for after it was done here, or if its source prints (`hidesClosed`)
 * what it was told to close.
 */
export function reopened(
  state: ListState,
  printed: readonly ListItem[],
  hidesClosed: boolean,
): { readonly state: ListState; readonly ids: readonly string[] } {
  const byId = new Map(printed.map((item) => [item.id, item]));
  const ids = state.items.flatMap((record) => {
    const item = byId.get(record.id);
    if (item === undefined) return [];
    if (isOfAnother(record, item)) return [record.id];
    if (record.state !== 'done' || item.standing !== 'open') return [];
    const isAskedAgain = Date.parse(item.createdAt ?? '') > Date.parse(record.done_at ?? '');
    return isAskedAgain || (hidesClosed && record.told === true) ? [record.id] : [];
  });
  return { state: ids.reduce((all, id) => withoutRecord(all, id), state), ids };
}

function isOfAnother({ kept = '{}' }: ItemRecord, { name }: ListItem): boolean {
  const { title = name }: { readonly title?: unknown } = JSON.parse(kept);
  return title !== name;
}

function without({ items }: ListState, id: string): readonly ItemRecord[] {
  return items.filter((item) => item.id !== id);
}

/** Returns the ids of the items that wait for a person. */
export function blockedIds({ items }: ListState): ReadonlySet<string> {
  return new Set(items.flatMap(({ id, state }) => (state === 'blocked' ? [id] : [])));
}
