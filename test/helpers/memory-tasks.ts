import { isEnded } from '../../src/core/task/endings.ts';
import type { FleetTaskFacts, Parking } from '../../src/fleet/core/fleet-task.ts';
import type {
  AccountPause,
  Checkpoint,
  FleetApprovalFacts,
  FleetRequest,
  NewFleetTask,
  NumberedEvent,
  PackedLog,
} from '../../src/fleet/database/fleet-queue.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What the in-memory twin knows of a task. */
export interface MemoryTask {
  readonly facts: Writable<FleetTaskFacts>;
  /** Its place among tasks of one priority, as it was submitted. */
  number: number;
  contentSha256: string;
  /** From which instant on it can be claimed, in milliseconds; null without a job. */
  startAt: number | null;
  /** The claim that holds, with the end of its lease. */
  held: { readonly job: string; leaseEndsAt: number } | null;
  checkpoint: Checkpoint | null;
  events: NumberedEvent[];
  logs: PackedLog[];
  requests: FleetRequest[];
  approvals: (Writable<FleetApprovalFacts> & { taken: boolean })[];
}

/** What it knows of an account. */
export interface MemoryAccount {
  pausedUntil: number | null;
  isHeld: boolean;
  why: string | null;
  slots: number;
}

/** Makes a queued task. */
export function memoryTask(task: NewFleetTask, number: number, now: number): MemoryTask {
  const { spec, contentSha256, notBefore } = task;
  const startAt = typeof notBefore === 'string' ? Date.parse(notBefore) : now + (notBefore ?? 0);
  return {
    facts: {
      ...{ spec, status: 'pending', exit_reason: null, exit_code: null, warning: null, fence: 0 },
      ...{ claims_without_iteration: 0, hosts: [], parks_without_iteration: 0 },
      ...{ worker: null, host: null, parked: null },
      ...{ paused: false, not_before: notBefore === null ? null : instant(startAt) },
      ...{ iterations: 0, cost_usd: 0, base_commit: null, branch_commit: null },
      ...{ result_commit: null, result_ref: null, note: null },
      ...{ created_at: instant(now), updated_at: instant(now), ended_at: null },
    },
    ...{ number, contentSha256, startAt, held: null, checkpoint: null },
    ...{ events: [], logs: [], requests: [], approvals: [] },
  };
}

/** Keeps a checkpoint. The task has ended only once it is settled. */
export function keepCheckpoint(
  task: MemoryTask,
  checkpoint: Checkpoint,
  agentEnded: boolean,
): void {
  const { facts } = task;
  if (agentEnded || checkpoint.iterations > facts.iterations) {
    facts.claims_without_iteration = 0;
    facts.hosts = [];
  }
  if (checkpoint.iterations > facts.iterations) facts.parks_without_iteration = 0;
  facts.status = isEnded(checkpoint.status) ? 'running' : checkpoint.status;
  facts.iterations = checkpoint.iterations;
  facts.cost_usd = checkpoint.costUsd;
  task.checkpoint = checkpoint;
}

/** Returns what a task waits for, by the clock of the fleet. */
export function byOwnClock(parking: Parking, now: number): Parking {
  if (parking.kind === 'handover' || parking.inMs === undefined) return parking;
  const { inMs, ...kept } = parking;
  return { ...kept, until: instant(now + inMs) };
}

/** Holds an account; an earlier end does not shorten a pause. */
export function pauseMemoryAccount(
  account: MemoryAccount,
  until: AccountPause,
  why: string,
  now: number,
): void {
  if (until === 'until-released') {
    account.isHeld = true;
    account.why = why;
    return;
  }
  const end = typeof until === 'number' ? now + until : Date.parse(until);
  if (!account.isHeld && (account.pausedUntil ?? 0) <= end) account.why = why;
  account.pausedUntil = Math.max(account.pausedUntil ?? 0, end);
}

export function isClosed(account: MemoryAccount | undefined, now: number): boolean {
  return account !== undefined && (account.isHeld || (account.pausedUntil ?? 0) > now);
}

export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
