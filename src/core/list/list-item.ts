/** A part of the list's text to replace. */
export interface Edit {
  /** The index of the first character. */
  readonly from: number;
  /** The index after the last character. */
  readonly to: number;
  readonly text: string;
}

/** A place in the list's text that says whether an item, or a step of it, is done. */
export interface DoneMark {
  readonly from: number;
  readonly to: number;
  /** The path of the mark within the item. It identifies the mark in two versions of the item. */
  readonly place: string;
}

/** One item of a list, as it is in the file. */
export interface ListItem {
  readonly id: string;
  readonly name: string;
  /** Everything that the file says about the item. The agent gets this text. */
  readonly text: string;
  /** The text without done marks and notes. An agent must not change it. */
  readonly essence: string;
  readonly standing: 'open' | 'done' | 'left-out';
  readonly blockers: readonly string[];
  /** Lower numbers come first. Infinite if the item has no priority. */
  readonly priority: number;
  /** Items of one lane may run at once; those of a later one wait for all above. Null if the order does not matter. */
  readonly lane: number | null;
  /** What has to hold when the item is done. A judge checks it. */
  readonly criteria: readonly string[];
  /** Texts that may be commands for checking the item. */
  readonly checks: readonly string[];
  /** When the item was made or last put on the list; null if the list does not say it. */
  readonly createdAt: string | null;
  /** Whether the item may be worked on; false outside of the wanted sections. */
  readonly isWanted: boolean;
  readonly marks: readonly DoneMark[];
  /** The edits that mark the item as done; empty if it is done. */
  readonly tick: readonly Edit[];
}

/** A list of tasks that was read. */
export interface TaskList {
  readonly text: string;
  /** The repository that the ids belong to, as `host/owner/name`; absent if they belong to none. */
  readonly repository?: string;
  /** Sentences for the user about items that were left out. */
  readonly notices?: readonly string[];
  readonly items: readonly ListItem[];
}

/** A list, or sentences that say why it cannot be used. */
export type ReadList = { readonly list: TaskList } | { readonly problems: readonly string[] };

/** Returns a text with some parts replaced. The parts must not overlap. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let changed = text;
  for (const { from, to, text: by } of edits.toSorted((one, other) => other.from - one.from)) {
    changed = changed.slice(0, from) + by + changed.slice(to);
  }
  return changed;
}
