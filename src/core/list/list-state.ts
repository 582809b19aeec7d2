/** What ralph knows of an item beside the file of the list. */
export interface ItemRecord {
  readonly id: string;
  readonly state:
    | 'working'
    | 'done'
    /** It failed, and waits for a person. */
    | 'blocked';
  readonly task_id: string;
  /** When an earlier task of this id had started, so that it is not taken for this one; null if there was none. */
  readonly earlier: string | null;
  /** Why it is blocked; null if it is not. */
  readonly reason: string | null;
  /** What proves it, in a line; null if it is not done. */
  readonly proof: string | null;
}

/** What ralph keeps of a list from one run to the next. */
export interface ListState {
  readonly schema_version: 1;
  readonly list: string;
  /** Absolute path of the file. */
  readonly file: string;
  readonly sections: readonly string[];
  readonly items: readonly ItemRecord[];
  /** The list as it was when the item that is being worked on began; null if none is. */
  readonly before: string | null;
}

/** Returns the state of a list that nobody has worked on. */
export function newListState(place: Pick<ListState, 'list' | 'file' | 'sections'>): ListState {
  return { schema_version: 1, ...place, items: [], before: null };
}

/** Returns the state with a record added, or replaced. */
export function withRecord(state: ListState, record: ItemRecord): ListState {
  return { ...withoutRecord(state, record.id), items: [...without(state, record.id), record] };
}

/** Returns the state without what is known of an item. */
export function withoutRecord(state: ListState, id: string): ListState {
  return { ...state, items: without(state, id) };
}

function without({ items }: ListState, id: string): readonly ItemRecord[] {
  return items.filter((item) => item.id !== id);
}

/** Returns the ids of the items that wait for a person. */
export function blockedIds({ items }: ListState): ReadonlySet<string> {
  return new Set(items.flatMap(({ id, state }) => (state === 'blocked' ? [id] : [])));
}
