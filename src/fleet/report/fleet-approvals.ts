import { oneLine } from '../../core/text/untrusted-text.ts';
import { fleetPlace, formatDuration } from '../../report/format.ts';

/** A request of a fleet's task that waits for a person. Instants are the database's, in ISO 8601. */
export interface ShownApproval {
  readonly id: string;
  readonly taskId: string;
  /** The Markdown text of the request, as `renderRequest` makes it. */
  readonly text: string;
  readonly askedAt: string;
  readonly expiresAt: string;
}

/** Shows a request on two lines: what is asked, and for how long it has been waiting at the instant `at`. */
export function approvalText(approval: ShownApproval, at: string): string {
  const { taskId, askedAt, expiresAt } = approval;
  const since = formatDuration(Math.max(0, Date.parse(at) - Date.parse(askedAt)));
  return `${oneLine(taskId, 128)}  ${whatIsAsked(approval)}\n  waiting for ${since}, ${expiryText(expiresAt, at)}\n`;
}

function expiryText(expiresAt: string, at: string): string {
  const left = Date.parse(expiresAt) - Date.parse(at);
  return left > 0 ? `expires in ${formatDuration(left)}` : 'overdue';
}

/** Returns a request as JSON, as the vault has it, with the fleet in place of a file. */
export function approvalJson(fleet: string, approval: ShownApproval, at: string): object {
  const { id, taskId, askedAt, expiresAt } = approval;
  return {
    task_id: taskId,
    approval_id: id,
    what: whatIsAsked(approval),
    file: null,
    requested_at: askedAt,
    expires_at: expiresAt,
    overdue: Date.parse(expiresAt) <= Date.parse(at),
    fleet: fleetPlace(fleet),
  };
}

/** Returns the action from the front matter of a request; its beginning if it has none. */
function whatIsAsked({ text }: ShownApproval): string {
  const [, action = ''] = /^---\n(?:.*\n)*?action: (".*")\n/.exec(text) ?? [];
  try {
    return oneLine(String(JSON.parse(action)), 200);
  } catch {
    return oneLine(text, 200);
  }
}
