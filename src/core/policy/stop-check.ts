import { readApprovalRequest } from '../completion/approval-request.ts';
import type { CheckResult } from '../completion/check-result.ts';
import { askGates, type Blocker } from '../completion/claims/gates.ts';
import { findClaims, judgeMessage, statesOneOf } from '../completion/conditions/conditions.ts';
import type { Sightings } from '../completion/sightings.ts';
import { NO_WORK } from '../completion/work-seen.ts';
import { EMPTY_HANDOVER, type Handover, type Missing } from '../prompt/handover.ts';
import { promptTexts } from '../prompt/prompt.ts';
import type { Policy } from '../task/policy.ts';
import { isLive, type ShownState } from '../task/shown-task.ts';
import { msBetween, type TaskState } from '../task/task-state.ts';

/*
 * Answers a stop hook (a command that an agent runs before it stops), which asks whether the agent may stop:
 *
 *   ended, paused, waiting for a person, out of iterations or time ──► may stop
 *   complete, given up, asking a person ─────────────────────────────► may stop
 *   anything else ───────────────────────────────────────────────────► must continue; says what is missing
 */

/** Whether an agent may stop. `why` is a clause about the task, such as "it is complete". */
export type StopAnswer =
  | { readonly kind: 'lets-go'; readonly why: string }
  | { readonly kind: 'ask-verify' }
  | { readonly kind: 'holds'; readonly missing: readonly Missing[] };

/** Returns why an agent may stop without a check of its work; null if the work has to be checked. */
export function releasedBy(
  task: TaskState,
  standing: 'live' | ShownState,
  at: string,
): string | null {
  // The task has not ended while a ralph process runs it, or if that process died and the task can be resumed.
  const isDriven = standing === 'live' || standing === 'interrupted';
  if (!isDriven && !isLive(standing)) return `it is ${standing}`;
  if (task.status === 'paused_awaiting_approval') return 'it waits for an approval';
  if (task.evidence !== null) return 'it is complete';
  if (standing === 'live') return null;
  if (task.metrics.iterations >= task.max_iterations) {
    return `its ${task.max_iterations} iterations are used up`;
  }
  const isOver = task.kept_by === 'library' && msBetween(at, task.timeout_at) <= 0;
  return isOver ? 'its time is over' : null;
}

/** What is known about a task when its agent wants to stop. */
export interface StopView {
  readonly task: TaskState;
  readonly policy: Policy;
  /** The agent's last message; null if unknown. */
  readonly message: string | null;
  readonly sightings: Sightings;
  /** The results of the checks; null before they were run. */
  readonly verified: readonly CheckResult[] | null;
}

/** Judges the agent's work: whether it meets a condition for completion, and then passes the gates (further tests). */
export function checkStop({ task, policy, message, sightings, verified }: StopView): StopAnswer {
  // An echo of what ralph told the agent is not a statement of the agent.
  const own = promptTexts(policy, EMPTY_HANDOVER, 2);
  if (policy.abortPromise !== null && statesOneOf([policy.abortPromise], message, own)) {
    return { kind: 'lets-go', why: 'its agent has given it up' };
  }
  if (message !== null && readApprovalRequest(message, own) !== null) {
    return { kind: 'lets-go', why: 'its agent asks for an approval' };
  }
  const verdict = judgeMessage(message, policy, own);
  const claims = findClaims({
    outcome: { kind: 'answered' },
    verdict,
    sightings,
    signalsInARow: statesOneOf(policy.signals, message, own) ? 1 : 0,
    policy,
  });
  let held: Blocker | null = null;
  for (const claim of claims) {
    const answer = askGates({
      claim,
      iteration: task.metrics.iterations + 1,
      refused: [],
      stoppedSubAgents: 0,
      sightings,
      verified,
      // The results at the start are unknown here, so no findings against the claim are looked for.
      ...{ checksAtStart: null, work: NO_WORK, examination: null },
      confirmations: 1,
      policy,
    });
    if (answer.kind === 'passed') {
      return { kind: 'lets-go', why: `it is complete (${claim.evidence.detail})` };
    }
    if (answer.kind === 'ask-verify') return answer;
    if (answer.kind === 'held') held ??= answer.held;
  }
  const missing: Missing[] = [];
  if (verdict.kind === 'near-miss') missing.push(verdict);
  if (verdict.kind === 'in-doubt') missing.push({ ...verdict, hasReplied: false });
  if (held !== null && held.gate !== 'refused-tools') missing.push({ kind: 'held', held });
  return { kind: 'holds', missing };
}

/** Builds what the prompt tells an agent that must continue. */
export function stopHandover(output: string | null, missing: readonly Missing[]): Handover {
  return { ...EMPTY_HANDOVER, output, missing };
}
