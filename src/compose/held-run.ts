import type { RalphEvent } from '../core/machine/events.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import type { Driver, TaskState } from '../core/task/task-state.ts';
import type { TreeLacks } from '../core/task/tree-lacks.ts';
import type { GitLimits } from '../effects/git/git-limits.ts';
import type { Places } from '../effects/git/repository.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { Lease } from '../effects/processes/lease.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import type { TreeKeeper } from '../effects/snapshots/keeper/tree-keeper.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import type { Seal } from '../effects/trust/seal.ts';
import type { ApprovalDesk, RunClock } from '../loop/ports.ts';
import type { RunEnd } from '../loop/stop.ts';
import type { RunView } from '../report/terminal/view.ts';
import type { holdTask } from './open-task.ts';
import type { RunSandbox } from './sandbox/run-sandbox.ts';
import type { WorkTreeHolds } from './work-tree-hold.ts';

/** What `startRun` needs to run a task. */
export interface RunOptions {
  readonly plan: RunPlan;
  readonly view: RunView;
  /** Sentences to print as soon as this process has claimed the task. */
  readonly announcements?: readonly string[];
  /** The notices that this process has already shown, if it runs several tasks. */
  readonly said?: Set<string>;
  /** Called with the task's end. Only afterwards the end counts as announced, so a crash may cause another call. */
  readonly announceEnd?: (fields: RunEnd['fields']) => void;
  /** Absent for a new task. */
  readonly resume?: Resume;
  /** Requests to stop the run. Default: SIGINT, SIGTERM and SIGHUP. */
  readonly stops?: SignalWatch;
  /** Aborts, with the error as its reason, on an error in ralph's own code that nothing catches. */
  readonly bugs?: AbortSignal;
  /** Whether a person watches at a terminal. If so, ralph keeps the machine awake unless told otherwise. */
  readonly isAttended?: boolean;
  /** The work trees that this process has locked, if it runs several tasks; absent: the run locks its own. */
  readonly workTrees?: WorkTreeHolds;
  /** Set if a worker of a fleet (machines that share one database of tasks) runs the task. */
  readonly leg?: FleetLeg;
  /** Arguments placed before all others of the agent's program: the path of a script if the program is node. */
  readonly agentPrefixArgs?: readonly string[];
}

/** What a worker of a fleet adds to its run of a task (a leg). */
export interface FleetLeg {
  /** How long the agent may run on after the worker's last sign of life. */
  readonly lease: Lease;
  /** Asks people for approval through the database of the fleet instead of files. */
  readonly approvals: ApprovalDesk;
  /** The folder for notes to a person, instead of the vault's, and the command that resumes the task. */
  readonly notes: { readonly folder: string; readonly again: string };
  /** Called once, before the loop begins, with the object that takes the task's snapshots; null if nothing does. */
  opened(keeper: TreeKeeper | null): void;
  /** Called after each saved step, before its events are published. Rejects if the worker has to let go of the task. */
  saved(state: LoopState, events: readonly RalphEvent[]): Promise<void>;
  /** Aborts, with the error that ends the run as its reason, when the worker no longer has the task. */
  readonly dropped: AbortSignal;
}

/** Facts about a resumed task that its plan does not contain. */
export interface Resume {
  /** The time limit of the whole task before this resume. */
  readonly previousTimeoutMs: number;
  /** Absolute path of the agent's folder before this resume, in the work tree where the task was started. */
  readonly previousCwd: string;
  /** Whether a person has reviewed a task that somebody else wrote, and trusts it. */
  readonly isTrusted: boolean;
  /** Whether the task has already ended and this run only announces that, because the earlier process died before. */
  readonly announcesOnly: boolean;
}

/** Whether the work tree of a task is ready. */
export interface ReadyTree {
  /** Why `--setup` failed; null if it did not fail. */
  readonly setupFailed: string | null;
  /** What a new work tree lacks; null if it lacks nothing or is not new. */
  readonly lacks: TreeLacks | null;
}

export const READY: ReadyTree = { setupFailed: null, lacks: null };

/** The work tree in which a task works. */
export interface TaskTree {
  /** Makes the task's own work tree ready, if it has one. Rejects with a `WorkTreeError` or a `WorkTreeTakenError`. */
  ready(task: TaskState): Promise<ReadyTree>;
  /** Removes what `ready` created, if the task does not start after all. Never rejects. */
  discard(): Promise<void>;
  /** Runs the task, then removes its own work tree if nothing would be lost, and releases the lock. */
  whileHeld(run: () => Promise<RunEnd>): Promise<RunEnd>;
}

/** A run whose task this process has claimed. */
export interface ClaimedRun extends RunOptions {
  readonly paths: TaskPaths;
  readonly warn: (sentence: string) => void;
  readonly driver: Driver;
  readonly hold: Awaited<ReturnType<typeof holdTask>>;
  readonly stops: SignalWatch;
  readonly clock: RunClock;
  readonly seal: Seal;
  readonly tree: TaskTree;
  readonly sandbox: RunSandbox;
  readonly gitLimits: GitLimits;
  /** The repository of the folder in which the task is started; null if it was not looked for, or cannot be opened. */
  readonly found: Places | null;
}
