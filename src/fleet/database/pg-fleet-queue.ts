import { FleetAwayError } from '../../errors.ts';
import { isReadableSpec } from '../core/spec-problems.ts';
import { accountFacts, changeAccount, pauseAccount } from './account-rows.ts';
import { openApprovals } from './approval-rows.ts';
import { claimNextTask } from './claim-task.ts';
import type { Database } from './connection.ts';
import { eventOfRow } from './event-rows.ts';
import type { ClaimKey, FleetQueue, PackedLog } from './fleet-queue.ts';
import { type Jobs, readJobKey } from './jobs.ts';
import { queueFacts } from './queue-rows.ts';
import { steering } from './steer-task.ts';
import { submitTasks } from './submit-tasks.ts';
import { sweepFleet } from './sweep-fleet.ts';
import { factsOf, readCheckpoint, readTasks, SELECT_TASKS } from './task-rows.ts';
import { claimWrites } from './write-claim.ts';

/** The most tasks that one statement removes with all their events, so that it ends in time. */
const PRUNED_AT_ONCE = 100;

/** Removes settings that no task uses any more, at most so many that the statement ends in time. */
const UNUSED_SETTINGS = `delete from ralph.setting_set where sha256 in (
  select sha256 from ralph.setting_set s
  where not exists (select from ralph.task where setting_set = s.sha256) limit 10000)`;

/** Returns the queue of a fleet in PostgreSQL: `ralph_queue` holds the jobs of pg-boss, `ralph` the tasks. */
export function pgFleetQueue(database: Database, jobs: Jobs, leaseMs: number): FleetQueue {
  let isClosed = false;
  return {
    name: database.name,
    leaseMs,
    ...claimWrites(database, jobs),
    ...steering(database, jobs),
    submit: (tasks) => submitTasks(database, jobs, tasks),

    async present({ id, ...facts }) {
      await database.rows(
        `insert into ralph.worker (id, facts) values ($1, $2)
         on conflict (id) do update set facts = $2, seen_at = now()`,
        [id, JSON.stringify(facts)],
      );
    },

    async leave(workerId) {
      await database.rows('delete from ralph.worker where id = $1', [workerId]);
    },

    claim: (request) => claimNextTask(database, jobs, leaseMs, request),

    async beat(claims) {
      const byQueue = new Map<string, ClaimKey[]>();
      for (const claim of claims) {
        const { name } = readJobKey(claim.job);
        byQueue.set(name, [...(byQueue.get(name) ?? []), claim]);
      }
      const held = new Set<string>();
      for (const [name, those] of byQueue) {
        const attempts = those.map(({ job }) => readJobKey(job));
        const { settled = [] } = await jobs.boss.touch(name, attempts);
        for (const claim of those) {
          if (settled.includes(readJobKey(claim.job).id)) held.add(claim.taskId);
        }
      }
      return held;
    },

    pauseAccount: (name, until, why) => pauseAccount(database, name, until, why),

    async requestsTo(claims) {
      const rows = await database.rows(
        `select r.id, r.task_id, r.kind, r.text, r.by from ralph.request r
         join ralph.task t using (task_id)
         join unnest($1::text[], $2::int[]) as c (task_id, fence) on c.task_id = t.task_id and c.fence = t.fence
         where t.worker is not null order by r.number`,
        [claims.map(({ taskId }) => taskId), claims.map(({ fence }) => fence)],
      );
      return rows.map(({ id, task_id, kind, text, by }) => ({
        ...{ id, taskId: task_id, kind, by },
        ...(kind === 'tell' ? { text: text ?? '' } : {}),
      }));
    },

    sweep: () => sweepFleet(database, jobs),
    setAccount: (name, change) => changeAccount(database, jobs, name, change),
    prune: (taskIds, endedBefore) => removeTasks(database, taskIds, endedBefore),

    async readClock() {
      const [row] = await database.rows('select now() as at');
      return row?.at;
    },

    async task(taskId) {
      const [row] = await database.rows(`${SELECT_TASKS} where t.task_id = $1`, [taskId]);
      const facts = row === undefined ? null : factsOf(row);
      return facts !== null && isReadableSpec(facts.spec) ? facts : null;
    },

    tasks: async (filter) => (await readTasks(database, filter)).readable,
    unreadable: async (filter) => (await readTasks(database, { ...filter, lean: true })).unreadable,
    checkpoint: (taskId) => readCheckpoint(database, taskId),

    async events(taskId, since) {
      const rows = await database.rows(
        'select number, worker, host, fence, body from ralph.event where task_id = $1 and number > $2 order by number',
        [taskId, since],
      );
      return rows.map(eventOfRow);
    },

    async logs(taskId, after) {
      const rows: readonly PackedLog[] = await database.rows(
        'select name, iteration, packed from ralph.log where task_id = $1 and iteration > $2 order by iteration, name',
        [taskId, after],
      );
      return rows;
    },

    approvals: () => openApprovals(database),
    accounts: () => accountFacts(database),

    async workers() {
      const rows = await database.rows(
        `select id, facts, seen_at as "seenAt",
           array(select task_id from ralph.task where worker = w.id order by number) as running
         from ralph.worker w order by started_at, id`,
      );
      return rows.map(({ facts, ...row }) => ({ ...facts, ...row }));
    },

    queues: () => queueFacts(database),

    async close() {
      if (isClosed) return;
      isClosed = true;
      // Work that pg-boss has not finished is of no use now, and the database may be away, so nothing waits for it.
      await jobs.boss.stop({ graceful: false, close: false }).catch(() => {});
      await database.close();
    },
  };
}

async function removeTasks(
  database: Database,
  taskIds: readonly string[],
  endedBefore: string,
): Promise<readonly string[]> {
  const removed: string[] = [];
  let atOnce = PRUNED_AT_ONCE;
  for (let from = 0; from < taskIds.length; ) {
    const part = taskIds.slice(from, from + atOnce);
    try {
      const rows = await database.rows(
        'delete from ralph.task where task_id = any ($1) and ended_at <= $2 returning task_id',
        [part, endedBefore],
      );
      removed.push(...rows.map(({ task_id }) => task_id));
      from += atOnce;
    } catch (error) {
      // The tasks may have logs of 50 MB each, so a slow statement is tried with fewer tasks.
      if (!(error instanceof FleetAwayError && error.isSlow) || part.length === 1) throw error;
      atOnce = Math.ceil(part.length / 2);
    }
  }
  // A failure does no harm: the next prune removes the settings that are left.
  await database.rows(UNUSED_SETTINGS).catch(() => undefined);
  return removed;
}
