import type { FleetSpec, FleetTaskFacts, Parking } from '../../core/fleet/fleet-task.ts';
import type { Status } from '../../core/task/task-state.ts';
import type { KeptCheckpoint } from './fleet-queue.ts';
import type { QueuedTask } from './jobs.ts';

/** A row of `ralph.task` with its set of settings. `pg` reads instants as `Date`, and whole numbers of 64 bits as text. */
export interface TaskRow extends QueuedTask {
  /** What has no column of its own. */
  readonly spec: Omit<FleetSpec, keyof QueuedTask | 'settings'>;
  readonly settings: FleetSpec['settings'];
  readonly content_sha256: string;
  readonly not_before: Date | null;
  readonly job: string | null;
  readonly fence: number;
  readonly claims: number;
  readonly parks: number;
  readonly hosts: readonly string[];
  readonly worker: string | null;
  readonly host: string | null;
  readonly parked: Parking | null;
  readonly paused: boolean;
  readonly status: Status;
  readonly exit_reason: string | null;
  readonly exit_code: number | null;
  readonly warning: string | null;
  readonly note: string | null;
  readonly iterations: number;
  readonly cost_usd: number;
  readonly base_commit: string | null;
  readonly branch_commit: string | null;
  readonly result_commit: string | null;
  readonly result_ref: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ended_at: Date | null;
}

/** Selects whole rows; add conditions on `t`. */
export const SELECT_TASKS =
  'select t.*, s.settings from ralph.task t join ralph.setting_set s on s.sha256 = t.setting_set';

/** Returns what the row says of a task. */
export function factsOf(row: TaskRow): FleetTaskFacts {
  return {
    spec: specOf(row),
    status: row.status,
    exit_reason: row.exit_reason,
    exit_code: row.exit_code,
    warning: row.warning,
    fence: row.fence,
    claims_without_iteration: row.claims,
    hosts: row.hosts,
    parks_without_iteration: row.parks,
    worker: row.worker,
    host: row.host,
    parked: row.parked,
    paused: row.paused,
    not_before: iso(row.not_before),
    iterations: row.iterations,
    cost_usd: row.cost_usd,
    base_commit: row.base_commit,
    branch_commit: row.branch_commit,
    result_commit: row.result_commit,
    result_ref: row.result_ref,
    note: row.note,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ended_at: iso(row.ended_at),
  };
}

/** Anything may stand beside what a spec has, and nested so deep that it cannot be written again: it is left out. */
function specOf({ task_id, schema, queue, account, priority, settings, spec }: TaskRow): FleetSpec {
  const { prompt, task_type, passthrough, repo, base, subdir, branch, setup } = { ...spec };
  return {
    ...{ task_id, schema, queue, account, priority, settings },
    ...{ prompt, task_type, passthrough, repo, base, subdir, branch, setup },
  };
}

/** A row of `ralph.checkpoint`. */
export interface CheckpointRow {
  readonly fence: number;
  readonly status: Status;
  readonly iterations: number;
  readonly cost_usd: number;
  readonly snapshot: KeptCheckpoint['snapshot'];
  readonly packed: Uint8Array;
  readonly saved_at: Date;
}

export const SELECT_CHECKPOINT = 'select * from ralph.checkpoint where task_id = $1';

export function checkpointOf(row: CheckpointRow | undefined): KeptCheckpoint | null {
  if (row === undefined) return null;
  return {
    fence: row.fence,
    status: row.status,
    iterations: row.iterations,
    costUsd: row.cost_usd,
    snapshot: row.snapshot,
    packed: row.packed,
    savedAt: row.saved_at.toISOString(),
  };
}

/** Returns an instant of a row as text. `infinity`, which `pg` reads as a number, is null. */
export function iso(instant: Date | number | null | undefined): string | null {
  return instant instanceof Date ? instant.toISOString() : null;
}
