import type { BentJudge, ChangedTestFile } from '../proof/findings.ts';
import type { Check } from '../settings/checks.ts';
import type { RawCheckResult } from './check-result.ts';
import type { CommandResult } from './command-result.ts';

/** What is found out about a claim whose checks passed. Each part is looked at once a gate asks for it. */
export interface Examination {
  readonly judges?: JudgesSeen;
  /** The checks, with what decides them as it was at the start. */
  readonly oldExam?: Rerun;
  /** The checks, with the tests of the start and everything else as it is claimed. */
  readonly startTests?: Rerun;
  readonly cleanCheckout?: Rerun;
}

export type ExamPart = keyof Examination;

/** What is to be found out about a claim. */
export interface ExamRequest {
  readonly part: ExamPart;
  readonly checks: readonly Check[];
  readonly iteration: number;
  /** What checks of earlier claims rewrote. */
  readonly rewritten: readonly RewrittenFile[];
}

/** A file with which a check compares, and which the check wrote itself. */
export interface RewrittenFile {
  /** Relative to the root of the work tree. */
  readonly path: string;
  /** Its mode and hash in git; null if the check removed it. */
  readonly entry: string | null;
}

/** What decides the checks of a claim, compared with the start. */
export interface JudgesSeen {
  readonly bent: readonly BentJudge[];
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
