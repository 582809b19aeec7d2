import type { Database } from './connection.ts';
import type { QueueFacts } from './fleet-queue.ts';
import { IS_PARKED, IS_WAITING } from './task-rows.ts';

/** Returns an entry for each queue and each version of the rows of its open tasks. `waiting` ones can begin now. */
export function queueFacts(database: Database): Promise<readonly QueueFacts[]> {
  return database.rows(
    `select queue, schema,
       count(*) filter (where waits)::int as waiting,
       count(*) filter (where worker is not null)::int as running,
       count(*) filter (where ${IS_PARKED})::int as parked,
       min(since) filter (where waits) as oldest_waiting_at
     from (
       select *, greatest(created_at, not_before, case when parked->>'kind' = 'handover' then parked_at end) as since,
         ${IS_WAITING} as waits
       from ralph.task where ended_at is null
     ) counted
     group by queue, schema order by queue, schema`,
  );
}
