import type { ListItem } from './list-item.ts';

/** What ralph stores about an item outside the list's own file. */
export interface ItemRecord {
  readonly id: string;
  readonly state:
    | 'working'
    | 'done'
    /** The item failed and waits for a person. */
    | 'blocked'
    /** The item has to be started again. */
    | 'open';
  readonly task_id: string;
  /** When an earlier task with the same id started, so that it can be told from this one; null if there was none. */
  readonly earlier: string | null;
  /** Why the item is blocked; null if it is not blocked. */
  readonly reason: string | null;
  /** The proof that the item is done, in one line; null if it is not done. */
  readonly proof: string | null;
  /** How often the item's task went on because its work could not be merged into the target; absent for never. */
  readonly returned?: number;
  /** The commit that merged the item's work, or else its newest commit; absent if it has none. */
  readonly commit?: string;
  /** The item as JSON, as the list had it when its task began; only its id and title once that is enough. */
  readonly kept?: string;
  /** Set once ralph has begun to claim the item at its source, so that nobody else works on it. */
  readonly claimed?: true;
  /** Whether the source was told that the item is done; absent if the source does not have to be told. */
  readonly told?: boolean;
  /** When the item was done; absent if it is not done. */
  readonly done_at?: string;
}

/** What ralph stores about a list between runs. */
export interface ListState {
  readonly schema_version: 1;
  readonly list: string;
  /** The absolute path of the list's file, or the name of a list that is not a file. */
  readonly file: string;
  readonly sections: readonly string[];
  /** What the ids belong to: a repository, a folder, or a checksum of the printing command. Absent for a file. */
  readonly origin?: string;
  readonly items: readonly ItemRecord[];
  /** The text that the list must have while items are being worked on: as at their start, with ralph's own ticks. */
  readonly before: string | null;
  /** The branch that ralph made to merge the items' work into; absent if it made none. */
  readonly target?: string;
}

/** Returns the state of a list before any work. */
export function newListState(place: Pick<ListState, 'list' | 'file' | 'sections'>): ListState {
  return { schema_version: 1, ...place, items: [], before: null };
}

/** Returns the state with a record added or replaced. */
export function withRecord(state: ListState, record: ItemRecord): ListState {
  return { ...state, items: [...without(state, record.id), record] };
}

/** Returns the state without the record of an item. */
export function withoutRecord(state: ListState, id: string): ListState {
  return { ...state, items: without(state, id) };
}

/**
 * Drops the records of failed items that a person has asked for again, by their ids or by `all`. If the list is not a
 * file (`isPrinted`), it may no longer print these items, so their records stay, but as open. In such a list, a done
 * item that is named is opened, too, since only its record says that it is done.
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
 * Drops the records of items that people have reopened, or replaced by others with the same ids, in a list that a
 * command prints. Returns the ids of these items. An item was reopened if it was put on the list after it was done, or
 * if its source, which hides closed items (`hidesClosed`), prints it although ralph has told the source to close it.
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
