/** What an iteration left in the work tree, to be committed or taken back. */
export interface TreeToSettle {
  readonly iteration: number;
  /** The first iteration whose changes could not be committed yet; otherwise this one. */
  readonly since: number;
  /** As in `iterations[].outcome`. */
  readonly outcome: string;
  /** The agent's line that sums up its work; '' if it said nothing. */
  readonly summary: string;
  /** Whether an earlier driver may have begun, since it died in this step. */
  readonly again: boolean;
}

/** What is left when a task ends. Both are null if nothing is. */
export interface LeftAtEnd {
  /** Work of the agent that is in no commit. */
  readonly uncommitted: Uncommitted | null;
  readonly indexBehind: IndexBehind | null;
}

/** `reason` is a clause for people; `files` is null if they cannot be counted. */
export interface Uncommitted {
  readonly reason: string;
  readonly files: number | null;
}

/** The user's index lacks commits of the task, so that it shows them as taken back. */
export interface IndexBehind {
  /** A clause for people that names the lock. */
  readonly why: string;
  /** The folder in which the paths are. */
  readonly root: string;
  readonly paths: readonly string[];
}

/** What came of it. `why` is a clause for people, such as "a merge is under way". */
export type Settlement =
  /** There was nothing to commit or to take back. */
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'committed';
      readonly commit: string;
      readonly branch: string;
      readonly files: number;
    }
  /** Git did not commit, most often because of a hook; `output` is what was said. */
  | { readonly kind: 'refused'; readonly why: string; readonly output: string }
  | { readonly kind: 'not-committed'; readonly why: string }
  /** `kept` are paths that stay, because somebody else changed them. */
  | {
      readonly kind: 'reverted';
      readonly files: number;
      readonly kept: readonly string[];
      readonly diff: string;
    }
  | { readonly kind: 'not-reverted'; readonly why: string };
