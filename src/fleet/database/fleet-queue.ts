import type { RalphEvent } from '../../core/machine/events.ts';
import type { EndedStatus } from '../../core/task/endings.ts';
import type { Status } from '../../core/task/task-state.ts';
import type {
  AccountFacts,
  FleetAnswer,
  FleetApproval,
  FleetApprovalFacts,
  FleetRequest,
  NewFleetRequest,
  QueueFacts,
  RequestTaken,
  ResumedSettings,
  UnreadableTask,
  WorkerFacts,
  WorkerSeen,
} from '../core/fleet-facts.ts';
import type { FleetSpec, FleetTaskFacts, Parking } from '../core/fleet-task.ts';

export type * from '../core/fleet-facts.ts';

/**
 * The tasks of a fleet and what is known of them. Every instant is the database's, in ISO 8601 UTC. A method
 * rejects with a `FleetAwayError` while the database cannot be reached, and with a `FleetError` if the database gives
 * its user no right to it; `claim` also if a newer ralph has changed the tables. Nothing else is an exception.
 */
export interface FleetQueue {
  /** `fleet HOST/DATABASE`, without user and password. */
  readonly name: string;
  /** The length of a lease in milliseconds. */
  readonly leaseMs: number;

  // Submitting.

  /** Queues all of the tasks in one transaction, or none of them if one is refused. */
  submit(tasks: readonly NewFleetTask[]): Promise<readonly Submitted[]>;

  // Working.

  /** Says that a worker is there, and removes nothing. Called with each beat, also without a claim. */
  present(worker: WorkerFacts): Promise<void>;
  /** Says that a worker has ended by itself. */
  leave(workerId: string): Promise<void>;
  /**
   * Claims the next task: the highest priority, then the oldest; of no account that is paused or has no free
   * slot. Raises its fence. Resolves to null if there is no such task.
   */
  claim(request: ClaimRequest): Promise<FleetClaim | null>;
  /** Renews the leases of claims. Resolves to the ids of the tasks whose claim still holds. */
  beat(claims: readonly ClaimKey[]): Promise<ReadonlySet<string>>;
  /** Keeps a checkpoint with its events, and marks requests as done. False, and nothing written, if the claim is lost. */
  save(claim: ClaimKey, checkpoint: Checkpoint, written: WrittenBeside): Promise<boolean>;
  /**
   * Appends events of a claim that belong to no checkpoint, in order; activities are left out. False if the claim is
   * lost. Here and in `save`, an event that was handed over before, as the same object, is not stored twice: so a call
   * that rejected with a `FleetAwayError` can be repeated.
   */
  tell(claim: ClaimKey, events: readonly RalphEvent[]): Promise<boolean>;
  /**
   * Keeps the log of an iteration, packed; a later one of the same name replaces it. One of over 1 MB is left out, and
   * the oldest go when those of the task exceed 50 MB.
   */
  keepLog(claim: ClaimKey, log: PackedLog): Promise<boolean>;
  /** As `save`, and gives the claim up until the parked task is woken: one transaction. */
  park(
    claim: ClaimKey,
    checkpoint: Checkpoint | null,
    written: WrittenBeside,
    parking: Parking,
  ): Promise<boolean>;
  /** Ends a task, in one transaction with its last checkpoint. */
  settle(
    claim: ClaimKey,
    checkpoint: Checkpoint | null,
    written: WrittenBeside,
    settlement: FleetSettlement,
  ): Promise<boolean>;
  /** Notes the commit of `base`, which the first claim finds out. */
  noteBase(claim: ClaimKey, commit: string): Promise<boolean>;
  /** Holds an account; an earlier instant does not shorten its pause. `why` is shown to people. */
  pauseAccount(name: string, until: AccountPause, why: string): Promise<void>;
  /** Returns the requests to these claims that are not done, oldest first. */
  requestsTo(claims: readonly ClaimKey[]): Promise<readonly FleetRequest[]>;
  /**
   * Writes the request for an approval, with the id of an earlier one once more if the answer to that was taken in.
   * False if the claim is lost.
   */
  askApproval(claim: ClaimKey, approval: FleetApproval): Promise<boolean>;
  /**
   * Frees what a dead worker held, and gives a job to each open task without one. Resolves to what it could not do; the
   * next sweep tries that again.
   */
  sweep(): Promise<readonly SweepTrouble[]>;

  // Steering, from any machine.

  /** Leaves a request to a task. What is queued or parked is stopped or paused at once. */
  request(taskId: string, request: NewFleetRequest): Promise<RequestTaken>;
  /**
   * Queues a task again that is paused, or that has ended and can go on; with `changed`, with other settings. The time
   * for answering an approval that is still open begins again.
   */
  resume(taskId: string, changed?: ResumedSettings): Promise<RequestTaken>;
  /** Answers the approval that a task waits for, and wakes it. */
  answer(taskId: string, answer: FleetAnswer): Promise<RequestTaken>;
  setAccount(name: string, change: AccountChange): Promise<void>;
  /** Removes those of the tasks that ended at this instant or before, and what belongs to them. Resolves to their ids. */
  prune(taskIds: readonly string[], endedBefore: string): Promise<readonly string[]>;

  // Reading.

  /** Returns the database's current time, so that no decision compares the clocks of two machines. */
  readClock(): Promise<string>;
  /** Null also for a row that cannot be read. */
  task(taskId: string): Promise<FleetTaskFacts | null>;
  /** Newest last. */
  tasks(filter: TaskFilter): Promise<readonly FleetTaskFacts[]>;
  /** Returns the tasks that the two methods above leave out, newest last, of all tasks or of one. */
  unreadable(
    filter: Pick<TaskFilter, 'limit' | 'endedBefore'> & { readonly taskId?: string },
  ): Promise<readonly UnreadableTask[]>;
  checkpoint(taskId: string): Promise<KeptCheckpoint | null>;
  /** Returns events with their numbers, oldest first, beginning after the number `since`. */
  events(taskId: string, since: number): Promise<readonly NumberedEvent[]>;
  /** Returns the logs of the iterations after `after`. */
  logs(taskId: string, after: number): Promise<readonly PackedLog[]>;
  approvals(): Promise<readonly FleetApprovalFacts[]>;
  accounts(): Promise<readonly AccountFacts[]>;
  workers(): Promise<readonly WorkerSeen[]>;
  queues(): Promise<readonly QueueFacts[]>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** Which tasks are read; every condition has to hold. */
export interface TaskFilter {
  /** Those that have not ended. */
  readonly open?: boolean;
  /** Open ones that were claimed or parked twice without an iteration, and those that failed in the last day. */
  readonly troubled?: boolean;
  /** Those that ended at this instant or before. */
  readonly endedBefore?: string;
  /** Those that ended at this instant or later, and open ones. */
  readonly endedSince?: string;
  /** Only so many, the newest. */
  readonly limit?: number;
  /** Leave prompts and settings empty: a fleet may have very many tasks. */
  readonly lean?: boolean;
}

export interface NewFleetTask {
  readonly spec: FleetSpec;
  /** SHA-256 of the spec's canonical JSON: the same content under the same id is accepted once. */
  readonly contentSha256: string;
  /** ISO instant before which it is not claimed, or milliseconds from the database's now; null for at once. */
  readonly notBefore: string | number | null;
  /** Start an ended task of this id afresh. */
  readonly again: boolean;
}

/** What became of a submitted task. With `taken`, nothing of the whole call was queued. */
export type Submitted =
  | { readonly kind: 'queued'; readonly taskId: string }
  | { readonly kind: 'already-queued'; readonly taskId: string }
  | { readonly kind: 'already-ended'; readonly taskId: string; readonly status: EndedStatus }
  /** The id has other content, or `again` was said of an open task. */
  | { readonly kind: 'taken'; readonly taskId: string; readonly isOpen: boolean };

export interface ClaimRequest {
  readonly workerId: string;
  readonly host: string;
  readonly queues: readonly string[];
  /** The only accounts for which it claims; null for all. */
  readonly accounts: readonly string[] | null;
  /**
   * The newest schema of tasks that the worker knows; it knows all older ones. What it claims is of this schema from then
   * on, since an older worker may not know the state that it writes.
   */
  readonly schema: number;
}

/** What names a claim in every further call. */
export interface ClaimKey {
  readonly taskId: string;
  readonly fence: number;
  /** The job of the engine; opaque. */
  readonly job: string;
}

export interface FleetClaim extends ClaimKey {
  readonly task: FleetTaskFacts;
  readonly checkpoint: KeptCheckpoint | null;
  /** The answer to the newest approval, until a checkpoint names that approval in `requestsDone`. */
  readonly answer: FleetAnswer | null;
}

/** Where a task stands: enough to go on anywhere. */
export interface Checkpoint {
  /** The saved state without its driver, packed: see `packed-state.ts`. */
  readonly packed: Uint8Array;
  readonly status: Status;
  readonly iterations: number;
  readonly costUsd: number;
  /** Null before the first one was pushed. */
  readonly snapshot: CheckpointSnapshot | null;
}

/** The newest snapshot of a task at its origin. */
export interface CheckpointSnapshot {
  readonly commit: string;
  readonly ref: string;
  /** The agent's HEAD below it; '' before its first commit. */
  readonly head: string;
  /** The one from which the running iteration began: both tell what that iteration has changed. */
  readonly before: SnapshotBefore | null;
  /** The one from before the first iteration, with which a proof compares; absent if it was never pushed. */
  readonly start?: SnapshotBefore | undefined;
}

/** A snapshot of the work tree before an iteration. */
export interface SnapshotBefore {
  readonly commit: string;
  readonly ref: string;
  readonly iteration: number;
}

export interface KeptCheckpoint extends Checkpoint {
  readonly fence: number;
  readonly savedAt: string;
}

/** What is written in the transaction of a checkpoint. */
export interface WrittenBeside {
  readonly events: readonly RalphEvent[];
  /** Ids of requests, and of approvals whose answer, that the checkpoint has taken in. */
  readonly requestsDone: readonly string[];
  /** Whether an agent of this claim has just come to its end: then the claims before this one no longer count. */
  readonly agentEnded?: boolean;
}

export interface FleetSettlement {
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly exitCode: number;
  readonly warning: string | null;
  readonly note: string | null;
  readonly resultCommit: string | null;
  readonly resultRef: string | null;
  /** Where the task's branch was moved; null if it was left alone. */
  readonly branchCommit: string | null;
}

/** An instant; milliseconds from the database's now; or until somebody releases it. */
export type AccountPause = string | number | 'until-released';

export interface AccountChange {
  readonly pause?: AccountPause;
  readonly resume?: true;
  /** 0: unbounded. */
  readonly slots?: number;
}

/** Something that a sweep could not do. */
export interface SweepTrouble {
  /** What it is about, such as `task nightly got no job`. */
  readonly what: string;
  /** What the database or the engine said: the same for all troubles of one kind. */
  readonly why: string;
}

export interface NumberedEvent {
  readonly number: number;
  /** With the claim of which it is. */
  readonly event: RalphEvent & Partial<{ worker: string; host: string; fence: number }>;
}

export interface PackedLog {
  /** The name of the file in the task's folder, such as `iteration-0001.jsonl`. */
  readonly name: string;
  readonly iteration: number;
  /** Gzip of the masked log, of which the middle may be cut out. */
  readonly packed: Uint8Array;
}
