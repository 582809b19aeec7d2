import { rowOfState } from '../../core/task/endings.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import type { Parking } from '../core/fleet-task.ts';
import type { Database } from './connection.ts';
import type { FleetQueue, RequestTaken, ResumedSettings } from './fleet-queue.ts';
import { type Jobs, type QueuedTask, queueName } from './jobs.ts';
import type { SqlRunner } from './load-engine.ts';
import { keepSettings } from './submit-tasks.ts';
import type { TaskRow } from './task-rows.ts';

const DONE: RequestTaken = { kind: 'done' };
const STOPPED = 'stopped:request';

/** Returns the methods of a queue with which people steer a task. */
export function steering(
  database: Database,
  jobs: Jobs,
): Pick<FleetQueue, 'request' | 'resume' | 'answer'> {
  return {
    request: (taskId, request) =>
      withTask(database, jobs, taskId, async (tx, row) => {
        const { kind } = request;
        if (row.ended_at !== null) return refused(`it has ended (${row.status})`);
        if (row.worker !== null || kind === 'tell') {
          await tx.executeSql(
            'insert into ralph.request (task_id, kind, text, by) values ($1, $2, $3, $4)',
            [taskId, kind, kind === 'tell' ? request.text : null, request.by],
          );
          if (row.worker === null) return DONE;
          return { kind: 'left', worker: row.worker, host: row.host ?? '' };
        }
        await pauseOrStop(tx, jobs, row, kind);
        return DONE;
      }),

    resume: (taskId, changed) =>
      withTask(database, jobs, taskId, async (tx, row) => {
        if (row.ended_at === null && !row.paused) {
          return refused(row.worker === null ? 'it is queued already' : 'a worker runs it');
        }
        if (row.ended_at !== null && rowOfState(row.status, row.exit_reason)?.isFinal === true) {
          return refused(`it has ended for good (${row.exit_reason ?? row.status})`);
        }
        if (changed !== undefined) {
          if (row.updated_at !== changed.since) return refused(CHANGED);
          await changeSettings(tx, taskId, changed);
        }
        const expiresAt = await reopenRequest(tx, taskId);
        const parked: Parking | null =
          row.parked?.kind === 'approval' && expiresAt !== null
            ? { kind: 'approval', until: expiresAt }
            : row.parked;
        const waitsForPerson = parked !== row.parked;
        const startAt = parked?.kind === 'wait' || waitsForPerson ? untilOf(parked) : null;
        const job = await jobs.add(tx, row, startAt ?? row.not_before);
        await tx.executeSql(
          `update ralph.task set job = $2, parked = $3, paused = false, claims = 0, hosts = '{}', parks = 0,
             updated_at = now(), ended_at = null, status = $4, exit_reason = null, exit_code = null, warning = null
           where task_id = $1`,
          [
            ...[taskId, job, parked === null ? null : JSON.stringify(parked)],
            parked === null ? 'pending' : waitsForPerson ? 'paused_awaiting_approval' : 'running',
          ],
        );
        return DONE;
      }),

    answer: (taskId, { verdict, by, comment }) =>
      withTask(database, jobs, taskId, async (tx, row) => {
        if (row.ended_at !== null) return refused(`it has ended (${row.status})`);
        const { rows } = await tx.executeSql(
          `select id, verdict, taken, expires_at <= now() as expired from ralph.approval
           where task_id = $1 order by number desc limit 1`,
          [taskId],
        );
        const asked = rows[0];
        if (asked === undefined || asked.taken) return refused('it waits for no approval');
        if (asked.verdict !== null)
          return refused(`its request was answered already (${asked.verdict})`);
        if (asked.expired === true) return refused('its request has expired');
        await tx.executeSql(
          `update ralph.approval set verdict = $3, answered_by = $4, comment = $5, db_user = session_user
           where task_id = $1 and id = $2`,
          [taskId, asked.id, verdict, by, comment],
        );
        if (row.parked?.kind === 'approval' && row.worker === null && !row.paused) {
          await jobs.remove(tx, row, row.job);
          const job = await jobs.add(tx, row, null);
          await tx.executeSql(
            "update ralph.task set job = $2, status = 'running', updated_at = now() where task_id = $1",
            [taskId, job],
          );
        }
        return DONE;
      }),
  };
}

/** Pauses or stops a task that no worker runs. */
export async function pauseOrStop(
  tx: SqlRunner,
  jobs: Jobs,
  task: QueuedTask & Pick<TaskRow, 'job'>,
  kind: 'pause' | 'stop',
): Promise<void> {
  await jobs.remove(tx, task, task.job);
  // Removes a request that a lost worker never took in: otherwise it would take effect after a resume.
  await tx.executeSql(
    "delete from ralph.request where task_id = $1 and kind in ('stop', 'pause')",
    [task.task_id],
  );
  if (kind === 'pause') {
    await tx.executeSql(
      "update ralph.task set paused = true, status = 'paused', job = null, updated_at = now() where task_id = $1",
      [task.task_id],
    );
    return;
  }
  await tx.executeSql(
    `update ralph.task set job = null, parked = null, parked_at = null, paused = false, status = 'stopped',
       exit_reason = $2, exit_code = $3, ended_at = now(), updated_at = now()
     where task_id = $1`,
    [task.task_id, STOPPED, exitCodeFor('stopped', STOPPED)],
  );
}

const CHANGED = 'somebody else has just changed it; look at ralph status, and resume it once more';

async function changeSettings(
  tx: SqlRunner,
  taskId: string,
  { settings, packed }: ResumedSettings,
): Promise<void> {
  await tx.executeSql('update ralph.task set setting_set = $2 where task_id = $1', [
    taskId,
    await keepSettings(tx, settings),
  ]);
  if (packed === null) return;
  await tx.executeSql('update ralph.checkpoint set packed = $2 where task_id = $1', [
    taskId,
    Buffer.from(packed),
  ]);
}

/**
 * Restarts the time in which an open request for an approval can be answered. Resolves to when it expires; null if
 * there is no such request.
 */
async function reopenRequest(tx: SqlRunner, taskId: string): Promise<string | null> {
  const { rows } = await tx.executeSql(
    `update ralph.approval set asked_at = now(), expires_at = now() + (expires_at - asked_at)
     where task_id = $1 and verdict is null and not taken
       and number = (select max(number) from ralph.approval where task_id = $1)
     returning expires_at`,
    [taskId],
  );
  return rows[0]?.expires_at ?? null;
}

function untilOf(parked: Parking | null): string | null {
  return parked === null || parked.kind === 'handover' ? null : parked.until;
}

function refused(why: string): RequestTaken {
  return { kind: 'refused', why };
}

async function withTask(
  database: Database,
  jobs: Jobs,
  taskId: string,
  work: (tx: SqlRunner, row: TaskRow) => Promise<RequestTaken>,
): Promise<RequestTaken> {
  const there = await database.rows('select schema, queue from ralph.task where task_id = $1', [
    taskId,
  ]);
  if (there[0] === undefined) return { kind: 'unknown-task' };
  await jobs.know([queueName(there[0])]);
  return database.transaction(async (tx) => {
    const { rows } = await tx.executeSql('select * from ralph.task where task_id = $1 for update', [
      taskId,
    ]);
    return rows[0] === undefined ? { kind: 'unknown-task' } : work(tx, rows[0]);
  });
}
