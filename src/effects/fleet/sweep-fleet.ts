import type { Database } from './connection.ts';
import { type Jobs, QUEUED_COLUMNS, queueName } from './jobs.ts';
import type { JobAttempt } from './load-engine.ts';

/** At most one worker sweeps at a time; the others have nothing to do meanwhile. */
const LOCK = "select pg_try_advisory_xact_lock(hashtext('ralph.sweep')) as mine";
/** Rows that one sweep repairs of each kind; the next one takes the rest. */
const AT_ONCE = 500;

/** A task that nobody works on or holds, and that has no job that could be claimed. */
const WITHOUT_JOB = `
  ended_at is null and not paused and worker is null
  and not coalesce(job is null and parked->>'kind' = 'approval' and parked->>'until' is null, false)
  and not exists (select from ralph_queue.job j where j.id = t.job and j.state <= 'active')`;

/**
 * Frees what dead workers held, and gives a job to each open task without one. What is due needs no help: its job can be
 * claimed from that instant on.
 */
export async function sweepFleet(database: Database, jobs: Jobs): Promise<void> {
  const names = await database.rows(
    `select distinct schema, queue from ralph.task t where ${WITHOUT_JOB}`,
  );
  await jobs.know(names.map((row) => queueName(row)));
  const lost = await database.rows(
    "select distinct name from ralph_queue.job where state = 'active' and heartbeat_on + heartbeat_seconds * interval '1 s' < now()",
  );
  await jobs.know(lost.map(({ name }) => name));
  await database.transaction(async (tx) => {
    const { rows: lock } = await tx.executeSql(LOCK);
    if (lock[0]?.mine !== true) return;

    // The engine does the same every ten seconds by itself, but not at a moment of our choice.
    const { rows: overdue } = await tx.executeSql(
      `select name, id, retry_count from ralph_queue.job
       where state = 'active' and name = any ($1) and heartbeat_on + heartbeat_seconds * interval '1 s' < now()
       limit ${AT_ONCE} for update skip locked`,
      [lost.map(({ name }) => name)],
    );
    const byQueue = new Map<string, JobAttempt[]>();
    for (const { name, id, retry_count } of overdue) {
      byQueue.set(name, [...(byQueue.get(name) ?? []), { id, retryCount: retry_count }]);
    }
    for (const [name, attempts] of byQueue) await jobs.boss.fail(name, attempts, null, { db: tx });

    await tx.executeSql(
      `update ralph.task t set worker = null, host = null
       where worker is not null
         and not exists (select from ralph_queue.job j where j.id = t.job and j.state = 'active')`,
    );

    const { rows: bare } = await tx.executeSql(
      `select ${QUEUED_COLUMNS}, coalesce(case when parked->>'kind' <> 'handover' then parked->>'until' end,
         to_char(not_before at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as start_at
       from ralph.task t where ${WITHOUT_JOB} limit ${AT_ONCE} for update skip locked`,
    );
    for (const row of bare) {
      const name = queueName(row);
      if (!names.some((known) => queueName(known) === name)) continue;
      const job = await jobs.add(tx, row, row.start_at);
      await tx.executeSql('update ralph.task set job = $2 where task_id = $1', [row.task_id, job]);
    }

    await tx.executeSql("delete from ralph.worker where seen_at < now() - interval '1 day'");
  });
}
