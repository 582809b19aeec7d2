import { type EndedStatus, isEnded } from '../../core/task/endings.ts';
import { sha256Of } from '../../effects/files/file-hash.ts';
import type { FleetSpec } from '../core/fleet-task.ts';
import { type Database, Overtaken, Undone } from './connection.ts';
import type { NewFleetTask, Submitted } from './fleet-queue.ts';
import { type Jobs, QUEUED_COLUMNS, type QueuedTask, queueName } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';

/** The most tasks in one statement: few enough that it ends in time. */
const AT_ONCE = 1_000;
/** The most bytes of JSON in one statement, for the same reason. */
const BYTES_AT_ONCE = 8_000_000;

/** A set of settings is named by this many hex digits (128 bits) of its checksum. */
const SET_DIGITS = 32;

class Refused extends Undone {
  readonly outcome: readonly Submitted[];

  constructor(outcome: readonly Submitted[]) {
    super('a task of the call is refused');
    this.outcome = outcome;
  }
}

type Made = QueuedTask & { readonly job: string; readonly start_at: string | null };

/**
 * Queues all tasks or none. The caller has checked them; no id occurs twice. If this user may not write jobs (places
 * in pg-boss), a worker soon makes them: the right to write jobs by hand would let a submitter command pg-boss.
 */
export async function submitTasks(
  database: Database,
  jobs: Jobs,
  tasks: readonly NewFleetTask[],
): Promise<readonly Submitted[]> {
  const makesJobs = await mayMakeJobs(database);
  if (makesJobs) await jobs.know(new Set(tasks.map(({ spec }) => queueName(spec))));
  const rows = tasks.map(rowOf);
  try {
    return await database.transaction(async (tx) => {
      const queued = await insertAll(tx, rows);
      const outcome = await outcomesOf(tx, tasks, rows, queued);
      if (outcome.some(({ kind }) => kind === 'taken')) throw new Refused(outcome);
      if (makesJobs) await addJobs(tx, jobs, [...queued.values()]);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}

async function mayMakeJobs(database: Database): Promise<boolean> {
  const [row] = await database.rows(
    "select has_table_privilege('ralph_queue.job', 'delete') as may",
  );
  return row?.may === true;
}

type NewRow = ReturnType<typeof rowOf>;

/** The settings of a task as JSON, and the name of the set. Tasks with equal settings share one stored set. */
interface SettingSet {
  readonly settings: string;
  readonly setting_set: string;
}

function settingSet(settings: FleetSpec['settings']): SettingSet {
  const text = JSON.stringify(settings);
  const digest = sha256Of(text);
  return { settings: text, setting_set: digest.slice(0, SET_DIGITS) };
}

/** Stores settings unless they are stored already. Resolves to the name of their set. */
export async function keepSettings(
  tx: SqlRunner,
  settings: FleetSpec['settings'],
): Promise<string> {
  const set = settingSet(settings);
  await insertSets(tx, [set]);
  return set.setting_set;
}

async function insertSets(tx: SqlRunner, all: readonly SettingSet[]): Promise<void> {
  const sets = new Map(all.map((set) => [set.setting_set, set.settings]));
  for (const part of parts([...sets].map(([sha256, settings]) => ({ sha256, settings })))) {
    await tx.executeSql(
      `insert into ralph.setting_set (sha256, settings)
       select sha256, settings::json from json_to_recordset($1) as x (sha256 text, settings text)
       on conflict do nothing`,
      [part],
    );
  }
}

function rowOf({ spec: { settings, ...whole }, contentSha256, notBefore }: NewFleetTask) {
  const { task_id, schema, queue, account, priority, ...spec } = whole;
  return {
    ...{ task_id, schema, queue, account, priority, spec, ...settingSet(settings) },
    content_sha256: contentSha256,
    after_ms: typeof notBefore === 'number' ? notBefore : null,
    not_before: typeof notBefore === 'string' ? notBefore : null,
  };
}

/** Inserts the tasks whose ids are free. Resolves to the inserted rows by their ids, in order. */
async function insertAll(tx: SqlRunner, rows: readonly NewRow[]): Promise<Map<string, Made>> {
  await insertSets(tx, rows);
  const made = new Map<string, Made>();
  for (const part of parts(rows.map(({ settings, ...row }) => row))) {
    const { rows: inserted } = await tx.executeSql(
      `insert into ralph.task
         (task_id, spec, setting_set, content_sha256, schema, queue, account, priority, not_before)
       select task_id, spec, setting_set, content_sha256, schema, queue, account, priority,
         coalesce(not_before, now() + after_ms * interval '1 ms')
       from json_to_recordset($1) as x
         (task_id text, spec json, setting_set text, content_sha256 text, schema int, queue text, account text,
          priority int, not_before timestamptz, after_ms float8)
       on conflict do nothing
       returning ${QUEUED_COLUMNS}, job, not_before as start_at`,
      [part],
    );
    for (const row of inserted as Made[]) made.set(row.task_id, row);
  }
  return made;
}

/** Returns what became of each task, and starts an ended task afresh if `again` says so. */
async function outcomesOf(
  tx: SqlRunner,
  tasks: readonly NewFleetTask[],
  rows: readonly NewRow[],
  queued: Map<string, Made>,
): Promise<readonly Submitted[]> {
  const there = new Map<string, { status: string; content_sha256: string; ended: boolean }>();
  const ids = rows.map(({ task_id }) => task_id).filter((id) => !queued.has(id));
  if (ids.length > 0) {
    const { rows: found } = await tx.executeSql(
      'select task_id, status, content_sha256, ended_at is not null as ended from ralph.task where task_id = any($1)',
      [ids],
    );
    for (const row of found) there.set(row.task_id, row);
  }
  const outcome: Submitted[] = [];
  for (const [index, row] of rows.entries()) {
    const before = there.get(row.task_id);
    const taskId = row.task_id;
    if (before === undefined) {
      // Another task had this id and has been pruned since, so the transaction is tried again.
      if (!queued.has(taskId)) throw new Overtaken(`task ${taskId} has been removed meanwhile`);
      outcome.push({ kind: 'queued', taskId });
    } else if (tasks[index]?.again === true) {
      const made = before.ended ? await startAfresh(tx, row) : null;
      if (made === null) outcome.push({ kind: 'taken', taskId, isOpen: true });
      else {
        queued.set(taskId, made);
        outcome.push({ kind: 'queued', taskId });
      }
    } else if (before.content_sha256 !== row.content_sha256) {
      outcome.push({ kind: 'taken', taskId, isOpen: !before.ended });
    } else if (before.ended && isEnded(before.status)) {
      outcome.push({ kind: 'already-ended', taskId, status: before.status as EndedStatus });
    } else {
      outcome.push({ kind: 'already-queued', taskId });
    }
  }
  return outcome;
}

/**
 * Makes a new task out of an ended one. Keeps its fence (number of claims) and, for the same branch and repository, its
 * `branch_commit`. Resolves to null if the task is open by now.
 */
async function startAfresh(tx: SqlRunner, row: NewRow): Promise<Made | null> {
  const { rows } = await tx.executeSql(
    `update ralph.task set
       (spec, setting_set, content_sha256, schema, queue, account, priority, not_before) =
       ($2, $3, $4, $5, $6, $7, $8, coalesce($9::timestamptz, now() + $10::float8 * interval '1 ms')),
       number = default, job = default, claims = 0, hosts = '{}', parks = 0, parked = null,
       parked_at = null, paused = false, status = 'pending',
       exit_reason = null, exit_code = null, warning = null, note = null, iterations = 0, cost_usd = 0,
       branch_commit = case when spec->>'branch' = $2::json->>'branch' and spec->>'repo' = $2::json->>'repo'
         then branch_commit end,
       base_commit = null, result_commit = null, result_ref = null,
       created_at = now(), updated_at = now(), ended_at = null
     where task_id = $1 and ended_at is not null
     returning ${QUEUED_COLUMNS}, job, not_before as start_at`,
    [
      ...[row.task_id, JSON.stringify(row.spec), row.setting_set, row.content_sha256, row.schema],
      ...[row.queue, row.account, row.priority, row.not_before, row.after_ms],
    ],
  );
  for (const table of ['checkpoint', 'event', 'log', 'request', 'approval']) {
    await tx.executeSql(`delete from ralph.${table} where task_id = $1`, [row.task_id]);
  }
  return rows[0] ?? null;
}

async function addJobs(tx: SqlRunner, jobs: Jobs, made: readonly Made[]): Promise<void> {
  for (let from = 0; from < made.length; from += AT_ONCE) {
    await jobs.addAll(
      tx,
      made.slice(from, from + AT_ONCE).map((row) => ({
        task: row,
        job: row.job,
        startAt: row.start_at,
      })),
    );
  }
}

/** Divides rows into JSON arrays that are each small enough for one statement. */
function* parts(rows: readonly object[]): Generator<string> {
  let part: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (part.length === AT_ONCE || (bytes + text.length > BYTES_AT_ONCE && part.length > 0)) {
      yield `[${part.join(',')}]`;
      part = [];
      bytes = 0;
    }
    part.push(text);
    bytes += text.length;
  }
  if (part.length > 0) yield `[${part.join(',')}]`;
}
