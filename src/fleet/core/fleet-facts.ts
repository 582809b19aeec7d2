import type { FleetSpec } from './fleet-task.ts';

/*
 * What a fleet knows about its workers, accounts and queues, and what people and tasks ask each other. Every instant is
 * by the database's clock, in ISO 8601 UTC.
 */

/** The versions of tables before and after `ralph fleet init`; `from` is null if there were none before. */
export interface Migrated {
  readonly from: number | null;
  readonly to: number;
}

/** What `ralph fleet init` has done. */
export interface InitDone {
  /** The name of the fleet: `fleet HOST/DATABASE`. */
  readonly name: string;
  readonly engine: Migrated;
  readonly tables: Migrated;
  readonly leaseMs: number;
}

export interface WorkerFacts {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly schema: number;
  readonly queues: readonly string[];
  /** The only accounts whose tasks the worker claims; null for all. */
  readonly accounts: readonly string[] | null;
  readonly slots: number;
  /** Why the worker claims nothing at present, such as a full disk; null if it claims. */
  readonly idle: string | null;
}

export interface WorkerSeen extends WorkerFacts {
  readonly running: readonly string[];
  readonly seenAt: string;
}

/** What a fleet knows about an account, as `ralph fleet status --json` has it. */
export interface AccountFacts {
  readonly account: string;
  readonly paused_until: string | null;
  /** Whether the account is paused until somebody resumes it. */
  readonly held: boolean;
  readonly why: string | null;
  /** How many tasks of the account may run at a time; 0: any number. */
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  readonly parked: number;
}

/** What `ralph fleet status --json` says about a queue's open tasks of one schema (form in which they are stored). */
export interface QueueFacts {
  readonly queue: string;
  readonly schema: number;
  readonly waiting: number;
  readonly running: number;
  readonly parked: number;
  /** The instant since which the oldest waiting task waits; null if none waits. */
  readonly oldest_waiting_at: string | null;
}

/** A task whose row does not have the form that `ralph submit` writes, so that no other field of the row is used. */
export interface UnreadableTask {
  readonly taskId: string;
  readonly endedAt: string | null;
}

/** What a resume changes in a task. */
export interface ResumedSettings {
  /** The task's `updated_at` when these settings were made: if it has changed since, the task is not resumed. */
  readonly since: string;
  /** All settings of the task. Its `content_sha256` stays, so that a repeated submit still finds the task. */
  readonly settings: FleetSpec['settings'];
  /** The task's stored state (its checkpoint), packed, with a new time limit; null if it stays as it is. */
  readonly packed: Uint8Array | null;
}

/** What became of a request or an answer. */
export type RequestTaken =
  /** The request was left for the worker that runs the task. */
  | { readonly kind: 'left'; readonly worker: string; readonly host: string }
  /** The request took effect at once or, if it is `tell` and no worker runs the task, waits for the next worker. */
  | { readonly kind: 'done' }
  | { readonly kind: 'unknown-task' }
  /** The task's state does not allow the request; `why` is a sentence. */
  | { readonly kind: 'refused'; readonly why: string };

/** What a person asks of a task. `by` is the name that the person gave. */
export type NewFleetRequest =
  | { readonly kind: 'tell'; readonly text: string; readonly by: string }
  | { readonly kind: 'pause'; readonly by: string }
  | { readonly kind: 'stop'; readonly by: string };

/** A request that waits until the worker of its task takes it in. */
export type FleetRequest = NewFleetRequest & { readonly id: string; readonly taskId: string };

/** A task's request for an approval by a person. */
export interface FleetApproval {
  readonly id: string;
  /** The text that a person reads: see `report/notes/approval-request.ts`. */
  readonly text: string;
  /** How long people can answer, in milliseconds from the database's now. */
  readonly expiresInMs: number;
}

/** A person's answer to a request for an approval. */
export interface FleetAnswer {
  readonly verdict: 'approved' | 'rejected';
  /** The name that the person gave; `sessionUser` is the user of the database. */
  readonly by: string;
  readonly sessionUser?: string;
  readonly comment: string | null;
}

/** A request for an approval as the fleet stores it; `answer` is null until there is one. */
export interface FleetApprovalFacts extends Omit<FleetApproval, 'expiresInMs'> {
  readonly taskId: string;
  readonly askedAt: string;
  readonly expiresAt: string;
  readonly answer: FleetAnswer | null;
}
