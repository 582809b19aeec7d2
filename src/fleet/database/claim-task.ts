import { SPREAD } from './account-rows.ts';
import { latestAnswer } from './approval-rows.ts';
import { type Database, Undone } from './connection.ts';
import type { ClaimRequest, FleetClaim } from './fleet-queue.ts';
import { type Jobs, jobKey, QUEUE_NAME, QUEUED_COLUMNS, queueName, readQueueName } from './jobs.ts';
import type { FetchedJob, SqlRunner } from './load-engine.ts';
import { newerTables, TABLES_VERSION } from './migrations.ts';
import { factsOf, readCheckpoint, SELECT_TASKS, type TaskRow } from './task-rows.ts';

/**
 * How many jobs (tasks' places in the queue) one call of `claimNextTask` tries. It goes on to another job if a job is a
 * leftover, if the task's row is locked, and if the task's account has just been paused or has no free slot left.
 */
const TRIES = 20;

const PUT_OFF = "interval '1 s'";

type Tried =
  | { readonly kind: 'claimed'; readonly claim: FleetClaim }
  | { readonly kind: 'nothing' }
  /** The job was removed: it belonged to no task, or its task now has a job in the queue of this worker's schema. */
  | { readonly kind: 'leftover' };

/** Thrown if no task of this account may be claimed now. The rollback also undoes the fetch of the job. */
class AccountClosed extends Undone {
  readonly account: string;

  constructor(account: string) {
    super(`account ${account} is closed to this claim`);
    this.account = account;
  }
}

/** Thrown if another transaction is changing the task. The rollback also undoes the fetch, so no claim begins. */
class TaskBusy extends Undone {
  readonly job: string;

  constructor(job: string) {
    super(`the task of job ${job} is being changed`);
    this.job = job;
  }
}

/** Claims the next task; null if there is none. The claim holds for `leaseMs` unless the worker renews it. */
export async function claimNextTask(
  database: Database,
  jobs: Jobs,
  leaseMs: number,
  request: ClaimRequest,
): Promise<FleetClaim | null> {
  const ignored = new Set(await closedAccounts(database, request));
  const names = namesFor(request);
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const name = await bestQueue(database, names, ignored);
    if (name === null) return null;
    await jobs.know([name, queueName({ ...readQueueName(name), schema: request.schema })]);
    try {
      const came = await database.transaction((tx) =>
        tryClaim(tx, { jobs, leaseMs, request, name, ignored }),
      );
      if (came.kind === 'claimed') return came.claim;
      if (came.kind === 'nothing') return null;
    } catch (error) {
      if (error instanceof AccountClosed) ignored.add(error.account);
      else if (error instanceof TaskBusy) await putOff(database, name, error.job);
      else throw error;
    }
  }
  return null;
}

/** Puts a job off for a moment. Otherwise the next fetch would return the same job again. */
async function putOff(database: Database, name: string, job: string): Promise<void> {
  await database.rows(
    `update ralph_queue.job set start_after = now() + ${PUT_OFF} where name = $1 and id = $2 and state < 'active'`,
    [name, job],
  );
}

async function closedAccounts(
  database: Database,
  { accounts }: ClaimRequest,
): Promise<readonly string[]> {
  const [row] = await database.rows(
    `select (select value::int from ralph.meta where key = 'tables') as tables, array(
       select name from ralph.account a
       where held or paused_until + random() * ${SPREAD} > now() or
         (slots > 0 and slots <= (select count(*) from ralph.task where account = a.name and worker is not null))
       union
       select distinct account from ralph.task where $1::text[] is not null and ended_at is null
         and account <> all ($1)
     ) as closed`,
    [accounts],
  );
  // Every claim begins with this query, so each one notices at once that a newer ralph has changed the tables.
  if (row?.tables > TABLES_VERSION) throw newerTables(database.name, row?.tables);
  return row?.closed ?? [];
}

/** Returns the names of all pg-boss queues that may hold a task for this request. */
function namesFor({ queues, schema }: ClaimRequest): readonly string[] {
  return queues.flatMap((queue) =>
    Array.from({ length: schema }, (_, index) => queueName({ schema: index + 1, queue })),
  );
}

/**
 * Returns the pg-boss queue whose next job comes first; null if no queue has a job. A single queue is returned
 * unchecked. pg-boss cannot compare queues: it fetches from one at a time, and a worker may take tasks of several.
 */
async function bestQueue(
  database: Database,
  names: readonly string[],
  ignored: ReadonlySet<string>,
): Promise<string | null> {
  if (names.length <= 1) return names[0] ?? null;
  const rows = await database.rows(
    `select q.name from unnest($1::text[]) as q (name), lateral (
       select priority, created_on from ralph_queue.job j
       where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now()
         and j.group_id <> all ($2::text[])
       order by priority desc, created_on limit 1
     ) first
     order by first.priority desc, first.created_on limit 1`,
    [names, [...ignored]],
  );
  return rows[0]?.name ?? null;
}

interface Try {
  readonly jobs: Jobs;
  readonly leaseMs: number;
  readonly request: ClaimRequest;
  readonly name: string;
  readonly ignored: ReadonlySet<string>;
}

async function tryClaim(tx: SqlRunner, given: Try): Promise<Tried> {
  const { jobs, leaseMs, request, name, ignored } = given;
  const fetched = await jobs.boss.fetch(name, { db: tx, ignoreGroups: [...ignored] });
  const job = fetched[0];
  if (job === undefined) return { kind: 'nothing' };
  const isOlder = readQueueName(name).schema < request.schema;
  if (isOlder && (await raiseSchema(tx, job, given))) return { kind: 'leftover' };
  const row = isOlder ? null : await takeTask(tx, name, job, request);
  if (row === null) {
    if (await isItsJob(tx, name, job)) throw new TaskBusy(job.id);
    await jobs.boss.deleteJob(name, job.id, { db: tx });
    return { kind: 'leftover' };
  }
  await checkAccount(tx, row, request);
  if (job.heartbeatSeconds !== leaseMs / 1_000) {
    // The claim has to last as long as its worker expects, even if the job was made when the lease had another length.
    await tx.executeSql(
      'update ralph_queue.job set heartbeat_seconds = $3 where name = $1 and id = $2',
      [name, job.id, leaseMs / 1_000],
    );
  }
  const claim = {
    taskId: row.task_id,
    fence: row.fence,
    job: jobKey(name, job),
    task: factsOf(row),
    checkpoint: await readCheckpoint(tx, row.task_id),
    answer: await latestAnswer(tx, row.task_id),
  };
  return { kind: 'claimed', claim };
}

/**
 * SQL for an open, unpaused task whose own job is the given one. The queue is compared, too: a job written by hand into
 * another queue may have the id of a task's job.
 */
const IS_ITS_JOB = `t.task_id = $1 and t.job = $2 and ${QUEUE_NAME} = $3 and t.ended_at is null and not t.paused`;

/** Writes the claim into the task's row. Null if the job is not the task's own, or if the row is locked. */
async function takeTask(
  tx: SqlRunner,
  name: string,
  job: FetchedJob,
  { workerId, host }: ClaimRequest,
): Promise<TaskRow | null> {
  const { rows } = await tx.executeSql(
    `with mine as (
       select task_id from ralph.task t where ${IS_ITS_JOB} for update skip locked
     ), taken as (
       update ralph.task t set fence = fence + 1, claims = claims + 1, hosts = hosts || $5::text, worker = $4, host = $5,
         parked = null, parked_at = null, not_before = null, updated_at = now(),
         status = case when status = 'paused_awaiting_approval' then 'running' else status end
       from mine where t.task_id = mine.task_id returning t.*
     )
     ${SELECT_TASKS.replace('ralph.task', 'taken')}`,
    [taskOf(job), job.id, name, workerId, host],
  );
  return rows[0] ?? null;
}

/** Whether the job is the task's own. If so, it could not be taken only because another transaction locks the row. */
async function isItsJob(tx: SqlRunner, name: string, job: FetchedJob): Promise<boolean> {
  const { rows } = await tx.executeSql(`select 1 from ralph.task t where ${IS_ITS_JOB}`, [
    taskOf(job),
    job.id,
    name,
  ]);
  return rows.length > 0;
}

/**
 * Locks the account's row. Throws `AccountClosed` if the request excludes the account, or if it was paused or its last
 * slot taken since `closedAccounts` looked.
 */
async function checkAccount(
  tx: SqlRunner,
  { account, task_id }: TaskRow,
  { accounts }: ClaimRequest,
): Promise<void> {
  if (accounts !== null && !accounts.includes(account)) throw new AccountClosed(account);
  const { rows } = await tx.executeSql(
    'select held or coalesce(paused_until > now(), false) as closed, slots from ralph.account where name = $1 for update',
    [account],
  );
  if (rows[0]?.closed === true) throw new AccountClosed(account);
  const slots = rows[0]?.slots ?? 0;
  if (slots === 0) return;
  const { rows: counted } = await tx.executeSql(
    'select count(*)::int as running from ralph.task where account = $1 and worker is not null and task_id <> $2',
    [account, task_id],
  );
  if (counted[0]?.running >= slots) throw new AccountClosed(account);
}

function taskOf({ data }: FetchedJob): string {
  return (data as { task?: string } | null)?.task ?? '';
}

/**
 * Moves a task, and its job, from an older schema (form of a stored task) to this worker's: older workers may not
 * understand what this one writes. False, with nothing changed, if the job is not the task's own, or the row is locked.
 */
async function raiseSchema(
  tx: SqlRunner,
  job: FetchedJob,
  { jobs, name, request }: Try,
): Promise<boolean> {
  const { rows } = await tx.executeSql(
    `with mine as (
       select task_id from ralph.task t where ${IS_ITS_JOB} for update skip locked
     )
     update ralph.task set schema = $4, job = gen_random_uuid() where task_id = (select task_id from mine)
     returning ${QUEUED_COLUMNS}, job`,
    [taskOf(job), job.id, name, request.schema],
  );
  const task = rows[0];
  if (task === undefined) return false;
  await jobs.boss.deleteJob(name, job.id, { db: tx });
  await jobs.addAll(tx, [{ task, job: task.job, startAt: null }]);
  return true;
}
