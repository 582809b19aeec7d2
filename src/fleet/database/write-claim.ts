import { isEnded } from '../../core/task/endings.ts';
import type { Parking } from '../core/fleet-task.ts';
import { pauseAccount } from './account-rows.ts';
import { type Database, Undone } from './connection.ts';
import { insertEvents } from './event-rows.ts';
import type { Checkpoint, ClaimKey, FleetQueue, WrittenBeside } from './fleet-queue.ts';
import { type Jobs, QUEUED_COLUMNS, type QueuedTask, readJobKey } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';
import { pauseOrStop } from './steer-task.ts';
import type { TaskRow } from './task-rows.ts';

/** The most bytes of one packed log, and of all packed logs of a task. */
export const LOG_BYTES = 1_000_000;
const LOGS_BYTES = 50_000_000;

/** Thrown to roll back the transaction if the worker has lost its claim, its exclusive hold on the task. */
class ClaimLost extends Undone {}

/** A transaction in which the worker's claim is known to hold, and the task's row, which it locks. */
interface Held {
  readonly tx: SqlRunner;
  readonly task: QueuedTask & Pick<TaskRow, 'worker' | 'host' | 'fence'>;
}

/** The methods for the worker of a claim. If the claim is lost, they write nothing and resolve to false. */
type ClaimWrites = Pick<
  FleetQueue,
  'save' | 'tell' | 'keepLog' | 'noteBase' | 'askApproval' | 'park' | 'settle'
>;

/** Returns the methods of a queue with which the worker of a claim writes. */
export function claimWrites(database: Database, jobs: Jobs): ClaimWrites {
  async function write(
    { tx, task }: Held,
    checkpoint: Checkpoint | null,
    { events, requestsDone, agentEnded = false }: WrittenBeside,
  ): Promise<void> {
    if (checkpoint !== null) await writeCheckpoint(tx, task, checkpoint, agentEnded);
    await insertEvents(tx, task, events);
    if (requestsDone.length === 0) return;
    await tx.executeSql('delete from ralph.request where task_id = $1 and id::text = any ($2)', [
      task.task_id,
      requestsDone,
    ]);
    await tx.executeSql(
      'update ralph.approval set taken = true where task_id = $1 and id = any ($2)',
      [task.task_id, requestsDone],
    );
  }

  return {
    save: (claim, checkpoint, written) =>
      whileHeld(database, claim, (held) => write(held, checkpoint, written)),

    tell: (claim, events) =>
      whileHeld(database, claim, ({ tx, task }) => insertEvents(tx, task, events)),

    keepLog: (claim, { name, iteration, packed }) =>
      whileHeld(database, claim, async ({ tx }) => {
        if (packed.byteLength > LOG_BYTES) return;
        await tx.executeSql(
          `insert into ralph.log (task_id, name, iteration, packed) values ($1, $2, $3, $4)
           on conflict (task_id, name) do update set packed = $4, iteration = $3, saved_at = clock_timestamp()`,
          [claim.taskId, name, iteration, Buffer.from(packed)],
        );
        // Removes the oldest logs, so that the others stay within the limit.
        await tx.executeSql(
          `delete from ralph.log where task_id = $1 and name in (
             select name from (
               select name, sum(length(packed)) over (order by saved_at desc, name desc) as total
               from ralph.log where task_id = $1
             ) sized where total > $2)`,
          [claim.taskId, LOGS_BYTES],
        );
      }),

    noteBase: (claim, commit) =>
      whileHeld(database, claim, async ({ tx }) => {
        await tx.executeSql('update ralph.task set base_commit = $2 where task_id = $1', [
          claim.taskId,
          commit,
        ]);
      }),

    askApproval: (claim, { id, text, expiresInMs }) =>
      whileHeld(database, claim, async ({ tx }) => {
        await tx.executeSql(
          `insert into ralph.approval (task_id, id, text, expires_at)
           values ($1, $2, $3, now() + $4::float8 * interval '1 millisecond')
           on conflict (task_id, id) do update set number = default, text = excluded.text, asked_at = now(),
             expires_at = excluded.expires_at, verdict = null, answered_by = null, db_user = null, comment = null,
             taken = false
           where approval.taken`,
          [claim.taskId, id, text, expiresInMs],
        );
      }),

    async park(claim, checkpoint, written, given) {
      await jobs.know([readJobKey(claim.job).name]);
      return whileHeld(database, claim, async (held) => {
        const { tx, task } = held;
        const parking = await byOwnClock(tx, given);
        await write(held, checkpoint, written);
        await completeJob(tx, jobs, claim);
        const isAnswered = parking.kind === 'approval' && (await hasAnswer(tx, claim.taskId));
        const startAt = parking.kind === 'handover' || isAnswered ? null : parking.until;
        const job = await jobs.add(tx, task, startAt);
        // `claims` is meant to count lost claims. This claim was not lost: the task now waits, so the count goes down.
        await tx.executeSql(
          `update ralph.task set worker = null, host = null, job = $2, parked = $3, parked_at = now(), parks = parks + 1,
             status = case when $4 then 'paused_awaiting_approval' else status end,
             claims = greatest(claims - 1, 0), hosts = hosts[1:greatest(cardinality(hosts) - 1, 0)]
           where task_id = $1`,
          [claim.taskId, job, JSON.stringify(parking), parking.kind === 'approval' && !isAnswered],
        );
        if (parking.kind === 'wait' && parking.account) {
          await pauseAccount(tx, task.account, parking.until, 'usage limit');
        }
        await obeyWhatIsLeft(tx, jobs, { ...task, job });
      });
    },

    settle: (claim, checkpoint, written, end) =>
      whileHeld(database, claim, async (held) => {
        const { tx, task } = held;
        await write(held, checkpoint, written);
        await completeJob(tx, jobs, claim);
        if (end.status === 'paused') {
          // The task stays open: messages that people left for it wait until a worker runs it again.
          await tx.executeSql(
            'update ralph.task set worker = null, host = null, warning = $2, note = $3 where task_id = $1',
            [claim.taskId, end.warning, end.note],
          );
          await obeyWhatIsLeft(tx, jobs, { ...task, job: null }, 'pause');
          return;
        }
        await tx.executeSql(
          `update ralph.task set worker = null, host = null, job = null, parked = null,
             status = $2, exit_reason = $3, exit_code = $4, warning = $5, note = $6, result_commit = $7, result_ref = $8,
             branch_commit = coalesce($9, branch_commit), ended_at = now()
           where task_id = $1`,
          [
            ...[claim.taskId, end.status, end.exitReason, end.exitCode, end.warning, end.note],
            ...[end.resultCommit, end.resultRef, end.branchCommit],
          ],
        );
        await tx.executeSql('delete from ralph.request where task_id = $1', [claim.taskId]);
      }),
  };
}

/** Stops or pauses the task if a person asked for that too late for the ending run. Else does what `otherwise` says. */
async function obeyWhatIsLeft(
  tx: SqlRunner,
  jobs: Jobs,
  task: QueuedTask & { readonly job: string | null },
  otherwise: 'pause' | null = null,
): Promise<void> {
  const { rows } = await tx.executeSql(
    "delete from ralph.request where task_id = $1 and kind in ('stop', 'pause') returning kind",
    [task.task_id],
  );
  const kinds = rows.map((each) => each.kind);
  const kind = kinds.includes('stop') ? 'stop' : kinds.length > 0 ? 'pause' : otherwise;
  if (kind !== null) await pauseOrStop(tx, jobs, task, kind);
}

async function completeJob(tx: SqlRunner, jobs: Jobs, claim: ClaimKey): Promise<void> {
  const { name, ...attempt } = readJobKey(claim.job);
  const { affected } = await jobs.boss.complete(name, attempt, null, { db: tx });
  if (affected !== 1) throw new ClaimLost();
}

/** Runs `work` while the row of the task is locked, so that nobody else can claim the task meanwhile. */
async function whileHeld(
  database: Database,
  claim: ClaimKey,
  work: (held: Held) => Promise<void>,
): Promise<boolean> {
  const { name, id, retryCount } = readJobKey(claim.job);
  try {
    await database.transaction(async (tx) => {
      const { rows } = await tx.executeSql(
        `update ralph.task set updated_at = now()
         where task_id = $1 and fence = $2 and job = $4 and worker is not null and exists (
           select from ralph_queue.job where name = $3 and id = $4 and state = 'active' and retry_count = $5)
         returning ${QUEUED_COLUMNS}, worker, host, fence`,
        [claim.taskId, claim.fence, name, id, retryCount],
      );
      const task = rows[0];
      if (task === undefined) throw new ClaimLost();
      await work({ tx, task });
    });
    return true;
  } catch (error) {
    if (error instanceof ClaimLost) return false;
    throw error;
  }
}

async function writeCheckpoint(
  tx: SqlRunner,
  task: Held['task'],
  saved: Checkpoint,
  agentEnded: boolean,
): Promise<void> {
  const { status, iterations, costUsd, snapshot, packed } = saved;
  await tx.executeSql(
    `insert into ralph.checkpoint (task_id, fence, status, iterations, cost_usd, snapshot, packed)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (task_id) do update set
       fence = $2, status = $3, iterations = $4, cost_usd = $5, snapshot = $6, packed = $7, saved_at = now()`,
    [
      ...[task.task_id, task.fence, status, iterations, costUsd],
      ...[snapshot === null ? null : JSON.stringify(snapshot), Buffer.from(packed)],
    ],
  );
  // An agent that came to its end, or a counted iteration, shows that the task does not kill its workers, so its counts
  // of claims start again. Until `settle` ends the task, an ended status in the checkpoint is stored as running.
  await tx.executeSql(
    `update ralph.task set status = $2, iterations = $3, cost_usd = $4,
       claims = case when $5 or $3 > iterations then 0 else claims end,
       hosts = case when $5 or $3 > iterations then '{}' else hosts end,
       parks = case when $3 > iterations then 0 else parks end
     where task_id = $1`,
    [task.task_id, isEnded(status) ? 'running' : status, iterations, costUsd, agentEnded],
  );
}

async function hasAnswer(tx: SqlRunner, taskId: string): Promise<boolean> {
  const { rows } = await tx.executeSql(
    'select verdict is not null as answered from ralph.approval where task_id = $1 order by number desc limit 1',
    [taskId],
  );
  return rows[0]?.answered === true;
}

/** Returns the parking with an instant of the database's clock in place of `inMs`. */
async function byOwnClock(tx: SqlRunner, parking: Parking): Promise<Parking> {
  if (parking.kind === 'handover' || parking.inMs === undefined) return parking;
  const { inMs, ...stored } = parking;
  const { rows } = await tx.executeSql(
    "select now() + $1::float8 * interval '1 millisecond' as at",
    [inMs],
  );
  return { ...stored, until: rows[0].at };
}
