/** What an undo would do, before a person agrees. Paths are as people see them: on one line, odd ones in quotes. */
export interface UndoPreview {
  readonly taskId: string;
  /** The first iteration that is undone; null for a redo. */
  readonly iteration: number | null;
  readonly changes: readonly { readonly path: string; readonly kind: PathChange }[];
  /** Paths that stay as they are because somebody else has changed them. */
  readonly kept: readonly string[];
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** Iterations that changed files and have no snapshot. */
  readonly missing: readonly number[];
  /** Other tasks that have worked in this work tree since the snapshot to which the undo goes back. */
  readonly others: readonly string[];
  /** Where HEAD and the index go back to; null if they stay. */
  readonly move: ShownMove | null;
  /** Why HEAD and the index stay although they should go back, as half a sentence; null otherwise. */
  readonly whyNoMove: string | null;
}

export type PathChange = 'comes-back' | 'changes' | 'goes' | 'filled';

export interface ShownMove {
  /** The full name of the branch, or null for a detached HEAD. */
  readonly branch: string | null;
  /** Whether HEAD is now on another branch or commit, so it has to switch. */
  readonly switches: boolean;
  /** The ids of the commits before and after the move; null if there is no commit. */
  readonly from: string | null;
  readonly to: string | null;
  /** How many entries of the index change. */
  readonly indexEntries: number;
  /** The git operations that the move ends, for example `merge`. */
  readonly ends: readonly string[];
}

/** A path that an undo could not restore; `why` is half a sentence. */
export interface KeptPath {
  readonly path: string;
  readonly why: string;
}
