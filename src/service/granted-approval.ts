import type { PersonsAnswer } from '../core/machine/loop-event.ts';
import type { TaskState } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { awaitAnswer } from '../effects/vault/approval-folder.ts';
import { ApprovalPendingError } from '../task-errors.ts';

/** Returns a task's approval; null if another tool paused the task. Without it, rejects with `ApprovalPendingError`. */
export async function grantedApproval(
  task: TaskState,
  vault: string,
): Promise<PersonsAnswer | null> {
  const { task_id, approval } = task;
  if (approval === null) return null;
  const signal = new AbortController().signal;
  const answer = await awaitAnswer(vault, approval, { patiently: false, signal });
  switch (answer.kind) {
    case 'approved':
      return answer;
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
