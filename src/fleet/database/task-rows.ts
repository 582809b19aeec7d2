import type { FleetSpec, FleetTaskFacts } from '../core/fleet-task.ts';
import { isReadableSpec } from '../core/spec-problems.ts';
import type { Database } from './connection.ts';
import type { Checkpoint, TaskFilter, UnreadableTask } from './fleet-queue.ts';
import type { QueuedTask } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';

/** A row of `ralph.task` with its settings. `pg` reads integers of 64 bits as text. */
export interface TaskRow
  extends QueuedTask,
    Omit<FleetTaskFacts, 'spec' | 'claims_without_iteration' | 'parks_without_iteration'> {
  /** The fields of the submitted task (its spec) that have no column of their own. */
  readonly spec: Omit<FleetSpec, keyof QueuedTask | 'settings'>;
  readonly settings: FleetSpec['settings'];
  readonly job: string | null;
  readonly claims: number;
  readonly parks: number;
}

/** Selects whole rows; a condition on `t` may be appended. */
export const SELECT_TASKS =
  'select t.*, s.settings from ralph.task t join ralph.setting_set s on s.sha256 = t.setting_set';

/** SQL for an open task that waits for a limit, a person or a resume, and not just for another worker to take it. */
export const IS_PARKED =
  "(worker is null and (paused or coalesce(parked->>'kind' <> 'handover', false)))";

/** SQL for an open task that a worker may take now. */
export const IS_WAITING = `(worker is null and not ${IS_PARKED} and (not_before is null or not_before <= now()))`;

/** Returns the facts about the task in a row. */
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
    not_before: row.not_before,
    iterations: row.iterations,
    cost_usd: row.cost_usd,
    base_commit: row.base_commit,
    branch_commit: row.branch_commit,
    result_commit: row.result_commit,
    result_ref: row.result_ref,
    note: row.note,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ended_at: row.ended_at,
  };
}

/** Returns the spec with known fields only: others in a row may be nested too deeply to be written as JSON again. */
function specOf({ task_id, schema, queue, account, priority, settings, spec }: TaskRow): FleetSpec {
  const { prompt, task_type, passthrough, repo, base, subdir, branch, setup } = { ...spec };
  return {
    ...{ task_id, schema, queue, account, priority, settings },
    ...{ prompt, task_type, passthrough, repo, base, subdir, branch, setup },
  };
}

/** The most rows, and the most bytes of their specs, that one statement reads. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 16_000_000;

/** Selects a page of tasks, newest first, that ends where the specs get too large. Settings are read separately. */
const SELECT_PAGE = `
  select * from (
    select t.*, octet_length(t.spec::text) as bytes,
      sum(octet_length(t.spec::text)) over (order by t.number desc)::float8 as total
    from (
      select * from ralph.task t
      where (not $1 or t.ended_at is null)
        and (not $2 or (t.ended_at is null and greatest(t.claims, t.parks) >= 2)
          or (t.status = 'failed' and t.ended_at >= now() - interval '1 day'))
        and ($3::text is null or t.task_id = $3)
        and ($4::timestamptz is null or t.ended_at <= $4)
        and ($5::timestamptz is null or t.ended_at is null or t.ended_at >= $5)
        and ($6::bigint is null or t.number < $6)
      order by t.number desc limit $7
    ) t
  ) sized where total - bytes < ${BYTES_AT_ONCE} order by number desc`;

interface TasksRead {
  readonly readable: readonly FleetTaskFacts[];
  readonly unreadable: readonly UnreadableTask[];
}

/** Reads tasks page by page: a fleet may have very many, and their prompts may be long. */
export async function readTasks(
  database: Database,
  filter: TaskFilter & { readonly taskId?: string },
): Promise<TasksRead> {
  const { open = false, troubled = false, taskId, endedBefore, endedSince, lean = false } = filter;
  const readable: FleetTaskFacts[] = [];
  const unreadable: UnreadableTask[] = [];
  let below: string | null = null;
  for (let left = filter.limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
    const page: readonly (TaskRow & { setting_set: string; total: number })[] = await database.rows(
      SELECT_PAGE,
      [
        ...[open, troubled, taskId ?? null, endedBefore ?? null, endedSince ?? null, below],
        Math.min(left, ROWS_AT_ONCE),
      ],
    );
    const sets = await settingsOf(database, new Set(page.map(({ setting_set }) => setting_set)));
    for (const row of page) {
      const settings = sets.get(row.setting_set);
      // The settings are gone: since the page was read, the task was removed or started afresh.
      if (settings === undefined) continue;
      const facts = factsOf({ ...row, settings });
      const { spec, ended_at } = facts;
      if (!isReadableSpec(spec)) unreadable.push({ taskId: spec.task_id, endedAt: ended_at });
      else readable.push(lean ? { ...facts, spec: { ...spec, prompt: '', settings: {} } } : facts);
    }
    left -= page.length;
    below = page.at(-1)?.number ?? null;
    const isLast = page.length < ROWS_AT_ONCE && (page.at(-1)?.total ?? 0) < BYTES_AT_ONCE;
    if (isLast || below === null) break;
  }
  return { readable: readable.reverse(), unreadable: unreadable.reverse() };
}

/** Reads the settings for a page of tasks. Most tasks share theirs, so each set is read only once. */
async function settingsOf(
  database: Database,
  sets: ReadonlySet<string>,
): Promise<ReadonlyMap<string, FleetSpec['settings']>> {
  if (sets.size === 0) return new Map();
  const rows = await database.rows(
    'select sha256, settings from ralph.setting_set where sha256 = any ($1)',
    [[...sets]],
  );
  return new Map(rows.map(({ sha256, settings }) => [sha256, settings]));
}

/** Resolves to the stored state of a task; null if it has none. */
export async function readCheckpoint(tx: SqlRunner, taskId: string): Promise<Checkpoint | null> {
  const { rows } = await tx.executeSql(
    `select status, iterations, cost_usd as "costUsd", snapshot, packed from ralph.checkpoint where task_id = $1`,
    [taskId],
  );
  return rows[0] ?? null;
}
