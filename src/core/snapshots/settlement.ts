/** Describes the changes that iterations left in the work tree, to be committed or reverted. */
export interface TreeToSettle {
  readonly iteration: number;
  /** The first iteration whose changes are not committed yet: this one, or an earlier one whose commit failed. */
  readonly since: number;
  /** The outcome of the iteration as the state file has it, for example `answered`. */
  readonly outcome: string;
  /** The agent's line that sums up its work; '' if it said nothing. */
  readonly summary: string;
  /** Whether an earlier ralph process died in this step, so the commit or revert may be half done. */
  readonly again: boolean;
}

/** What is still to be done in git when a task ends. A field is null if there is nothing of its kind to do. */
export interface LeftAtEnd {
  readonly uncommitted: Uncommitted | null;
  readonly indexBehind: IndexBehind | null;
}

/** Work that was not committed. `reason` is a clause for people; `files` is null if they cannot be counted. */
export interface Uncommitted {
  readonly reason: string;
  readonly files: number | null;
}

/** The index of the user's repository lacks commits of the task, so git shows their changes as reverted. */
export interface IndexBehind {
  /** Why the index is behind: a clause for people that names git's lock. */
  readonly why: string;
  /** The folder to which `paths` are relative. */
  readonly root: string;
  readonly paths: readonly string[];
}

/** The result of a commit or revert. `why` is a clause for people, such as "a merge is under way". */
export type Settlement =
  /** There was nothing to commit or to revert. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'committed';
      readonly commit: string;
      readonly branch: string;
      readonly files: number;
    }
  /** Git refused to commit, most often because of a hook; `output` is what git or the hook printed. */
  | { readonly kind: 'refused'; readonly why: string; readonly output: string }
  | { readonly kind: 'not-committed'; readonly why: string }
  /** `kept` are paths that were not reverted because somebody else had changed them. */
  | {
      readonly kind: 'reverted';
      readonly files: number;
      readonly kept: readonly string[];
      readonly diff: string;
    }
  | { readonly kind: 'not-reverted'; readonly why: string };
