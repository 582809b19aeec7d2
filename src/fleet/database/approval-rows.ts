import type { FleetAnswer, FleetApprovalFacts } from './fleet-queue.ts';
import type { SqlRunner } from './load-engine.ts';

/** The columns of `ralph.approval` that hold the answer. */
interface AnswerRow {
  readonly verdict: FleetAnswer['verdict'] | null;
  readonly answered_by: string | null;
  readonly db_user: string | null;
  readonly comment: string | null;
}

/** Returns the answer to a task's newest approval request; null without one, or if the task's stored state has it. */
export async function latestAnswer(tx: SqlRunner, taskId: string): Promise<FleetAnswer | null> {
  const { rows } = await tx.executeSql(
    'select * from ralph.approval where task_id = $1 order by number desc limit 1',
    [taskId],
  );
  return rows[0] === undefined || rows[0].taken ? null : answerOf(rows[0]);
}

/** Returns each open task's newest approval request, oldest first, unless the task's stored state has its answer. */
export async function openApprovals(tx: SqlRunner): Promise<readonly FleetApprovalFacts[]> {
  const { rows } = await tx.executeSql(
    `select task_id as "taskId", id, text, asked_at as "askedAt", expires_at as "expiresAt",
       verdict, answered_by, db_user, comment
     from ralph.approval a join ralph.task t using (task_id)
     where not a.taken and t.ended_at is null
       and a.number = (select max(number) from ralph.approval where task_id = a.task_id)
     order by a.number`,
  );
  return rows.map(({ verdict, answered_by, db_user, comment, ...asked }) => ({
    ...asked,
    answer: answerOf({ verdict, answered_by, db_user, comment }),
  }));
}

function answerOf(row: AnswerRow): FleetAnswer | null {
  if (row.verdict === null) return null;
  return {
    verdict: row.verdict,
    by: row.answered_by ?? '',
    ...(row.db_user === null ? {} : { sessionUser: row.db_user }),
    comment: row.comment,
  };
}
