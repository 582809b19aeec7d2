import { randomUUID } from 'node:crypto';
import { messageOf } from '../../errors.ts';
import type { Database } from './connection.ts';
import type { SweepTrouble } from './fleet-queue.ts';
import { type Jobs, QUEUE_NAME, QUEUED_COLUMNS, type QueuedTask, queueName } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';

/**
 * This row is locked while a worker sweeps (repairs tasks), so that other workers skip their sweep. No advisory lock
 * is used: anyone who may log in could hold one for ever, while only workers can lock this row.
 */
const LOCK = "select 1 from ralph.meta where key = 'tables' for update skip locked";
/** The most rows of each kind that one transaction repairs. */
const AT_ONCE = 500;

/** SQL that finds the job of a task by its queue and its id: the id alone does not identify a job for pg-boss. */
const JOB_OF_TASK = `j.name = ${QUEUE_NAME} and j.id = t.job`;

/** SQL for an open task that is not paused, that no worker runs, and that has no job that could be claimed. */
const WITHOUT_JOB = `
  ended_at is null and not paused and worker is null
  and not exists (select from ralph_queue.job j where ${JOB_OF_TASK} and j.state <= 'active')`;

const LOST = `worker is not null
  and not exists (select from ralph_queue.job j where ${JOB_OF_TASK} and j.state = 'active')`;

/**
 * Frees the tasks of dead workers, and gives a job to each open task without one. Resolves to what could not be done. A
 * task that becomes due needs no sweep: its job can be claimed from that instant on.
 */
export async function sweepFleet(database: Database, jobs: Jobs): Promise<readonly SweepTrouble[]> {
  const troubles: SweepTrouble[] = [];
  // The queues that this sweep has tried to make known to pg-boss: after a failure, another try would fail again.
  const asked = new Set<string>();
  let after: string | null = '0';
  while (after !== null) {
    const from: string = after;
    const swept: Swept = await database.transaction((tx) => sweep(tx, jobs, from));
    const unknown = [...swept.unknown].filter((name) => !asked.has(name));
    for (const name of unknown) {
      asked.add(name);
      const why = await failureOf(() => jobs.know([name]));
      if (why !== null) troubles.push({ what: `the tasks of ${name} got no jobs`, why });
    }
    troubles.push(...swept.troubles);
    if (unknown.length === 0) after = swept.next;
  }
  return troubles;
}

interface Swept {
  readonly troubles: readonly SweepTrouble[];
  /** The queues of tasks that were skipped because pg-boss does not know these queues yet. */
  readonly unknown: ReadonlySet<string>;
  /** The number of the last task that was looked at; null if there are no more. */
  readonly next: string | null;
}

async function sweep(tx: SqlRunner, jobs: Jobs, after: string): Promise<Swept> {
  const troubles: SweepTrouble[] = [];
  const unknown = new Set<string>();
  const isKnown = (name: string): boolean => {
    if (!jobs.knows(name)) unknown.add(name);
    return jobs.knows(name);
  };
  const { rows: lock } = await tx.executeSql(LOCK);
  if (lock.length === 0) return { troubles, unknown, next: null };

  // pg-boss also frees overdue jobs every ten seconds, but the steps below need that done now.
  const { rows: overdue } = await tx.executeSql(
    `select name, id, retry_count, singleton_key from ralph_queue.job
     where state = 'active' and heartbeat_on + heartbeat_seconds * interval '1 s' < now()
     limit ${AT_ONCE} for update skip locked`,
  );
  for (const { name, id, retry_count, singleton_key } of overdue) {
    if (!isKnown(name)) continue;
    const attempt = { id, retryCount: retry_count };
    const why = await tried(tx, () => jobs.boss.fail(name, [attempt], null, { db: tx }));
    if (why !== null) {
      troubles.push({ what: `the lost claim of task ${singleton_key} was not freed`, why });
    }
  }

  const { rows: lost } = await tx.executeSql(
    `select task_id from ralph.task t where ${LOST} for update skip locked`,
  );
  // The condition is tested again, since the task may have been claimed before the query above locked its row.
  await tx.executeSql(
    `update ralph.task t set worker = null, host = null where task_id = any ($1) and ${LOST}`,
    [lost.map(({ task_id }) => task_id)],
  );

  const { rows: bare } = await tx.executeSql(
    `select ${QUEUED_COLUMNS}, coalesce(case when parked->>'kind' <> 'handover' then parked->>'until' end,
       to_char(not_before at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as start_at
     from ralph.task t where ${WITHOUT_JOB} and number > $1
     order by number limit ${AT_ONCE} for update skip locked`,
    [after],
  );
  troubles.push(
    ...(await giveJobs(
      tx,
      jobs,
      bare.filter((row) => isKnown(queueName(row))),
    )),
  );

  await tx.executeSql("delete from ralph.worker where seen_at < now() - interval '1 day'");
  const next = bare.length < AT_ONCE ? null : bare.at(-1).number;
  return { troubles, unknown, next };
}

type Bare = QueuedTask & { readonly start_at: string | null };

/** Gives jobs to tasks without one: to all together or, if that fails, one by one. */
async function giveJobs(
  tx: SqlRunner,
  jobs: Jobs,
  rows: readonly Bare[],
): Promise<readonly SweepTrouble[]> {
  const give = async (some: readonly Bare[]): Promise<void> => {
    const made = some.map((task) => ({ task, job: randomUUID(), startAt: task.start_at }));
    await jobs.addAll(tx, made);
    await tx.executeSql(
      `update ralph.task t set job = made.job from unnest($1::text[], $2::uuid[]) as made (task_id, job)
       where t.task_id = made.task_id`,
      [made.map(({ task }) => task.task_id), made.map(({ job }) => job)],
    );
  };
  if (rows.length === 0 || (await tried(tx, () => give(rows))) === null) return [];
  const troubles: SweepTrouble[] = [];
  for (const row of rows) {
    const why = await tried(tx, () => give([row]));
    if (why !== null) troubles.push({ what: `task ${row.task_id} got no job`, why });
  }
  return troubles;
}

/** Runs `work` so that its failure does not undo the rest of the transaction. Resolves to why it failed, or null. */
async function tried(tx: SqlRunner, work: () => Promise<unknown>): Promise<string | null> {
  await tx.executeSql('savepoint one_row');
  const why = await failureOf(work);
  // If the connection is gone, this statement rejects.
  await tx.executeSql(`${why === null ? 'release' : 'rollback to'} savepoint one_row`);
  return why;
}

/** Resolves to why the work failed, or null. If the reason is an outage, the caller's next statement rejects, too. */
async function failureOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
