/** A part of the list's text to replace. */
export interface Edit {
  /** Index of the first character. */
  readonly from: number;
  /** Index after the last one. */
  readonly to: number;
  readonly text: string;
}

/** A place in the list's text that says whether an item, or a step of it, is done. */
export interface DoneMark {
  readonly from: number;
  readonly to: number;
  /** The path to it within the item: two readings of an item can be compared by it. */
  readonly place: string;
}

/** One item of a list, as its file has it. */
export interface ListItem {
  readonly id: string;
  readonly name: string;
  /** All that the file says of the item, for the agent. */
  readonly text: string;
  /** What must stay as it is while an agent works: the text without done marks and notes. */
  readonly essence: string;
  readonly standing: 'open' | 'done' | 'left-out';
  readonly blockers: readonly string[];
  /** Lower comes first; infinite without a priority. */
  readonly priority: number;
  /**
   * Items of one lane may be worked on at the same time, and those of another lane only after all above them. Null
   * where the place in the file says nothing of that.
   */
  readonly lane: number | null;
  /** What has to hold once it is done, for a judge. */
  readonly criteria: readonly string[];
  /** The texts that may be commands which check the item. */
  readonly checks: readonly string[];
  /** When it was made, or was last put on the list, as the list says; null if it does not. */
  readonly createdAt: string | null;
  /** Whether the item counts; false outside of the wanted sections. */
  readonly isWanted: boolean;
  readonly marks: readonly DoneMark[];
  /** What ticks the item; empty if it is done. */
  readonly tick: readonly Edit[];
}

/** A list that was read. */
export interface TaskList {
  readonly text: string;
  /** The repository that the ids belong to, as `host/owner/name`; absent if they belong to none. */
  readonly repository?: string;
  /** What has to be said of items that were left out, one sentence each. */
  readonly notices?: readonly string[];
  readonly items: readonly ListItem[];
}

/** A list, or why it cannot be used: whole sentences. */
export type ReadList = { readonly list: TaskList } | { readonly problems: readonly string[] };

/** Returns a text with some parts replaced. The parts must not overlap. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let changed = text;
  for (const { from, to, text: by } of edits.toSorted((one, other) => other.from - one.from)) {
    changed = changed.slice(0, from) + by + changed.slice(to);
  }
  return changed;
}
