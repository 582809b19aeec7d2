/** What became of the changes of a failed item. */
export type UndoneItem =
  /** `but`: the first file that stays, and why; `whyNoMove`: why HEAD stays. Null if nothing does. */
  | { readonly kind: 'undone'; readonly but: string | null; readonly whyNoMove: string | null }
  | { readonly kind: 'nothing' }
  /** It has a work tree of its own, and they stay on its branch. */
  | { readonly kind: 'apart'; readonly branch: string }
  /** Its task is complete, and they do not land: a sentence says why. */
  | { readonly kind: 'not-landed'; readonly sentence: string }
  | { readonly kind: 'failed'; readonly why: string };

/** An agent has changed the list, and that was taken back. */
export interface ChangedList {
  readonly kind: 'agent-changed-list';
  /** The items at work: any of their agents can have done it. */
  readonly items: readonly string[];
  readonly what: 'marks-put-back' | 'put-back';
  readonly why: string | null;
  /** Where the changed list is kept; null if it is not. */
  readonly keptAt: string | null;
}

/** What happens to the items of a list. */
export type ListEvent =
  | {
      readonly kind: 'done';
      readonly item: string;
      readonly taskId: string;
      readonly proof: string;
      /** Where it landed; null if it worked where the list lies, or had nothing to land. */
      readonly onto: string | null;
      readonly commit: string | null;
    }
  /** Its landing failed, for the `time`-th time, and its task goes on. */
  | {
      readonly kind: 'returned';
      readonly item: string;
      readonly sentence: string;
      readonly time: number;
    }
  /** It was blocked and completed, and does not land. */
  | { readonly kind: 'not-landed'; readonly item: string; readonly sentence: string }
  | {
      readonly kind: 'blocked';
      readonly item: string;
      readonly taskId: string;
      readonly reason: string;
      /** Whether its changes were taken back, or why they could not be. */
      readonly undone: UndoneItem;
    }
  /** Somebody else has it, as its source says. `why`: a clause. */
  | { readonly kind: 'left'; readonly item: string; readonly why: string }
  /** Its source could not be told that it is done. */
  | { readonly kind: 'not-told'; readonly item: string; readonly why: string }
  /** A person has taken it off the list. */
  | { readonly kind: 'withdrawn'; readonly item: string }
  /** It asks for something else than when the run began, so that the next run takes it. */
  | { readonly kind: 'rewritten'; readonly item: string }
  | ChangedList;
