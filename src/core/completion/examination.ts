import type { Usage } from '../agent/attempt.ts';
import type { FatalCause } from '../agent/outcome.ts';
import type { JudgeVerdict } from '../judge/verdict.ts';
import type { ChangedDecider, ChangedTestFile } from '../proof/findings.ts';
import type { Check } from '../settings/checks.ts';
import type { CheckResult, RawCheckResult } from './check-result.ts';
import type { CommandResult } from './command-result.ts';

/** What is found out about a claim whose checks passed. Each part is looked at once a gate asks for it. */
export interface Examination {
  readonly deciders?: DecidersSeen;
  /** The checks, with what decides them as it was at the start. */
  readonly oldExam?: Rerun;
  /** The checks, with the tests of the start and everything else as it is claimed. */
  readonly startTests?: Rerun;
  readonly cleanCheckout?: Rerun;
  readonly judge?: JudgeAnswer;
}

export type ExamPart = keyof Examination;

/** What is to be found out about a claim. */
export interface ExamRequest {
  readonly part: ExamPart;
  readonly checks: readonly Check[];
  readonly iteration: number;
  /** What checks of earlier claims rewrote. */
  readonly rewritten: readonly RewrittenFile[];
  /** What the judge is told; only for the part `judge`. */
  readonly toJudge?: ToJudge;
}

/** What the judge is told of a claim, beside the task and the tree. */
export interface ToJudge {
  readonly checks: readonly JudgedCheck[];
  /** Test files and files that decide what checks say, of those that were changed. */
  readonly changed: readonly string[];
  /** The last verdict, which holds on the same tree; null if there is none. */
  readonly known: KnownVerdict | null;
  /** ISO instant at which the time limit of the whole task is reached. */
  readonly taskDeadlineAt: string;
}

/** A verdict, and what it holds for. */
export interface KnownVerdict {
  readonly verdict: JudgeVerdict;
  /** Hash of who has judged, and by what; absent if nobody was asked. Another judge may say something else. */
  readonly key?: string;
}

/** A check as a judge is told of it. */
export interface JudgedCheck extends Check {
  /** On the claim. */
  readonly now: Pick<CheckResult, 'verdict' | 'tests'>;
  /** Before the first iteration; null if it was not run then. */
  readonly atStart: Pick<CheckResult, 'verdict' | 'tests'> | null;
}

/** What came of asking the judge. */
export interface JudgeAnswer extends KnownVerdict {
  /** How often it was asked: not at all if the tree was judged before. */
  readonly calls: number;
  readonly usage: Usage;
  /** What kept it from a verdict; null if nothing did. */
  readonly trouble: JudgeTrouble | null;
}

/** Why there is no verdict. */
export type JudgeTrouble =
  /** Its answer cannot be read, it failed, or it took too long. */
  | { readonly kind: 'no-verdict' }
  /** A request to stop ended it. */
  | { readonly kind: 'stopped' }
  /** `until` is an ISO instant, or null if nobody knows. */
  | { readonly kind: 'usage-limited'; readonly until: string | null }
  | { readonly kind: 'outage' }
  | { readonly kind: 'fatal'; readonly cause: FatalCause };

/** A file with which a check compares, and which the check wrote itself. */
export interface RewrittenFile {
  /** Relative to the root of the work tree. */
  readonly path: string;
  /** Its mode and hash in git; null if the check removed it. */
  readonly entry: string | null;
}

/** What decides the checks of a claim, compared with the start. */
export interface DecidersSeen {
  readonly bent: readonly ChangedDecider[];
  /** Whether anything decided at the start. If not, what decides now is the task's own work. */
  readonly stood: boolean;
  /** Test files that stood at the start and were changed or removed. */
  readonly changedTestFiles: readonly string[];
  /** Those of them that no flag accepts. */
  readonly openTestFiles: readonly ChangedTestFile[];
  /** Whether a test file stood at the start. */
  readonly hadTests: boolean;
  /** Test files that are new or changed since the start; null if no snapshot tells. */
  readonly touchedTests: number | null;
  /** What checks rewrote, now or on earlier claims, and what is still so. */
  readonly rewritten: readonly RewrittenFile[];
  /** Hash of the claimed tree, as it is after the checks; null if it is in no snapshot. Only such a tree can be checked elsewhere. */
  readonly tree: string | null;
  /** Which program each command runs: its path on this machine, by the command. */
  readonly programs: Readonly<Record<string, string>>;
}

/** How the checks went in a checkout. */
export type Rerun =
  | {
      readonly kind: 'ran';
      readonly results: readonly RawCheckResult[];
      /** Where the checkout is kept, so that a person can look at it; null if it was removed. */
      readonly folder: string | null;
    }
  /** It could not be made ready; `why` is a clause. */
  | {
      readonly kind: 'not-made';
      readonly why: string;
      /** What its set-up command printed; null if that did not fail. */
      readonly setup: CommandResult | null;
      readonly folder: string | null;
    };
