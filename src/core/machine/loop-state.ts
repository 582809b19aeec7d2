import type { AttemptFacts, MetInSandbox } from '../agent/attempt.ts';
import type { Outcome } from '../agent/outcome.ts';
import type { SignName } from '../agent/sign.ts';
import type { ApprovalRequest } from '../completion/approval-request.ts';
import type { CheckResult } from '../completion/check-result.ts';
import type { ClaimProof } from '../completion/claims/claim-proof.ts';
import type { ClaimVerdict } from '../completion/claims/gates.ts';
import type {
  Examination,
  ExamPart,
  KnownVerdict,
  RewrittenFile,
} from '../completion/examination.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import type { Sightings } from '../completion/sightings.ts';
import type { WorkSeen } from '../completion/work-seen.ts';
import type { Handover } from '../prompt/handover.ts';
import type { Hint } from '../prompt/hints.ts';
import type { Check } from '../settings/checks.ts';
import type { EndedStatus, EndingRow } from '../task/endings.ts';
import type { Evidence, IterationRecord, TaskState } from '../task/task-state.ts';

/** The whole state of the loop: the saved task, the current step, and what the next prompt needs. */
export interface LoopState {
  readonly task: TaskState;
  readonly step: Step;
  readonly carry: Handover;
  /** The final message of the latest iteration; null before the first. */
  readonly finalMessage: string | null;
  readonly trouble: Trouble;
  readonly streaks: Streaks;
  /** Hints that the next prompt will contain. */
  readonly hints: readonly Hint[];
  /** Whether a script reported further progress in this iteration; null if no script reported any. */
  readonly reported: boolean | null;
  /** Whether the present agent has answered in this task, which shows that it was installed and logged in. */
  readonly hasAnswered: boolean;
  /** What asked for a stop; null if nothing did. Once this is set, no agent is started and no wait begins. */
  readonly stopRequested: StopCause | null;
  /** Once set, the running iteration is the last. */
  readonly pauseRequested: boolean;
  /** The results of the checks before the first iteration; absent if they were not run then. */
  readonly checksAtStart?: readonly CheckResult[];
  /** What the agent has done so far; absent before the first iteration is judged. */
  readonly work?: WorkSeen;
  /** The files that the checks of a claim rewrote and that still have that content; absent if there are none. */
  readonly rewritten?: readonly RewrittenFile[];
  /** What proves the claim (statement of completion) that completed the task; absent before a claim is accepted. */
  readonly proof?: ClaimProof;
  /** What the judge has said; absent before it is asked. */
  readonly judging?: Judging;
  /** The claim that waits for a verdict of the judge; absent if none does. */
  readonly undecided?: UndecidedClaim;
  /** The hosts that the sandbox refused to the attempt that just ended; absent without a sandbox. */
  readonly refusedHosts?: MetInSandbox['refused'];
  /** The tool servers that were already reported as not started; absent if there are none. */
  readonly toldServers?: readonly string[];
  /** Usage of all attempts of the running iteration, so that its record includes the failed ones. */
  readonly attemptsUsage: AttemptFacts['usage'];
}

/** What the judge has said about the claims of a task. */
interface Judging extends KnownVerdict {
  /** How many claims the judge has rejected since the task was started or resumed after a stall. */
  readonly held: number;
}

/** A claim whose work has passed its checks, but on which the judge gave no verdict. */
export interface UndecidedClaim {
  readonly answer: CountedAnswer;
  readonly sightings: Sightings;
}

/** The current step of the loop; see the diagram in `transition.ts`. */
export type Step =
  | { readonly kind: 'new' }
  /** `resumed`: the agent continues the session of the previous iteration. */
  | { readonly kind: 'working'; readonly resumed: boolean }
  /** The agent is asked whether it is done: see `asking-back.ts`. */
  | { readonly kind: 'asking-back'; readonly answer: CountedAnswer }
  | { readonly kind: 'looking'; readonly answer: CountedAnswer }
  /** What all tasks together have spent today is counted before the agent starts; see `day-budget.ts`. */
  | { readonly kind: 'counting-day'; readonly prompt: 'next' | 'same' | 'updated' }
  /** ralph runs the checks before the first iteration. */
  | { readonly kind: 'measuring'; readonly results: readonly CheckResult[] }
  /** ralph runs the checks. `forClaim`: they judge a claim, and not only the iteration. */
  | {
      readonly kind: 'verifying';
      readonly answer: CountedAnswer;
      readonly sightings: Sightings;
      readonly results: readonly CheckResult[];
      readonly forClaim: boolean;
    }
  /** ralph examines one aspect of a claim that the results of the checks alone do not show. */
  | {
      readonly kind: 'examining';
      readonly answer: CountedAnswer;
      readonly sightings: Sightings;
      readonly verified: readonly CheckResult[] | null;
      readonly examination: Examination;
      readonly part: ExamPart;
      readonly checks: readonly Check[];
    }
  /** The changes of the iteration are committed or reverted. */
  | ({ readonly kind: 'settling'; readonly by: WayToSettle } & Judgement)
  /** The user's `--after` command runs; the next step is decided after it. */
  | ({ readonly kind: 'following' } & Judgement)
  /** A person is asked. In the request, `task.approval`, `there_before` is null until its file is written. */
  | { readonly kind: 'approving' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' };

/** Whether the agent is running in this step. If so, the agent's cost so far is only in its log. */
export function isAtWork({ kind }: Step): boolean {
  return kind === 'working' || kind === 'asking-back';
}

/** A counted iteration that is about to be judged. */
export interface CountedAnswer {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly record: IterationRecord;
  readonly facts: AttemptFacts;
  /** The agent's reply when asked whether it is done, if the reply does not state the promise (text for "done"). */
  readonly reply?: string;
}

/** A judged iteration, with what decides on the next step. */
export interface Judgement {
  readonly answer: CountedAnswer;
  readonly judged: ClaimVerdict;
  readonly isAborted: boolean;
  readonly approval: ApprovalRequest | null;
  /** How the checks of this iteration ended; absent if they were not run. */
  readonly checks?: readonly CheckResult[];
}

export type WayToSettle = 'commit' | 'revert';

/** Counts of consecutive failures, and when they began. */
export interface Trouble {
  /** Transient errors in this iteration. */
  readonly transientAttempts: number;
  /** Attempts of this iteration that failed at their start, since the model last worked. */
  readonly failedStarts: number;
  /** When the slow retries of an outage began; null before. */
  readonly outageSince: string | null;
  /** Retries after fatal errors that may pass by themselves, because the agent had worked before. */
  readonly fatalRetries: number;
  /** Consecutive attempts of this iteration during which the ralph process died. */
  readonly interrupted: number;
  /** Consecutive attempts that hit a usage limit. */
  readonly limitedInARow: number;
  /** When the first of the attempts in `limitedInARow` hit the limit; null if there are none. */
  readonly limitedSince: string | null;
  /** Command line flags that ralph leaves out, since the agent does not know them. */
  readonly droppedFlags: readonly string[];
}

export const NO_TROUBLE: Trouble = {
  transientAttempts: 0,
  failedStarts: 0,
  outageSince: null,
  fatalRetries: 0,
  interrupted: 0,
  limitedInARow: 0,
  limitedSince: null,
  droppedFlags: [],
};

/** How many iterations in a row had the same result. */
export interface Streaks {
  /** Claims in the agent's words (not by a file or a command) that were blocked because tools were refused. */
  readonly refusedClaims: number;
  /** Claims that were blocked by the same finding or gate (a condition for accepting a claim). */
  readonly unprovenClaims: number;
  /** The findings or gates that blocked each of `unprovenClaims`; absent before the first such claim. */
  readonly unprovenBy?: readonly string[];
  /** Iterations that ralph cut off because of the same warning sign. */
  readonly cuts: number;
  /** The sign of the last cut; absent before the first one. */
  readonly cutBy?: SignName;
  /** Claims that passed every gate except the last, confirmation. */
  readonly confirmations: number;
  /** Iterations in which the agent stated one of the texts in `policy.signals`. */
  readonly signals: number;
  /**
   * Iterations since the first one whose changes could not be committed, inclusive. The next commit has all changes.
   */
  readonly uncommitted?: number;
}

export const NO_STREAKS: Streaks = {
  refusedClaims: 0,
  unprovenClaims: 0,
  cuts: 0,
  confirmations: 0,
  signals: 0,
};

/** What stops the loop: a signal, or `ralph stop` from another terminal. */
export type StopCause = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'request';

/** How the task ended. Paths are not included; they are added outside the core. */
export interface Ending {
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly event: EndingRow['event'];
  readonly evidence: Evidence | null;
  /** The reason in the note's file name; null means that no note is written. */
  readonly note: NonNullable<EndingRow['note']>['word'] | null;
  /** What went wrong, or which limit was reached, in one line; null if the status says it all. */
  readonly error: string | null;
  /** The failure behind this ending, in one line; absent if there was none. */
  readonly failure?: string;
  /** When a usage limit resets or the next day begins, as an ISO instant; null if unknown, or for another ending. */
  readonly until: string | null;
  /** The flags that would make ralph accept what ended the task; absent if there are none. */
  readonly accepting?: readonly string[];
  /** The judge whose failure ended the task; absent if something else ended it. */
  readonly judge?: string;
}
