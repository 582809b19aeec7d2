/** What happened to the changes of a failed item. */
export type UndoneItem =
  /** `but`: the first file that was not undone, and why. `whyNoMove`: why HEAD was not moved. Null if all went well. */
  | { readonly kind: 'undone'; readonly but: string | null; readonly whyNoMove: string | null }
  | { readonly kind: 'nothing' }
  /** The item has its own work tree, and its changes stay on that tree's branch. */
  | { readonly kind: 'apart'; readonly branch: string }
  /** The item's task is complete, but its changes could not be merged into the target branch. `sentence` says why. */
  | { readonly kind: 'not-landed'; readonly sentence: string }
  | { readonly kind: 'failed'; readonly why: string };

/** An agent has changed the list. The done marks that the agent set, or all of its changes, were taken back. */
export interface ChangedList {
  readonly kind: 'agent-changed-list';
  /** The items that were being worked on. The agent of any of them can have changed the list. */
  readonly items: readonly string[];
  readonly what: 'marks-put-back' | 'put-back';
  readonly why: string | null;
  /** The path of a copy of the changed list; null if none was kept. */
  readonly keptAt: string | null;
}

/** What happens to the items of a list. */
export type ListEvent =
  | {
      readonly kind: 'done';
      readonly item: string;
      readonly taskId: string;
      readonly proof: string;
      /** The branch into which the item's work was merged (landed); null if it had no own work tree, or no changes. */
      readonly onto: string | null;
      readonly commit: string | null;
    }
  /** Merging the item's work (landing) failed for the `time`-th time, so its task goes on. */
  | {
      readonly kind: 'returned';
      readonly item: string;
      readonly sentence: string;
      readonly time: number;
    }
  /** The task of a blocked item has been completed since, but its work could not be merged, or the item has changed. */
  | { readonly kind: 'not-landed'; readonly item: string; readonly sentence: string }
  | {
      readonly kind: 'blocked';
      readonly item: string;
      readonly taskId: string;
      readonly reason: string;
      /** Whether the item's changes were taken back, or why they could not be. */
      readonly undone: UndoneItem;
    }
  /** According to the list's source (such as an issue tracker), somebody else works on the item. `why` is a clause. */
  | { readonly kind: 'left'; readonly item: string; readonly why: string }
  /** The source could not be told that the item is done. */
  | { readonly kind: 'not-told'; readonly item: string; readonly why: string }
  /** A person has taken the item off the list. */
  | { readonly kind: 'withdrawn'; readonly item: string }
  /** The item no longer asks for the same as when the run began, so it is left to the next run. */
  | { readonly kind: 'rewritten'; readonly item: string }
  /** The item no longer asks for the same as when its unfinished task began, so that task is not continued. */
  | { readonly kind: 'starts-over'; readonly item: string }
  | ChangedList;
