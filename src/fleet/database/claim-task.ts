import { SPREAD } from './account-rows.ts';
import { latestAnswer } from './approval-rows.ts';
import { type Database, Undone } from './connection.ts';
import type { ClaimRequest, FleetClaim } from './fleet-queue.ts';
import { type Jobs, jobKey, QUEUE_NAME, QUEUED_COLUMNS, queueName, readQueueName } from './jobs.ts';
import type { FetchedJob, SqlRunner } from './load-engine.ts';
import { newerTables, TABLES_VERSION } from './migrations.ts';
import {
  checkpointOf,
  factsOf,
  SELECT_CHECKPOINT,
  SELECT_TASKS,
  type TaskRow,
} from './task-rows.ts';

/**
 * How many jobs one call tries: it goes on after a leftover, after a task whose row is locked, and after an account that
 * another worker has just filled.
 */
const TRIES = 20;

/** How long a job is left alone if the row of its task is locked. */
const PUT_OFF = "interval '1 s'";

/** What came of one fetched job. */
type Tried =
  | { readonly kind: 'claimed'; readonly claim: FleetClaim }
  | { readonly kind: 'nothing' }
  /** The job is gone: it was of no task, or of one that has a job in the queue of this worker's schema now. */
  | { readonly kind: 'leftover' };

/** The account cannot be served: the fetch of the job is undone. */
class AccountClosed extends Undone {
  readonly account: string;

  constructor(account: string) {
    super(`account ${account} is closed to this claim`);
    this.account = account;
  }
}

/** Somebody changes the task right now: the fetch of its job is undone, so that no lease begins. */
class TaskBusy extends Undone {
  readonly job: string;

  constructor(job: string) {
    super(`the task of job ${job} is being changed`);
    this.job = job;
  }
}

/** Claims the next task, as `FleetQueue.claim` says. `leaseMs`: how long the claim holds without a beat. */
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

/** Lets the next jobs be fetched before this one, which would be the first again. */
async function putOff(database: Database, name: string, job: string): Promise<void> {
  await database.rows(
    `update ralph_queue.job set start_after = now() + ${PUT_OFF} where name = $1 and id = $2 and state < 'active'`,
    [name, job],
  );
}

/** Returns the accounts for which nothing can be claimed at present. */
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
  // Looked at here, since each claim begins with this.
  if (row?.tables > TABLES_VERSION) throw newerTables(database.name, row?.tables);
  return row?.closed ?? [];
}

/** Returns the queues of the engine from which the request may be served. */
function namesFor({ queues, schema }: ClaimRequest): readonly string[] {
  return queues.flatMap((queue) =>
    Array.from({ length: schema }, (_, index) => queueName({ schema: index + 1, queue })),
  );
}

/**
 * Returns the queue of the engine whose next job comes first; null if there is no job. The engine fetches from one queue
 * at a time, and a worker may take tasks of several names and schemas.
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
    // A claim lasts as long as its worker believes, even if the lease was another one when the job was made.
    await tx.executeSql(
      'update ralph_queue.job set heartbeat_seconds = $3 where name = $1 and id = $2',
      [name, job.id, leaseMs / 1_000],
    );
  }
  const { rows } = await tx.executeSql(SELECT_CHECKPOINT, [row.task_id]);
  const claim = {
    taskId: row.task_id,
    fence: row.fence,
    job: jobKey(name, job),
    task: factsOf(row),
    checkpoint: checkpointOf(rows[0]),
    answer: await latestAnswer(tx, row.task_id),
  };
  return { kind: 'claimed', claim };
}

/** A job that somebody wrote may have the id of a task's job in another queue. */
const IS_ITS_JOB = `t.task_id = $1 and t.job = $2 and ${QUEUE_NAME} = $3 and t.ended_at is null and not t.paused`;

/** Enters the claim in the row of the task; null if the job is not the task's, or somebody else changes the row. */
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

/** Whether the job is the task's after all, so that somebody changes the task right now. */
async function isItsJob(tx: SqlRunner, name: string, job: FetchedJob): Promise<boolean> {
  const { rows } = await tx.executeSql(`select 1 from ralph.task t where ${IS_ITS_JOB}`, [
    taskOf(job),
    job.id,
    name,
  ]);
  return rows.length > 0;
}

/** Throws `AccountClosed` if the account has closed since `closedAccounts` looked. Its row stays locked. */
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
 * Gives a task of an older schema a job in the queue of this worker's own: older workers may not know the state that this
 * one writes. False, and nothing changed, if the job is not the task's, or somebody else changes the row.
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
