import type { DayBudget } from './day-budget.ts';
import type { ShownTask } from './shown-task.ts';
import type { IterationRecord, TaskState } from './task-state.ts';

/** What a briefing (the report on all tasks over a time span) is made from. */
export interface BriefingSources {
  readonly since: string;
  readonly until: string;
  readonly vault: string;
  readonly stateDir: string;
  /** The path of the key that seals state files, if the briefing's commands have to name it; null if they find it. */
  readonly keyFlag: string | null;
  /** The words that name the tasks' fleet (machines that share tasks) in a command, in place of `vault` and `stateDir`. */
  readonly fleetWords?: readonly string[];
  readonly runs: readonly FoundRun[];
  readonly journal: readonly JournalEntry[];
  readonly notes: readonly OpenNote[];
  readonly requests: readonly OpenRequest[];
  /** The budget of the current day; null if no open or recent task has one. */
  readonly day: DayBudget | null;
}

/** An event of a task, other than an iteration, as read from the journal (the event log): only two fields are sure. */
export interface Happening {
  readonly event: string;
  readonly at: string;
  readonly [field: string]: unknown;
}

/** One line of the journal, as a briefing uses it. */
export type JournalEntry =
  | { readonly kind: 'iteration'; readonly taskId: string; readonly iteration: BriefIteration }
  | {
      readonly kind: 'happening';
      readonly taskId: string;
      readonly happening: Happening;
      /** The agent's last message, if the task ended. */
      readonly finalMessage: string | null;
    };

/** An iteration. `detail` describes its outcome and may be empty. */
export type BriefIteration = IterationRecord & { readonly detail: string };

/** A task that was found, even if its state file could not be read. */
export interface FoundRun {
  readonly shown: ShownTask;
  /** Null if the file could not be read. */
  readonly task: TaskState | null;
  /** Returns the completion rule in words. A function, since it reads the task's settings, and few callers need it. */
  readonly completion: () => string;
}

/** A note for a human that is still in the folder `Needs_Action`. */
export interface OpenNote {
  /** The note's file; for a task of a fleet, the command that shows the note. */
  readonly file: string;
  /** The reason in its file name, such as `EXHAUSTED`. */
  readonly reason: string;
  readonly taskId: string;
  readonly at: string;
}

/** A request for approval whose file is still in the folder `Pending_Approval`. */
export interface OpenRequest {
  readonly file: string;
  /** Null if the file name does not contain a task id. */
  readonly taskId: string | null;
  readonly at: string;
}
