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
