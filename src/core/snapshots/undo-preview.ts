/** What an undo would do, before a person agrees. Paths are as `shownPath` shows them. */
export interface UndoPreview {
  readonly taskId: string;
  /** The first iteration that is taken back; null for a redo. */
  readonly iteration: number | null;
  readonly changes: readonly { readonly path: string; readonly kind: PathChange }[];
  /** Paths that somebody else has changed. */
  readonly kept: readonly string[];
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** Iterations that changed files and have no snapshot. */
  readonly missing: readonly number[];
  /** Other tasks that have worked in the work tree since. */
  readonly others: readonly string[];
  /** Where HEAD and the index go back to; null if they stay. */
  readonly move: ShownMove | null;
  /** Why they stay although they were to go back, as half a sentence; null if they do not. */
  readonly whyNoMove: string | null;
}

export type PathChange = 'comes-back' | 'changes' | 'goes' | 'filled';

export interface ShownMove {
  /** The full name of the branch, or null for a detached HEAD. */
  readonly branch: string | null;
  /** Whether HEAD is elsewhere now. */
  readonly switches: boolean;
  /** Ids of commits; null where there is none. */
  readonly from: string | null;
  readonly to: string | null;
  /** How many entries of the index change. */
  readonly indexEntries: number;
  /** What it ends, for example `merge`. */
  readonly ends: readonly string[];
}

/** A path that an undo could not bring back, and why: half a sentence. */
export interface KeptPath {
  readonly path: string;
  readonly why: string;
}
