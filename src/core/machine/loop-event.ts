import type { AttemptFacts, MetInSandbox, SessionUsage } from '../agent/attempt.ts';
import type { ApprovalRequest } from '../completion/approval-request.ts';
import type { RawCheckResult } from '../completion/check-result.ts';
import type { Examination } from '../completion/examination.ts';
import type { ProgressReport } from '../completion/progress-report.ts';
import type { Sightings } from '../completion/sightings.ts';
import type { Hint } from '../prompt/hints.ts';
import type { Settlement } from '../snapshots/settlement.ts';
import type { Timing } from '../task/clock-gap.ts';
import type { DaySpending } from '../task/day-budget.ts';
import type { StatusAndReason } from '../task/endings.ts';
import type { ThereBefore } from '../task/task-state.ts';
import type { TreeLacks } from '../task/tree-lacks.ts';
import type { Ending, StopCause } from './loop-state.ts';

/** What happened. Every event carries its instant, since the core has no clock. */
export type LoopEvent =
  | {
      readonly kind: 'started';
      readonly at: string;
      readonly prompt: string;
      /** Why the task's own work tree is not ready; absent or null if it is ready, or if the task has none. */
      readonly setupFailed?: string | null;
      /** Why the judge cannot be started, as a clause; absent or null if it can be, or if the task has no judge. */
      readonly judgeMissing?: string | null;
      /** What the task's own work tree lacks; absent or null if it lacks nothing. */
      readonly lacks?: TreeLacks | null;
    }
  /** A task is resumed after its driver (the ralph process that ran it) ended or died. */
  | {
      readonly kind: 'resumed';
      readonly at: string;
      /** Milliseconds that are left of the time for the whole task. */
      readonly timeLeftMs: number;
      /** The cost of the attempt that was running when the driver died; null if none was. */
      readonly lost: AttemptFacts['usage'] | null;
      /** The usage of the agent's whole session, as that attempt reported it; absent or null if it reported none. */
      readonly lostSession?: SessionUsage | null;
      /** Whether this resume only announces the task's ending, because the last driver died before it could. */
      readonly tellsOnly?: boolean;
      /** Whether time without a driver counts against the limit for waiting, as in a fleet (machines that share tasks). */
      readonly waitedOn?: boolean;
      /** This and the next field are as in `started`. */
      readonly setupFailed?: string | null;
      readonly judgeMissing?: string | null;
    }
  | (Timing & {
      readonly kind: 'attempt-ended';
      readonly startedAt: string;
      readonly facts: AttemptFacts;
      /** A random number in [0, 1) that varies the delay before a retry, so that many drivers do not retry at once. */
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
  /** What the sandbox refused or noticed since the last event, in an attempt that just ended, a check or a hook. */
  | { readonly kind: 'met-in-sandbox'; readonly at: string; readonly met: MetInSandbox }
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

/** What a program reports about its own iteration: the text it produced (`context`), or its action and the result. */
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
  /** The path of the answer file, relative to the vault (the folder of the user's task files). */
  readonly file: string;
  readonly reason: string | null;
}

/** The event with the given `kind`. */
export type EventOf<Kind extends LoopEvent['kind']> = Extract<LoopEvent, { kind: Kind }>;

/** The result of an approval request. */
export type ApprovalAnswer =
  | PersonsAnswer
  | { readonly kind: 'none'; readonly why: 'expired' | 'not-waited' | 'interrupted' };
