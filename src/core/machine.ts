import type { AttemptFacts } from './attempt.ts';
import type { Sightings } from './completion.ts';
import type { EndingBody, EventBody } from './events.ts';
import type { Outcome } from './outcome.ts';
import type { PromiseVerdict } from './promise.ts';
import type { Carry } from './prompt.ts';
import type { EndedStatus, Evidence, IterationRecord, TaskState } from './task-state.ts';

/** The loop's whole state: what is saved, where it stands, and what the next prompt needs. */
export interface LoopState {
  readonly task: TaskState;
  readonly step: Step;
  readonly carry: Carry;
  /** The newest final message, for the result; null before the first. */
  readonly finalMessage: string | null;
  readonly trouble: Trouble;
  /** Whether an iteration of this run has answered: the agent is there and logged in. */
  readonly hasAnswered: boolean;
  /** Once it is set nothing is started or waited for any more. */
  readonly stopRequested: StopCause | null;
  /** Cost of the failed attempts of the running iteration, so that the iteration shows it all. */
  readonly attemptsUsage: AttemptFacts['usage'];
}

/** Where the loop stands, drawn in `transition.ts`. */
type Step =
  | { readonly kind: 'new' }
  | { readonly kind: 'working' }
  | { readonly kind: 'looking'; readonly answer: Answer }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' };

/** A counted iteration that is about to be judged. */
export interface Answer {
  readonly outcome: Outcome;
  readonly verdict: PromiseVerdict;
  readonly record: IterationRecord;
  readonly facts: AttemptFacts;
}

/** What has gone wrong in a row. */
export interface Trouble {
  /** Passing faults in this iteration. */
  readonly transientAttempts: number;
  /** When the slow tries of an outage began; null before. */
  readonly outageSince: string | null;
  /** Tries of "not found" or "not logged in" after it had worked before. */
  readonly fatalRetries: number;
  /** Claims by words in a row that were held because tools were refused. */
  readonly heldClaims: number;
}

export const NO_TROUBLE: Trouble = {
  transientAttempts: 0,
  outageSince: null,
  fatalRetries: 0,
  heldClaims: 0,
};

/** What happened. Every event carries its instant: the core has no clock of its own. */
export type LoopEvent =
  | { readonly kind: 'started'; readonly at: string; readonly prompt: string }
  | {
      readonly kind: 'attempt-ended';
      readonly at: string;
      readonly startedAt: string;
      readonly facts: AttemptFacts;
      /** In [0, 1), for the spread of the back-off. */
      readonly random: number;
    }
  | { readonly kind: 'looked'; readonly at: string; readonly sightings: Sightings }
  | { readonly kind: 'waited'; readonly at: string }
  | { readonly kind: 'stop-requested'; readonly at: string; readonly by: StopCause };

/** Who asked the loop to stop. */
export type StopCause = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** What to do next. Askings bring back an event; tellings do not. */
export type Action = Asking | Telling;

export type Asking =
  | {
      readonly kind: 'start-agent';
      readonly iteration: number;
      readonly attempt: number;
      /** What stands behind the user's prompt. */
      readonly addition: string;
      /** ISO instant at which the whole-task limit passes. */
      readonly taskDeadlineAt: string;
    }
  | { readonly kind: 'look' }
  | { readonly kind: 'wait'; readonly until: string };

export type Telling =
  | { readonly kind: 'publish'; readonly body: EventBody }
  | { readonly kind: 'stop'; readonly ending: Ending };

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
type NoteReason = 'EXHAUSTED' | 'FAILED' | 'TIMEOUT' | 'STALLED' | 'LIMITED';

export interface Transition {
  readonly state: LoopState;
  readonly actions: readonly Action[];
}
