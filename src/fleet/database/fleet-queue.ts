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
 * The tasks of a fleet, and all that is stored with them. Every instant is by the database's clock, in ISO 8601 UTC. A
 * method rejects with a `FleetAwayError` if the database cannot be reached, and with a `FleetError` if the user lacks
 * the right; `claim` also if a newer ralph has changed the tables. Every other outcome is returned.
 */
export interface FleetQueue {
  /** The name of the fleet: `fleet HOST/DATABASE`, without user and password. */
  readonly name: string;
  /** How long a claim (a worker's hold on a task) lasts unless `beat` renews it, in milliseconds. */
  readonly leaseMs: number;

  // For `ralph submit`.

  /** Queues all tasks in one transaction, or none of them if one is refused. */
  submit(tasks: readonly NewFleetTask[]): Promise<readonly Submitted[]>;

  // For workers.

  /** Records that a worker is alive. It is called together with `beat`, and even while the worker has no claim. */
  present(worker: WorkerFacts): Promise<void>;
  /** Removes the record of a worker that ends without having died. */
  leave(workerId: string): Promise<void>;
  /**
   * Claims the next task: of the tasks whose account is not paused and has a free slot, the one with the highest
   * priority, then the oldest. Raises its fence, the number of its claim. Resolves to null if no task can be claimed.
   */
  claim(request: ClaimRequest): Promise<FleetClaim | null>;
  /** Renews claims, so that they hold for another lease. Resolves to the ids of the tasks whose claim still holds. */
  beat(claims: readonly ClaimKey[]): Promise<ReadonlySet<string>>;
  /**
   * Stores a checkpoint with its events, and marks people's requests as done. Resolves to false, with nothing written,
   * if the claim is lost.
   */
  save(claim: ClaimKey, checkpoint: Checkpoint, written: WrittenBeside): Promise<boolean>;
  /**
   * Appends events of a claim that belong to no checkpoint, in order, without `agent_activity`. Resolves to false if
   * the claim is lost. An event object that was passed before, to this method or to `save`, is not stored twice: so a
   * call that rejected with a `FleetAwayError` can be repeated.
   */
  tell(claim: ClaimKey, events: readonly RalphEvent[]): Promise<boolean>;
  /**
   * Stores the packed log of an iteration, in place of an earlier log of the same name. A log of over 1 MB is left out,
   * and the oldest logs are removed when those of the task exceed 50 MB.
   */
  keepLog(claim: ClaimKey, log: PackedLog): Promise<boolean>;
  /** As `save`, and in the same transaction gives the claim up: the parked task waits as `parking` says. */
  park(
    claim: ClaimKey,
    checkpoint: Checkpoint | null,
    written: WrittenBeside,
    parking: Parking,
  ): Promise<boolean>;
  /** As `save`, and in the same transaction ends the task, or leaves it paused. */
  settle(
    claim: ClaimKey,
    checkpoint: Checkpoint | null,
    written: WrittenBeside,
    settlement: FleetSettlement,
  ): Promise<boolean>;
  /** Records the commit that the task's `base` named when its first claim looked it up. */
  noteBase(claim: ClaimKey, commit: string): Promise<boolean>;
  /** Pauses an account. An instant before the end of a running pause changes nothing. `why` is shown to people. */
  pauseAccount(name: string, until: AccountPause, why: string): Promise<void>;
  /** Returns the requests to these claims that are not done, oldest first. */
  requestsTo(claims: readonly ClaimKey[]): Promise<readonly FleetRequest[]>;
  /**
   * Asks people for an approval. An id can be used again once a checkpoint has taken in the earlier answer to it.
   * Resolves to false if the claim is lost.
   */
  askApproval(claim: ClaimKey, approval: FleetApproval): Promise<boolean>;
  /**
   * Frees the tasks of dead workers, and gives each open task without a job (its place in the queue) one. Resolves to
   * what it could not do, which the next sweep tries again.
   */
  sweep(): Promise<readonly SweepTrouble[]>;

  // For commands that steer tasks and accounts, from any machine.

  /** Leaves a request for the worker of a task. A task that is queued or parked is stopped or paused at once. */
  request(taskId: string, request: NewFleetRequest): Promise<RequestTaken>;
  /**
   * Queues a task again that is paused, or that has ended and can go on; `changed` replaces its settings. If the
   * task waits for an approval, the time for the answer begins again.
   */
  resume(taskId: string, changed?: ResumedSettings): Promise<RequestTaken>;
  /** Answers the approval that a task waits for, and wakes the task. */
  answer(taskId: string, answer: FleetAnswer): Promise<RequestTaken>;
  setAccount(name: string, change: AccountChange): Promise<void>;
  /** Removes those tasks that ended at this instant or before, with all that belongs to them. Resolves to their ids. */
  prune(taskIds: readonly string[], endedBefore: string): Promise<readonly string[]>;

  // For commands and workers that read.

  /** Returns the database's current time, so that no decision compares the clocks of two machines. */
  readClock(): Promise<string>;
  /** Resolves to null if there is no such task, or if its row cannot be read. */
  task(taskId: string): Promise<FleetTaskFacts | null>;
  /** Returns the tasks that a filter lets through, newest last. */
  tasks(filter: TaskFilter): Promise<readonly FleetTaskFacts[]>;
  /** Returns the tasks whose rows cannot be read, newest last: of all tasks, or `taskId` alone. */
  unreadable(
    filter: Pick<TaskFilter, 'limit' | 'endedBefore'> & { readonly taskId?: string },
  ): Promise<readonly UnreadableTask[]>;
  checkpoint(taskId: string): Promise<Checkpoint | null>;
  /** Returns the events whose number is greater than `since`, oldest first. */
  events(taskId: string, since: number): Promise<readonly NumberedEvent[]>;
  /** Returns the logs of all iterations whose number is greater than `after`. */
  logs(taskId: string, after: number): Promise<readonly PackedLog[]>;
  approvals(): Promise<readonly FleetApprovalFacts[]>;
  accounts(): Promise<readonly AccountFacts[]>;
  workers(): Promise<readonly WorkerSeen[]>;
  queues(): Promise<readonly QueueFacts[]>;
  close(): Promise<void>;
}

/** The conditions for the tasks to read; all of them have to hold. */
export interface TaskFilter {
  readonly open?: boolean;
  /** Only tasks that failed in the last day, and open ones claimed or parked twice or more without an iteration. */
  readonly troubled?: boolean;
  /** Only tasks that ended at this instant or before. */
  readonly endedBefore?: string;
  /** Only open tasks, and tasks that ended at this instant or later. */
  readonly endedSince?: string;
  readonly limit?: number;
  /** Whether prompts and settings are left empty, which saves memory: a fleet may have very many tasks. */
  readonly lean?: boolean;
}

export interface NewFleetTask {
  readonly spec: FleetSpec;
  /** SHA-256 of the spec's canonical JSON: tells whether a task with the same id has the same content. */
  readonly contentSha256: string;
  /** The task is not claimed before this: an ISO instant, or milliseconds from the database's now; null: at once. */
  readonly notBefore: string | number | null;
  readonly again: boolean;
}

/** What became of a submitted task. If one task of a call is `taken`, none of the call's tasks was queued. */
export type Submitted =
  | { readonly kind: 'queued'; readonly taskId: string }
  | { readonly kind: 'already-queued'; readonly taskId: string }
  | { readonly kind: 'already-ended'; readonly taskId: string; readonly status: EndedStatus }
  /** The id belongs to a task with other content; or `again` was given and that task is still open. */
  | { readonly kind: 'taken'; readonly taskId: string; readonly isOpen: boolean };

export interface ClaimRequest {
  readonly workerId: string;
  readonly host: string;
  readonly queues: readonly string[];
  /** Only tasks of these accounts are claimed; null: of all accounts. */
  readonly accounts: readonly string[] | null;
  /**
   * The newest schema (form of a stored task) that the worker knows, beside all older ones. A task that it claims has
   * this schema from then on, since an older worker may not understand the state that this one writes.
   */
  readonly schema: number;
}

/** Identifies a claim in every later call. */
export interface ClaimKey {
  readonly taskId: string;
  readonly fence: number;
  /** The claim's job in pg-boss, the queue's engine. Callers only pass it back. */
  readonly job: string;
}

export interface FleetClaim extends ClaimKey {
  readonly task: FleetTaskFacts;
  readonly checkpoint: Checkpoint | null;
  /** The answer to the newest approval; null once a checkpoint names that approval in `requestsDone`. */
  readonly answer: FleetAnswer | null;
}

/** The state of a task: all that another worker needs to continue it. */
export interface Checkpoint {
  /** The saved state of the loop, packed as `packed-state.ts` says. */
  readonly packed: Uint8Array;
  readonly status: Status;
  readonly iterations: number;
  readonly costUsd: number;
  /** The newest snapshot in the task's repository (the origin); null before the first one was pushed. */
  readonly snapshot: CheckpointSnapshot | null;
}

/** The newest snapshot of a task at its origin. */
export interface CheckpointSnapshot {
  readonly commit: string;
  readonly ref: string;
  /** The HEAD of the work tree at that time; '' before the first commit. */
  readonly head: string;
  /** The snapshot from before the running iteration: compared with this one, it shows that iteration's changes. */
  readonly before: SnapshotBefore | null;
  /** The snapshot from before the first iteration, where the task's changes began; absent if it was never pushed. */
  readonly start?: SnapshotBefore | undefined;
}

/** A snapshot of the work tree before an iteration. */
export interface SnapshotBefore {
  readonly commit: string;
  readonly ref: string;
  readonly iteration: number;
}

/** What is written in the same transaction as a checkpoint. */
export interface WrittenBeside {
  readonly events: readonly RalphEvent[];
  /** Ids of the requests that the checkpoint has taken in, and of the approvals whose answers it has taken in. */
  readonly requestsDone: readonly string[];
  /** Whether an agent of this claim has just come to its end, so that earlier claims no longer count as failed ones. */
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
  /** The commit to which the task's branch was moved; null if it was left alone. */
  readonly branchCommit: string | null;
}

/** The end of a pause: an instant, milliseconds from the database's now, or until somebody releases the account. */
export type AccountPause = string | number | 'until-released';

export interface AccountChange {
  readonly pause?: AccountPause;
  readonly resume?: true;
  /** How many tasks of the account may run at a time; 0: any number. */
  readonly slots?: number;
}

/** Something that a sweep could not do. */
export interface SweepTrouble {
  /** What was not done, such as `task nightly got no job`. */
  readonly what: string;
  /** What the database or pg-boss said: the same text for all troubles of one kind. */
  readonly why: string;
}

export interface NumberedEvent {
  readonly number: number;
  /** The event, with the worker, host and fence of the claim that wrote it. */
  readonly event: RalphEvent & Partial<{ worker: string; host: string; fence: number }>;
}

export interface PackedLog {
  /** The name of the file in the task's folder, such as `iteration-0001.jsonl`. */
  readonly name: string;
  readonly iteration: number;
  /** Gzip of the log with secrets masked. The middle of a long log may be cut out. */
  readonly packed: Uint8Array;
}
