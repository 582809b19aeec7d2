import type { PersonsAnswer } from '../../core/machine/loop-event.ts';
import { preview } from '../../core/secrets/secrets.ts';
import { msBetween } from '../../core/task/task-state.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { systemClock } from '../../effects/time/clock.ts';
import type { ApprovalDesk } from '../../loop/ports.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import { renderRequest } from '../../report/notes/approval-request.ts';
import type { ClaimKey, FleetAnswer, FleetApproval, FleetClaim } from '../database/fleet-queue.ts';

/** In a fleet, the answer comes from the database and not from a file, so there is no earlier file to ignore. */
const NOTHING_BEFORE = { approved: null, rejected: null } as const;

interface DeskRequest {
  readonly claim: FleetClaim;
  readonly plan: RunPlan;
  readonly logDir: string;
  /** Stores the request in the fleet. Resolves to false if the claim is lost. */
  readonly ask: (claim: ClaimKey, approval: FleetApproval) => Promise<boolean>;
}

/**
 * Asks people through the fleet. No worker has the task until somebody answers or the request expires. `answer` is
 * called once a worker runs the task again: if there is no answer by then, the request has expired.
 */
export function legDesk({ claim, plan, logDir, ask }: DeskRequest): ApprovalDesk {
  return {
    async request(approval) {
      const asked = preview(new TextDecoder().decode(plan.prompt), 500);
      const text = renderRequest({ taskId: plan.taskId, approval, asked, logDir });
      const { id, expires_at: expiresAt } = approval;
      const expiresInMs = Math.max(0, msBetween(systemClock.now(), expiresAt));
      if (!(await ask(claim, { id, text, expiresInMs }))) throw new RunDropped('the claim is lost');
      return NOTHING_BEFORE;
    },
    async answer() {
      const { answer } = claim;
      return answer === null ? { kind: 'none', why: 'expired' } : personsAnswer(answer);
    },
  };
}

/** Returns a fleet's answer in the form of one from a file. In place of a path, `file` names who answered. */
function personsAnswer({ verdict, by, sessionUser, comment }: FleetAnswer): PersonsAnswer {
  const seen = sessionUser === undefined ? '' : ` (database user ${sessionUser})`;
  return { kind: verdict, file: `the answer of ${by}${seen}`, reason: comment };
}
