import type { AgentName } from '../agent/agents/agents.ts';
import type { AttemptFacts, SessionUsage } from '../agent/attempt.ts';
import type { Outcome } from '../agent/outcome.ts';
import type { SignName } from '../agent/sign.ts';
import type { ApprovalRequest } from '../completion/approval-request.ts';
import type { CheckResult, RawCheckResult } from '../completion/check-result.ts';
import type { ClaimProof } from '../completion/claim-proof.ts';
import type { Examination, ExamPart } from '../completion/examination.ts';
import type { ClaimVerdict } from '../completion/gates.ts';
import type { ProgressReport } from '../completion/progress-report.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import type { Sightings } from '../completion/sightings.ts';
import type { WorkSeen } from '../completion/work-seen.ts';
import type { Handover } from '../prompt/handover.ts';
import type { Hint } from '../prompt/hints.ts';
import type { Check } from '../settings/checks.ts';
import type { Settlement, TreeToSettle } from '../snapshots/settlement.ts';
import type { SignLimits } from '../supervisor/supervisor.ts';
import type { Timing } from '../task/clock-gap.ts';
import type { DaySpending } from '../task/day-budget.ts';
import type { EndedStatus, EndingRow, StatusAndReason } from '../task/endings.ts';
import type {
  Approval,
  Evidence,
  IterationRecord,
  TaskState,
  ThereBefore,
  Wait,
} from '../task/task-state.ts';
import type { EventBody } from './events.ts';

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
  /** Whether an iteration of this run has answered, so the agent is installed and logged in. */
  readonly hasAnswered: boolean;
  /** Once set, nothing more is started or waited for. */
  readonly stopRequested: StopCause | null;
  /** Once set, the running iteration is the last. */
  readonly pauseRequested: boolean;
  /** How the checks stood before the first iteration; absent if they were not run then. */
  readonly checksAtStart?: readonly CheckResult[];
  /** What the agent has done so far; absent before the first iteration is judged. */
  readonly work?: WorkSeen;
  /** What proves the claim that completed the task; absent before. */
  readonly proof?: ClaimProof;
  /** Usage of all attempts of the running iteration, so that its record includes the failed ones. */
  readonly attemptsUsage: AttemptFacts['usage'];
}

/** The current step of the loop; see the diagram in `transition.ts`. */
export type Step =
  | { readonly kind: 'new' }
  /** `resumed`: the agent continues the session of the previous iteration. */
  | { readonly kind: 'working'; readonly resumed: boolean }
  /** The agent is asked whether it is done: see `asking-back.ts`. */
  | { readonly kind: 'asking-back'; readonly answer: CountedAnswer }
  | { readonly kind: 'looking'; readonly answer: CountedAnswer }
  /** What the vault spent today is counted before the agent starts; see `day-budget.ts`. */
  | { readonly kind: 'counting-day'; readonly prompt: 'next' | 'same' | 'updated' }
  /** The checks run before the first iteration. */
  | { readonly kind: 'measuring'; readonly results: readonly CheckResult[] }
  /** `forClaim`: a claim is checked, and not only the iteration. */
  | {
      readonly kind: 'verifying';
      readonly answer: CountedAnswer;
      readonly sightings: Sightings;
      readonly results: readonly CheckResult[];
      readonly forClaim: boolean;
    }
  /** One part of a claim is looked into that the checks alone do not tell. */
  | {
      readonly kind: 'examining';
      readonly answer: CountedAnswer;
      readonly sightings: Sightings;
      readonly verified: readonly CheckResult[] | null;
      readonly examination: Examination;
      readonly part: ExamPart;
      readonly checks: readonly Check[];
    }
  /** What the iteration changed is committed or taken back. */
  | ({ readonly kind: 'settling'; readonly by: WayToSettle } & Judgement)
  /** The user's `--after` command runs; the next step is decided after it. */
  | ({ readonly kind: 'following' } & Judgement)
  /** A person is asked; `task.approval` has the request, and whether its file is written. */
  | { readonly kind: 'approving' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' };

/** Whether the agent is running in this step. If so, its cost so far is only in its log. */
export function isAtWork({ kind }: Step): boolean {
  return kind === 'working' || kind === 'asking-back';
}

/** A counted iteration that is about to be judged. */
export interface CountedAnswer {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly record: IterationRecord;
  readonly facts: AttemptFacts;
  /** The reply of an agent that was asked about its promise and did not state it; absent if there is none. */
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
  /** When the slow retries of an outage began; null before. */
  readonly outageSince: string | null;
  /** Retries after "not found" or "not logged in", of an agent that had worked before. */
  readonly fatalRetries: number;
  /** Consecutive attempts of this iteration whose driver died. */
  readonly interrupted: number;
  /** Consecutive attempts that hit a usage limit. */
  readonly limitedInARow: number;
  /** When the first of these attempts hit it; null if there are none. */
  readonly limitedSince: string | null;
  /** Flags that ralph leaves out, since this agent does not know them. */
  readonly droppedFlags: readonly string[];
}

export const NO_TROUBLE: Trouble = {
  transientAttempts: 0,
  outageSince: null,
  fatalRetries: 0,
  interrupted: 0,
  limitedInARow: 0,
  limitedSince: null,
  droppedFlags: [],
};

/** How many iterations in a row had the same result. */
export interface Streaks {
  /** Claims by words that were blocked because tools were refused. */
  readonly refusedClaims: number;
  /** Claims that were blocked by the same finding. */
  readonly unprovenClaims: number;
  /** The names of those that held all of them; absent if there are none. */
  readonly unprovenBy?: readonly string[];
  /** Iterations that ralph cut by the same sign. */
  readonly cuts: number;
  /** The sign of the last cut; absent before the first one. */
  readonly cutBy?: SignName;
  /** Claims that passed every gate except the last, confirmation. */
  readonly confirmations: number;
  /** Iterations in which a signal was stated. */
  readonly signals: number;
  /** Iterations since the first one whose changes could not be committed; they go into the next commit. */
  readonly uncommitted?: number;
}

export const NO_STREAKS: Streaks = {
  refusedClaims: 0,
  unprovenClaims: 0,
  cuts: 0,
  confirmations: 0,
  signals: 0,
};

/** What happened. Every event carries its instant, since the core has no clock. */
export type LoopEvent =
  | {
      readonly kind: 'started';
      readonly at: string;
      readonly prompt: string;
      /** Why the task's own work tree is not ready; absent or null if it is, or if there is none. */
      readonly setupFailed?: string | null;
    }
  /** A task whose driver ended or died is resumed. */
  | {
      readonly kind: 'resumed';
      readonly at: string;
      /** Milliseconds that are left of the time for the whole task. */
      readonly timeLeftMs: number;
      /** The cost of the attempt that was running when the driver died; null if none was. */
      readonly lost: AttemptFacts['usage'] | null;
      /** What that attempt told of the agent's whole session; absent or null if it told no total. */
      readonly lostSession?: SessionUsage | null;
      /** The resume only announces the ending of the task, because the driver died before it did. */
      readonly tellsOnly?: boolean;
      /** As for `started`. */
      readonly setupFailed?: string | null;
    }
  | (Timing & {
      readonly kind: 'attempt-ended';
      readonly startedAt: string;
      readonly facts: AttemptFacts;
      /** In [0, 1), for the jitter of the back-off. */
      readonly random: number;
    })
  | (Timing & { readonly kind: 'day-counted'; readonly day: DaySpending })
  | (Timing & { readonly kind: 'looked'; readonly sightings: Sightings })
  | (Timing & { readonly kind: 'verified'; readonly result: RawCheckResult })
  | (Timing & { readonly kind: 'examined'; readonly found: Examination })
  | (Timing & { readonly kind: 'settled'; readonly settlement: Settlement })
  | (Timing & { readonly kind: 'followed' })
  | (Timing & { readonly kind: 'waited' })
  | (Timing & { readonly kind: 'approval-requested'; readonly thereBefore: ThereBefore })
  | (Timing & { readonly kind: 'approval-answered'; readonly answer: ApprovalAnswer })
  | { readonly kind: 'hinted'; readonly at: string; readonly hint: Hint }
  | {
      readonly kind: 'progress-reported';
      readonly at: string;
      readonly report: ProgressReport;
    }
  | { readonly kind: 'stop-requested'; readonly at: string; readonly by: StopCause }
  | { readonly kind: 'pause-requested'; readonly at: string }
  /** A bug in ralph itself; `message` is one line. */
  | { readonly kind: 'broke'; readonly at: string; readonly message: string }
  | CallerEvent;

/** The events of a program that works on the task itself, through the library; see `caller-events.ts`. */
export type CallerEvent =
  | { readonly kind: 'started-by-caller'; readonly at: string }
  | { readonly kind: 'reported-by-caller'; readonly at: string; readonly report: IterationReport }
  | { readonly kind: 'progressed-by-caller'; readonly at: string; readonly report: ProgressReport }
  | { readonly kind: 'paused-by-caller'; readonly at: string; readonly request: ApprovalRequest }
  | {
      readonly kind: 'resumed-by-caller';
      readonly at: string;
      /** Null if the task waits for no request, for example if another tool wrote its state. */
      readonly answer: PersonsAnswer | null;
    }
  | {
      readonly kind: 'ended-by-caller';
      readonly at: string;
      readonly ending: StatusAndReason & Partial<Pick<Ending, 'evidence' | 'error'>>;
    };

/**
 * What a program reports of an iteration that it worked on itself: the text that it produced (`context`), or
 * what it did and how that went.
 */
export type IterationReport =
  | { readonly context: string }
  | {
      readonly action: string;
      /** `success`, or what went wrong. */
      readonly result: string;
      readonly durationSeconds: number;
    };

/** How a person answered a request. */
export interface PersonsAnswer {
  readonly kind: 'approved' | 'rejected';
  /** The path of the answer file, relative to the vault. */
  readonly file: string;
  readonly reason: string | null;
}

/** The event with the given `kind`. */
export type EventOf<Kind extends LoopEvent['kind']> = Extract<LoopEvent, { kind: Kind }>;

/** The result of an approval request. */
export type ApprovalAnswer =
  | PersonsAnswer
  | { readonly kind: 'none'; readonly why: 'expired' | 'not-waited' | 'interrupted' };

/** What stops the loop: a signal, or `ralph stop` from another terminal. */
export type StopCause = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'request';

/** What to do next. The answer to a question is the next event; a one-way action has no answer. */
export type Action = Question | Announcement;

export type Question =
  | {
      readonly kind: 'start-agent';
      readonly agent: AgentName;
      readonly iteration: number;
      readonly attempt: number;
      readonly prompt: AgentPrompt;
      /** ISO instant at which the time limit of the whole task is reached. */
      readonly taskDeadlineAt: string;
      /** The session for the agent to resume; null starts a new one. */
      readonly resumeSession: string | null;
      /** The rest of the budget in US dollars, for an agent that can enforce it; null: no limit. */
      readonly budgetUsd: number | null;
      /** What may not happen in this attempt. */
      readonly limits: SignLimits;
    }
  | { readonly kind: 'count-day' }
  | { readonly kind: 'look' }
  | {
      readonly kind: 'verify';
      readonly check: Check;
      /** Whether it runs again on a tree on which it failed. On one on which it passed it never does. */
      readonly again: boolean;
    }
  | { readonly kind: 'examine'; readonly part: ExamPart; readonly checks: readonly Check[] }
  | ({ readonly kind: 'settle-tree'; readonly by: WayToSettle } & TreeToSettle)
  /** Runs the user's `--after` command with the event as its standard input. */
  | { readonly kind: 'run-after'; readonly command: string; readonly body: EventBody }
  | { readonly kind: 'wait'; readonly until: string }
  /** Ends the processes that the task has left running, and writes the request for a person. */
  | { readonly kind: 'request-approval'; readonly approval: Approval }
  /** `patiently`: waits until the request expires; otherwise checks once for an answer. */
  | { readonly kind: 'await-approval'; readonly approval: Approval; readonly patiently: boolean };

/** The prompt for one start of the agent. */
export type AgentPrompt =
  /** The user's prompt, followed by `addition`. */
  | { readonly kind: 'task'; readonly addition: string }
  /** Only a question about the agent's own answer. */
  | { readonly kind: 'question'; readonly text: string };

/** A one-way action. */
export type Announcement =
  | { readonly kind: 'publish'; readonly body: EventBody }
  /** Prints a sentence for people. */
  | { readonly kind: 'say'; readonly what: Notice }
  | ({ readonly kind: 'keep-tree' } & TreeToKeep)
  | { readonly kind: 'stop'; readonly ending: Ending };

/** Which snapshot is to be made of the work tree as it is. */
export interface TreeToKeep {
  readonly iteration: number;
  /**
   * `end`: an iteration that counts. `attempt`: one that is tried again, or was cut off with ralph.
   * `missing-end`: an iteration that counts, unless an earlier driver has kept it.
   */
  readonly as: 'end' | 'attempt' | 'missing-end';
  /** How the attempt ended, as in `iterations[].outcome`. */
  readonly outcome: string;
}

/** What ralph is doing while the agent is not running, for the display. */
export type RalphActivity =
  | { readonly kind: 'look' }
  | { readonly kind: 'verify'; readonly command: string }
  | { readonly kind: 'examine'; readonly part: ExamPart }
  | { readonly kind: 'settle'; readonly by: WayToSettle }
  | { readonly kind: 'after'; readonly command: string }
  | { readonly kind: 'wait'; readonly wait: Wait }
  | { readonly kind: 'approval'; readonly what: string; readonly until: string }
  /** ralph was asked to stop, and ends the running processes. */
  | { readonly kind: 'stop' };

/** A notice for people that is not an event. */
export type Notice = { readonly kind: 'flag-dropped'; readonly flag: string };

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
  /** When a usage limit resets or the next day begins, as an ISO instant; null if unknown, or for another ending. */
  readonly until: string | null;
}

export interface Transition {
  readonly state: LoopState;
  readonly actions: readonly Action[];
}
