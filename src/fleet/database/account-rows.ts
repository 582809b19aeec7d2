import type { Database } from './connection.ts';
import type { AccountChange, AccountFacts, AccountPause } from './fleet-queue.ts';
import { type Jobs, QUEUED_COLUMNS, queueName } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';
import { IS_PARKED, IS_WAITING } from './task-rows.ts';

/**
 * For at most this time after an account's pause, claims of its tasks fail at random, at first nearly all. If its usage
 * limit still holds, only a few workers run into it.
 */
export const SPREAD = "interval '30 s'";

/**
 * Pauses an account: until an instant of the database's clock, for some milliseconds, or until somebody resumes it. A
 * pause that already lasts longer is not shortened.
 */
export async function pauseAccount(
  tx: SqlRunner,
  name: string,
  until: AccountPause,
  why: string,
): Promise<void> {
  if (until === 'until-released') {
    await tx.executeSql(
      `insert into ralph.account (name, held, why) values ($1, true, $2)
       on conflict (name) do update set held = true, why = $2`,
      [name, why],
    );
    return;
  }
  const [instant, ms] = typeof until === 'number' ? [null, until] : [until, null];
  await tx.executeSql(
    `insert into ralph.account as a (name, paused_until, why)
     values ($1, coalesce($2::timestamptz, now() + $3::float8 * interval '1 ms'), $4)
     on conflict (name) do update set
       paused_until = greatest(a.paused_until, excluded.paused_until),
       why = case when a.held or a.paused_until > excluded.paused_until then a.why else excluded.why end`,
    [name, instant, ms, why],
  );
}

/** Pauses an account, sets how many of its tasks may run at once, or resumes it and the tasks that wait for that. */
export async function changeAccount(
  database: Database,
  jobs: Jobs,
  name: string,
  { pause, resume, slots }: AccountChange,
): Promise<void> {
  const parked = await database.rows(
    'select distinct schema, queue from ralph.task where account = $1 and parked is not null',
    [name],
  );
  await jobs.know(parked.map((row) => queueName(row)));
  await database.transaction(async (tx) => {
    if (resume === true) {
      await wakeParked(tx, jobs, name);
      await tx.executeSql(
        'update ralph.account set held = false, paused_until = null, why = null where name = $1',
        [name],
      );
    }
    if (pause !== undefined) await pauseAccount(tx, name, pause, 'by hand');
    if (slots !== undefined) {
      await tx.executeSql(
        'insert into ralph.account (name, slots) values ($1, $2) on conflict (name) do update set slots = $2',
        [name, slots],
      );
    }
  });
}

async function wakeParked(tx: SqlRunner, jobs: Jobs, account: string): Promise<void> {
  const { rows } = await tx.executeSql(
    `select ${QUEUED_COLUMNS}, job, paused from ralph.task
     where account = $1 and ended_at is null and worker is null
       and parked->>'kind' = 'wait' and parked->>'account' = 'true'
     order by number for update`,
    [account],
  );
  for (const row of rows) {
    await jobs.remove(tx, row, row.job);
    // A paused task gets no job (place in the queue) here: `ralph resume` makes one.
    const job = row.paused ? null : await jobs.add(tx, row, null);
    await tx.executeSql(
      'update ralph.task set job = $2, parked = null, parked_at = null where task_id = $1',
      [row.task_id, job],
    );
  }
}

/** Returns the accounts that have open tasks, and those that were ever paused or given a limit of running tasks. */
export function accountFacts(database: Database): Promise<readonly AccountFacts[]> {
  return database.rows(
    `with counted as (
       select account as name,
         count(*) filter (where worker is not null)::int as running,
         count(*) filter (where ${IS_WAITING})::int as waiting,
         count(*) filter (where ${IS_PARKED})::int as parked
       from ralph.task where ended_at is null group by account
     )
     select name as account, case when paused_until > now() then paused_until end as paused_until, coalesce(held, false) as held,
       case when held or paused_until > now() then why end as why, coalesce(slots, 0) as slots,
       coalesce(running, 0) as running, coalesce(waiting, 0) as waiting, coalesce(parked, 0) as parked
     from counted full join ralph.account using (name) order by name`,
  );
}
