import { oneLine } from '../../core/text/untrusted-text.ts';
import { formatDuration } from '../format.ts';

/** A request that waits for a person. Instants are ISO 8601. */
export interface ShownApproval {
  readonly id: string;
  readonly taskId: string;
  readonly what: string;
  /** The name of the request's file; null in a fleet, whose machines share a database instead. */
  readonly file: string | null;
  readonly askedAt: string;
  readonly expiresAt: string;
}

/** Returns a request as two lines: what is asked, and for how long it has been waiting at the instant `at`. */
export function approvalText(
  { taskId, what, file, askedAt, expiresAt }: ShownApproval,
  at: string,
): string {
  const since = formatDuration(Math.max(0, Date.parse(at) - Date.parse(askedAt)));
  const left = Date.parse(expiresAt) - Date.parse(at);
  const expiry = left > 0 ? `expires in ${formatDuration(left)}` : 'overdue';
  const where = file === null ? '' : `: ${oneLine(file, 300)}`;
  return `${oneLine(taskId, 128)}  ${oneLine(what, 200)}\n  waiting for ${since}, ${expiry}${where}\n`;
}

/** Returns a request as JSON. */
export function approvalJson(
  { id, taskId, what, file, askedAt, expiresAt }: ShownApproval,
  at: string,
): object {
  return {
    ...{ task_id: taskId, approval_id: id, what, file },
    ...{
      requested_at: askedAt,
      expires_at: expiresAt,
      overdue: Date.parse(expiresAt) <= Date.parse(at),
    },
  };
}
