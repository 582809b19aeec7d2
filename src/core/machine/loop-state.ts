import type { AttemptFacts } from '../agent/attempt.ts';
import type { Outcome } from '../agent/outcome.ts';
import type { ApprovalRequest } from '../completion/approval-request.ts';
import type { Judged } from '../completion/gates.ts';
import type { ProgressReport } from '../completion/progress-report.ts';
import type { PromiseVerdict } from '../completion/promise.ts';
import type { CommandResult, Sightings } from '../completion/sightings.ts';
import type {
  Approval,
  EndedStatus,
  Evidence,
  IterationRecord,
  TaskState,
  ThereBefore,
  Wait,
} from '../task/task-state.ts';
import type { EndingBody, EventBody } from './events.ts';
import type { Hint } from './hints.ts';
import type { Carry } from './prompt.ts';

/** The loop's whole state: what is saved, where it stands, and what the next prompt needs. */
export interface LoopState {
  readonly task: TaskState;
  readonly step: Step;
  readonly carry: Carry;
  /** The newest final message, for the result; null before the first. */
  readonly finalMessage: string | null;
  readonly trouble: Trouble;
  readonly streaks: Streaks;
  /** Hints for the next iteration. */
  readonly hints: readonly Hint[];
  /** Whether progress that came from a script in this iteration moved on; null where none came. */
  readonly reported: boolean | null;
  /** Whether an iteration of this run has answered: the agent is there and logged in. */
  readonly hasAnswered: boolean;
  /** Once it is set nothing is started or waited for any more. */
  readonly stopRequested: StopCause | null;
  /** Once it is set the running iteration is the last one. */
  readonly pauseRequested: boolean;
  /** Cost of the failed attempts of the running iteration, so that the iteration shows it all. */
  readonly attemptsUsage: AttemptFacts['usage'];
}

/** Where the loop stands, drawn in `transition.ts`. */
export type Step =
  | { readonly kind: 'new' }
  /** `resumed`: in the agent's own session of the iteration before. */
  | { readonly kind: 'working'; readonly resumed: boolean }
  /** The agent is asked whether it is done: see `asking-back.ts`. */
  | { readonly kind: 'asking-back'; readonly answer: Answer }
  | { readonly kind: 'looking'; readonly answer: Answer }
  | { readonly kind: 'verifying'; readonly answer: Answer; readonly sightings: Sightings }
  /** The user's command that follows an iteration runs; what comes next is decided after it. */
  | {
      readonly kind: 'following';
      readonly answer: Answer;
      readonly judged: Judged;
      readonly isAborted: boolean;
      readonly approval: ApprovalRequest | null;
    }
  /** A person is asked: `task.approval` says what, and whether the request has been made. */
  | { readonly kind: 'approving' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' };

/** Whether the agent is at work in this step: what it has cost by now stands in its log alone. */
export function isAtWork({ kind }: Step): boolean {
  return kind === 'working' || kind === 'asking-back';
}

/** A counted iteration that is about to be judged. */
export interface Answer {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly record: IterationRecord;
  readonly facts: AttemptFacts;
  /** What the agent said, asked back, in place of stating the promise; absent where it said nothing. */
  readonly reply?: string;
}

/** What has gone wrong in a row. */
export interface Trouble {
  /** Passing faults in this iteration. */
  readonly transientAttempts: number;
  /** When the slow tries of an outage began; null before. */
  readonly outageSince: string | null;
  /** Tries of "not found" or "not logged in" after it had worked before. */
  readonly fatalRetries: number;
  /** Attempts of this iteration in a row whose driver died. */
  readonly interrupted: number;
  /** Attempts in a row that met a usage limit, and when the first one did. */
  readonly limitedInARow: number;
  readonly limitedSince: string | null;
  /** Flags of ralph's own that this agent does not know. */
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

/** What has happened in several iterations running. */
export interface Streaks {
  /** Claims by words that were held because tools were refused. */
  readonly refusedClaims: number;
  /** Claims that were held because the system had stopped sub-agents. */
  readonly unprovenClaims: number;
  /** Claims that passed every gate but the last, confirmation. */
  readonly confirmations: number;
  /** Iterations in which a signal was stated. */
  readonly signals: number;
}

export const NO_STREAKS: Streaks = {
  refusedClaims: 0,
  unprovenClaims: 0,
  confirmations: 0,
  signals: 0,
};

/** When something that was asked for came about. */
export interface Answered {
  readonly at: string;
  /** Milliseconds since the event before, by a clock that stands still while the machine sleeps. */
  readonly tookMs: number;
  /** Of these, ralph itself was stopped, by Ctrl-Z for example. */
  readonly heldUpMs: number;
}

/** What happened. Every event carries its instant: the core has no clock of its own. */
export type LoopEvent =
  | { readonly kind: 'started'; readonly at: string; readonly prompt: string }
  /** A task whose driver ended or died is gone on with. */
  | {
      readonly kind: 'resumed';
      readonly at: string;
      /** What is left of the time for the whole task. */
      readonly timeLeftMs: number;
      /** What an attempt has cost whose end nobody saw; null where none was under way. */
      readonly lost: AttemptFacts['usage'] | null;
      /** The driver died before it had told how the task ended: that is told, and nothing else done. */
      readonly tellsOnly?: boolean;
    }
  | (Answered & {
      readonly kind: 'attempt-ended';
      readonly startedAt: string;
      readonly facts: AttemptFacts;
      /** In [0, 1), for the spread of the back-off. */
      readonly random: number;
    })
  | (Answered & { readonly kind: 'looked'; readonly sightings: Sightings })
  | (Answered & { readonly kind: 'verified'; readonly result: CommandResult })
  | (Answered & { readonly kind: 'followed' })
  | (Answered & { readonly kind: 'waited' })
  | (Answered & { readonly kind: 'approval-requested'; readonly thereBefore: ThereBefore })
  | (Answered & { readonly kind: 'approval-answered'; readonly answer: ApprovalAnswer })
  | { readonly kind: 'hinted'; readonly at: string; readonly hint: Hint }
  | {
      readonly kind: 'progress-reported';
      readonly at: string;
      readonly report: ProgressReport;
    }
  | { readonly kind: 'stop-requested'; readonly at: string; readonly by: StopCause }
  | { readonly kind: 'pause-requested'; readonly at: string }
  /** ralph itself has a bug; `message` is one line. */
  | { readonly kind: 'broke'; readonly at: string; readonly message: string };

/** What came of a request. */
export type ApprovalAnswer =
  | {
      readonly kind: 'approved' | 'rejected';
      /** Where the answer lies, within the vault. */
      readonly file: string;
      readonly reason: string | null;
    }
  | { readonly kind: 'none'; readonly why: 'expired' | 'not-waited' | 'interrupted' };

/** Who asked the loop to stop: a signal, or `ralph stop` from another terminal. */
export type StopCause = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'request';

/** What to do next. Askings bring back an event; tellings do not. */
export type Action = Asking | Telling;

export type Asking =
  | {
      readonly kind: 'start-agent';
      readonly iteration: number;
      readonly attempt: number;
      readonly prompt: AgentPrompt;
      /** ISO instant at which the whole-task limit passes. */
      readonly taskDeadlineAt: string;
      /** The agent's own session to go on with; null begins afresh. */
      readonly resumeSession: string | null;
      /** What is left of the money, handed to an agent that can keep to it; null: no limit. */
      readonly budgetUsd: number | null;
    }
  | { readonly kind: 'look' }
  | { readonly kind: 'verify'; readonly command: string }
  /** Runs the user's command after an iteration; the event is its standard input. */
  | { readonly kind: 'run-after'; readonly command: string; readonly body: EventBody }
  | { readonly kind: 'wait'; readonly until: string }
  /** Ends what the task has left running, and puts the request where a person finds it. */
  | { readonly kind: 'request-approval'; readonly approval: Approval }
  /** Patiently until it expires; otherwise it is only looked whether there is an answer. */
  | { readonly kind: 'await-approval'; readonly approval: Approval; readonly patiently: boolean };

/** What the agent is told. */
export type AgentPrompt =
  /** The user's prompt, and this behind it. */
  | { readonly kind: 'task'; readonly addition: string }
  /** A question about its own answer, and nothing else. */
  | { readonly kind: 'question'; readonly text: string };

type Telling =
  | { readonly kind: 'publish'; readonly body: EventBody }
  /** A sentence for people. */
  | { readonly kind: 'say'; readonly what: Saying }
  | { readonly kind: 'stop'; readonly ending: Ending };

/** What is done while the agent is not at work, for those who watch. */
export type Doing =
  | { readonly kind: 'look' }
  | { readonly kind: 'verify'; readonly command: string }
  | { readonly kind: 'after'; readonly command: string }
  | { readonly kind: 'wait'; readonly wait: Wait }
  | { readonly kind: 'approval'; readonly what: string; readonly until: string }
  /** It was asked to stop, and ends what runs. */
  | { readonly kind: 'stop' };

/** Something people are told that is no event. */
export type Saying = { readonly kind: 'flag-dropped'; readonly flag: string };

/** How the task ended, before the outside world has added its paths. */
export interface Ending {
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly event: EndingBody['event'];
  readonly evidence: Evidence | null;
  /** The reason under which a note is written; null writes none. */
  readonly note: NoteReason | null;
  /** For a failure: what went wrong, one line. */
  readonly error: string | null;
  /** For a limit: when to try again, if that is known. */
  readonly until: string | null;
}

/** The word in a note's file name: `RALPH_<reason>_<task_id>_<timestamp>.md`. */
type NoteReason = 'EXHAUSTED' | 'FAILED' | 'TIMEOUT' | 'STALLED' | 'LIMITED' | 'BUDGET';

export interface Transition {
  readonly state: LoopState;
  readonly actions: readonly Action[];
}
