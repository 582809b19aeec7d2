import { preview } from '../core/secrets/secrets.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import { awaitAnswer, placeRequest } from '../effects/vault/approval-folder.ts';
import { messageOf } from '../errors.ts';
import type { ApprovalDesk } from '../loop/ports.ts';
import { renderRequest } from '../report/notes/approval-request.ts';

/** Returns the functions with which the loop asks people for approvals, through files in the plan's vault. */
export function approvalDesk(
  plan: RunPlan,
  paths: TaskPaths,
  warn: (sentence: string) => void,
): ApprovalDesk {
  return {
    async request(approval) {
      const asked = preview(new TextDecoder().decode(plan.prompt), 500);
      const facts = { taskId: plan.taskId, approval, asked, logDir: paths.folder };
      try {
        return await placeRequest(plan.vault, approval, renderRequest(facts));
      } catch (error) {
        warn(`The request for an approval could not be written: ${messageOf(error)}`);
        return null;
      }
    },
    answer: (approval, patiently, signal) =>
      awaitAnswer(plan.vault, approval, { patiently, signal }),
  };
}
