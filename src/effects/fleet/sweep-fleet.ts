import type { Database } from './connection.ts';
import { type Jobs, QUEUE_NAME, QUEUED_COLUMNS, queueName } from './jobs.ts';
import type { JobAttempt, SqlRunner } from './load-engine.ts';

/** At most one worker sweeps at a time; the others have nothing to do meanwhile. */
const LOCK = "select pg_try_advisory_xact_lock(hashtext('ralph.sweep')) as mine";
/** Rows that one sweep repairs of each kind; the next one takes the rest. */
const AT_ONCE = 500;

/** The engine finds a job by its queue and its id, not by its id alone. */
const JOB_OF_TASK = `j.name = ${QUEUE_NAME} and j.id = t.job`;

/** A task that nobody works on or holds, and that has no job that could be claimed. */
const WITHOUT_JOB = `
  ended_at is null and not paused and worker is null
  and not coalesce(job is null and parked->>'kind' = 'approval' and parked->>'until' is null, false)
  and not exists (select from ralph_queue.job j where ${JOB_OF_TASK} and j.state <= 'active')`;

/**
 * Frees what dead workers held, and gives a job to each open task without one. What is due needs no help: its job can be
 * claimed from that instant on.
 */
export async function sweepFleet(database: Database, jobs: Jobs): Promise<void> {
  for (;;) {
    const unknown = await database.transaction((tx) => sweep(tx, jobs));
    if (unknown.size === 0) return;
    await jobs.know(unknown);
  }
}

/** Resolves to the queues of what it left, since the engine does not know them yet. */
async function sweep(tx: SqlRunner, jobs: Jobs): Promise<ReadonlySet<string>> {
  const unknown = new Set<string>();
  const isKnown = (name: string): boolean => {
    if (!jobs.knows(name)) unknown.add(name);
    return jobs.knows(name);
  };
  const { rows: lock } = await tx.executeSql(LOCK);
  if (lock[0]?.mine !== true) return unknown;

  // The engine does the same every ten seconds by itself, but not at a moment of our choice.
  const { rows: overdue } = await tx.executeSql(
    `select name, id, retry_count from ralph_queue.job
     where state = 'active' and heartbeat_on + heartbeat_seconds * interval '1 s' < now()
     limit ${AT_ONCE} for update skip locked`,
  );
  const byQueue = new Map<string, JobAttempt[]>();
  for (const { name, id, retry_count } of overdue) {
    if (!isKnown(name)) continue;
    byQueue.set(name, [...(byQueue.get(name) ?? []), { id, retryCount: retry_count }]);
  }
  for (const [name, attempts] of byQueue) await jobs.boss.fail(name, attempts, null, { db: tx });

  await tx.executeSql(
    `update ralph.task t set worker = null, host = null
     where worker is not null
       and not exists (select from ralph_queue.job j where ${JOB_OF_TASK} and j.state = 'active')`,
  );

  const { rows: bare } = await tx.executeSql(
    `select ${QUEUED_COLUMNS}, coalesce(case when parked->>'kind' <> 'handover' then parked->>'until' end,
       to_char(not_before at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as start_at
     from ralph.task t where ${WITHOUT_JOB} limit ${AT_ONCE} for update skip locked`,
  );
  for (const row of bare) {
    if (!isKnown(queueName(row))) continue;
    // One bad row must not keep the others from their jobs.
    await tx.executeSql('savepoint one_task');
    try {
      const job = await jobs.add(tx, row, row.start_at);
      await tx.executeSql('update ralph.task set job = $2 where task_id = $1', [row.task_id, job]);
    } catch {
      // If the connection is gone, this fails, too.
      await tx.executeSql('rollback to savepoint one_task');
    }
  }

  await tx.executeSql("delete from ralph.worker where seen_at < now() - interval '1 day'");
  return unknown;
}
