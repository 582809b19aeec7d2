import type { Usage } from '../agent/attempt.ts';
import type { FatalCause } from '../agent/outcome.ts';
import type { JudgeVerdict } from '../judge/verdict.ts';
import type { ChangedDecider, ChangedTestFile } from '../proof/findings.ts';
import type { Check } from '../settings/checks.ts';
import type { CheckResult, RawCheckResult } from './check-result.ts';
import type { CommandResult } from './command-result.ts';

/** What is known of a claim of completion. A part is absent until a gate (a condition for accepting it) asks for it. */
export interface Examination {
  readonly deciders?: DecidersSeen;
  /** The results of the checks with the files that decide them (tests, configuration) as they were at the start. */
  readonly oldExam?: Rerun;
  /** The results of the checks with the tests of the start and everything else as it is now. */
  readonly startTests?: Rerun;
  readonly cleanCheckout?: Rerun;
  readonly judge?: JudgeAnswer;
}

export type ExamPart = keyof Examination;

/** A request for one part of the examination of a claim. */
export interface ExamRequest {
  readonly part: ExamPart;
  readonly checks: readonly Check[];
  readonly iteration: number;
  /** Files that the checks of earlier claims rewrote. */
  readonly rewritten: readonly RewrittenFile[];
  /** What the judge is told; only for the part `judge`. */
  readonly toJudge?: ToJudge;
}

/** What the judge is told about a claim, besides the task and the tree. */
export interface ToJudge {
  readonly checks: readonly JudgedCheck[];
  /** The changed files that are tests, or on which the results of the checks depend in another way. */
  readonly changed: readonly string[];
  /** The judge's last verdict, which still applies if the tree is the same; null if there is none. */
  readonly known: KnownVerdict | null;
  /** ISO instant at which the time limit of the whole task is reached. */
  readonly taskDeadlineAt: string;
}

/** A verdict, and for which judge it holds. */
export interface KnownVerdict {
  readonly verdict: JudgeVerdict;
  /** Hash of the judge and its criteria, since another judge may decide otherwise; absent if no judge was asked. */
  readonly key?: string;
}

/** A check as it is described to a judge. */
export interface JudgedCheck extends Check {
  readonly now: Pick<CheckResult, 'verdict' | 'tests'>;
  /** The result before the first iteration; null if the check was not run then. */
  readonly atStart: Pick<CheckResult, 'verdict' | 'tests'> | null;
}

/** The result of asking the judge. */
export interface JudgeAnswer extends KnownVerdict {
  /** How often the judge was asked; 0 if the same tree was judged before. */
  readonly calls: number;
  readonly usage: Usage;
  /** Why the judge gave no verdict; null if it gave one. */
  readonly trouble: JudgeTrouble | null;
}

/** Why the judge gave no verdict. */
export type JudgeTrouble =
  /** The judge failed, took too long, or gave an answer that cannot be read. */
  | { readonly kind: 'no-verdict' }
  /** A request to stop ended the judge. */
  | { readonly kind: 'stopped' }
  /** `until` is an ISO instant, or null if unknown. */
  | { readonly kind: 'usage-limited'; readonly until: string | null }
  | { readonly kind: 'outage' }
  | { readonly kind: 'fatal'; readonly cause: FatalCause };

/** A file that a check rewrote although the check compares the work with that file, such as the expected output. */
export interface RewrittenFile {
  /** Relative to the root of the work tree. */
  readonly path: string;
  /** The file's mode and hash in git; null if the check removed the file. */
  readonly entry: string | null;
}

/** The files and programs on which the results of a claim's checks depend (deciders), compared with the start. */
export interface DecidersSeen {
  readonly bent: readonly ChangedDecider[];
  /** Whether there were deciders at the start. If not, the present deciders are the task's own work. */
  readonly stood: boolean;
  /** Test files that existed at the start and were changed or removed. */
  readonly changedTestFiles: readonly string[];
  /** The changed test files whose change no flag accepts. */
  readonly openTestFiles: readonly ChangedTestFile[];
  /** Whether there was a test file at the start. */
  readonly hadTests: boolean;
  /** How many test files are new or changed since the start; null if no snapshot shows it. */
  readonly touchedTests: number | null;
  /** Files that checks rewrote, for this claim or earlier ones, and that are still as the checks left them. */
  readonly rewritten: readonly RewrittenFile[];
  /** Hash of the work tree after the checks. Null without a snapshot; then no other folder can check the same files. */
  readonly tree: string | null;
  /** The path of the program that each command runs on this machine, by the command. */
  readonly programs: Readonly<Record<string, string>>;
}

/** The result of running the checks in a separate checkout. */
export type Rerun =
  | {
      readonly kind: 'ran';
      readonly results: readonly RawCheckResult[];
      /** Where the checkout is kept, so that a person can look at it; null if it was removed. */
      readonly folder: string | null;
    }
  /** The checkout could not be prepared; `why` is a clause. */
  | {
      readonly kind: 'not-made';
      readonly why: string;
      /** The result of the set-up command; null if that did not fail. */
      readonly setup: CommandResult | null;
      readonly folder: string | null;
    };
