import type { MetInSandbox, RefusedTool } from '../agent/attempt.ts';
import type { CountedOutcome } from '../agent/outcome.ts';
import type { DoubtfulPlace } from '../completion/back-question.ts';
import type { CheckResult } from '../completion/check-result.ts';
import type { Blocker } from '../completion/claims/gates.ts';
import type { CommandResult } from '../completion/command-result.ts';
import type { TreeLacks } from '../task/tree-lacks.ts';
import type { Hint } from './hints.ts';

/** What the next prompt tells the agent about the previous iteration. */
export interface Handover {
  /** The final message, or the output up to the point where the iteration was cut; null if there is none. */
  readonly output: string | null;
  readonly wasCut: boolean;
  readonly missing: readonly Missing[];
  /** The hints (notes that arrived from outside) for this prompt. */
  readonly hints: readonly Hint[];
  /** The checks that failed before the first iteration; absent if none did, or if they were not run then. */
  readonly failedAtStart?: readonly FailedAtStart[];
  /** True if all checks passed before the first iteration; only for the first prompt. */
  readonly allPassedAtStart?: boolean;
  /** What is missing in the task's new work tree; only for the first prompt, and absent if nothing is missing. */
  readonly lacks?: TreeLacks;
}

type FailedAtStart = Pick<CheckResult, 'name' | 'command' | 'failed'>;

/** A reason why the iteration did not complete the task, or other news. The next prompt tells the agent all of them. */
export type Missing =
  | {
      readonly kind: 'near-miss';
      readonly line: string;
      readonly why: string;
      readonly said?: string;
    }
  /** `hasReplied`: the agent was asked whether it is done, and did not state the promise (text for "done") again. */
  | {
      readonly kind: 'in-doubt';
      readonly line: string;
      readonly where: DoubtfulPlace;
      readonly hasReplied: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly tools: readonly RefusedTool[];
      readonly held: boolean;
      readonly failed: readonly CheckResult[];
    }
  | { readonly kind: 'refused-hosts'; readonly hosts: MetInSandbox['refused'] }
  | { readonly kind: 'lost-servers'; readonly servers: readonly string[] }
  | { readonly kind: 'held'; readonly held: Exclude<Blocker, { gate: 'refused-tools' }> }
  /** Checks failed after an iteration that did not claim completion, or whose claim was blocked for another reason. */
  | { readonly kind: 'checks-failed'; readonly failed: readonly CheckResult[] }
  | { readonly kind: 'until'; readonly result: CommandResult }
  | { readonly kind: 'not-ended-well'; readonly outcome: CountedOutcome }
  /** `output` is the output of a hook or of git. */
  | { readonly kind: 'not-committed'; readonly why: string; readonly output: string }
  /** The agent has changed branches: the newest commit is on `branch`, earlier ones are on the branches `earlier`. */
  | {
      readonly kind: 'branches';
      readonly branch: string;
      readonly earlier: readonly string[];
    }
  /** The changes of an iteration were taken back. `why` is absent if the reason is that the iteration was cut off. */
  | {
      readonly kind: 'reverted';
      readonly why?: 'checks';
      readonly files: number;
      readonly kept: readonly string[];
      readonly diff: string;
    }
  | { readonly kind: 'question' }
  | { readonly kind: 'malformed-request' }
  /** A person's answer to an approval request. */
  | {
      readonly kind: 'decision';
      readonly id: string;
      readonly what: string;
      readonly decision: 'approved' | 'rejected';
      readonly reason: string | null;
    };

export const EMPTY_HANDOVER: Handover = { output: null, wasCut: false, missing: [], hints: [] };
