import { maskSecrets } from '../core/secrets/secrets.ts';
import { type Approval, laterBy, type TaskState } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { awaitAnswer, placeRequest } from '../effects/vault/approval-folder.ts';
import { ApprovalPendingError } from '../errors.ts';
import { renderRequest } from '../report/notes/approval-request.ts';

/** Only informs people: without a loop, nothing acts when the request expires. */
const EXPIRES_MS = 24 * 3_600_000;

/** What a task asks a person to allow, and the folder of the task. */
export interface BookRequest {
  readonly task: TaskState;
  readonly approvalId: string;
  /** The action to allow, in words. */
  readonly what: string;
  readonly logDir: string;
}

/** Writes a request to `Pending_Approval`, as the loop does. Keeps an existing request of the same name. */
export async function askApproval(
  { task, approvalId, what, logDir }: BookRequest,
  vault: string,
  at: string,
): Promise<Approval> {
  const approval: Approval = {
    id: approvalId,
    what: oneLine(maskSecrets(what), 1_000),
    file: `APPROVAL_${task.task_id}_${approvalId}.md`,
    by_agent: false,
    requested_at: at,
    expires_at: laterBy(at, EXPIRES_MS),
    there_before: null,
    decision: null,
    answered_at: null,
    answer_file: null,
    reason: null,
  };
  const asked = oneLine(task.task_prompt, 300);
  const text = renderRequest({ taskId: task.task_id, approval, asked, logDir });
  return { ...approval, there_before: await placeRequest(vault, approval, text) };
}

/**
 * Returns the path of the approval that lets a paused task continue, or null for a task of another tool,
 * which names no request. Rejects with `ApprovalPendingError` if nobody has approved it.
 */
export async function grantedApproval(task: TaskState, vault: string): Promise<string | null> {
  const { task_id, approval } = task;
  if (approval === null) return null;
  const signal = new AbortController().signal;
  const answer = await awaitAnswer(vault, approval, { patiently: false, signal });
  switch (answer.kind) {
    case 'approved':
      return answer.file;
    case 'rejected': {
      const reason = answer.reason === null ? '' : ` (${oneLine(answer.reason, 200)})`;
      throw new ApprovalPendingError(task_id, `it was rejected${reason}: end it with failTask`);
    }
    case 'none': {
      const whatToDo = `move Pending_Approval/${approval.file} in ${vault} to Approved`;
      throw new ApprovalPendingError(task_id, whatToDo);
    }
  }
}
