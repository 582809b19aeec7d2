import type { FleetAnswer, FleetApprovalFacts } from './fleet-queue.ts';
import type { SqlRunner } from './load-engine.ts';

/** A row of `ralph.approval`. */
interface ApprovalRow {
  readonly task_id: string;
  readonly id: string;
  readonly text: string;
  readonly asked_at: Date;
  readonly expires_at: Date;
  readonly verdict: FleetAnswer['verdict'] | null;
  readonly answered_by: string | null;
  readonly db_user: string | null;
  readonly comment: string | null;
}

/** Returns the answer to a task's newest approval request; null without one, or if a checkpoint has taken it in. */
export async function latestAnswer(tx: SqlRunner, taskId: string): Promise<FleetAnswer | null> {
  const { rows } = await tx.executeSql(
    'select * from ralph.approval where task_id = $1 order by number desc limit 1',
    [taskId],
  );
  const row = rows[0] as (ApprovalRow & { taken: boolean }) | undefined;
  return row === undefined || row.taken ? null : answerOf(row);
}

/** Returns each open task's newest approval request, oldest first, unless a checkpoint has taken in its answer. */
export async function openApprovals(tx: SqlRunner): Promise<readonly FleetApprovalFacts[]> {
  const { rows } = await tx.executeSql(
    `select a.* from ralph.approval a join ralph.task t using (task_id)
     where not a.taken and t.ended_at is null
       and a.number = (select max(number) from ralph.approval where task_id = a.task_id)
     order by a.number`,
  );
  return (rows as readonly ApprovalRow[]).map((row) => ({
    taskId: row.task_id,
    id: row.id,
    text: row.text,
    askedAt: row.asked_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    answer: answerOf(row),
  }));
}

function answerOf(row: ApprovalRow): FleetAnswer | null {
  if (row.verdict === null) return null;
  return {
    verdict: row.verdict,
    by: row.answered_by ?? '',
    ...(row.db_user === null ? {} : { sessionUser: row.db_user }),
    comment: row.comment,
  };
}
