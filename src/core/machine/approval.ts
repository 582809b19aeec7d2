import type { ApprovalRequest } from '../completion/approval-request.ts';
import { maskSecrets } from '../secrets/secrets.ts';
import type { Policy } from '../task/policy.ts';
import { type Approval, laterBy } from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { postponed } from './clock-gap.ts';
import { end, endStopped } from './ending.ts';
import type { LoopEvent, LoopState, PersonsAnswer, Transition } from './loop-state.ts';
import { endBudget, startNext } from './next-iteration.ts';
import type { Missing } from './prompt.ts';

/*
 * Asks a person before the agent continues. No process of the task runs in the meantime.
 *
 *   judged ──► requesting ──approval-requested──► awaiting ──approval-answered──┬─ approved ─► the next iteration
 *   (or new)   ends leftovers,                    a person moves the file       ├─ rejected ─► the next, with reason
 *              writes the request                 to Approved or Rejected       ├─ expired, not waited for ─► ended
 *                                                                               └─ stopped, paused ─► ended
 */

/** The id of the request that `approval_required` in a task file causes. */
export const START_APPROVAL = 'start';

/** Asks a person; the loop continues once there is an answer. */
export function askApproval(
  state: LoopState,
  request: ApprovalRequest,
  at: string,
  policy: Policy,
): Transition {
  const { task } = state;
  const approval: Approval = {
    id: request.id,
    what: maskSecrets(request.what),
    file: request.file ?? `APPROVAL_${task.task_id}_${request.id}.md`,
    by_agent: request.file !== null,
    requested_at: at,
    expires_at: laterBy(at, policy.approvalTimeoutMs),
    there_before: null,
    decision: null,
    answered_at: null,
    answer_file: null,
    reason: null,
  };
  return requested(awaiting(state, approval));
}

/**
 * Repeats the request that a resumed task was waiting for, or that was rejected before the task began.
 * Returns null if there is nothing to ask.
 */
export function askAgain(state: LoopState, at: string, policy: Policy): Transition | null {
  const { approval, paused_for_approval, current_iteration } = state.task;
  // The state shows that something was asked, but the request itself is lost.
  if (approval === null) {
    return paused_for_approval ? askApproval(state, LOST_REQUEST, at, policy) : null;
  }
  if (approval.decision === 'rejected' && current_iteration === 0) {
    return askApproval(state, { ...approval, file: null }, at, policy);
  }
  if (approval.decision !== null || !paused_for_approval) return null;
  const renewed = { ...approval, expires_at: laterBy(at, policy.approvalTimeoutMs) };
  // Repeated even if the request was already written: its file may be gone, so nobody could answer.
  return requested(awaiting(state, renewed));
}

const LOST_REQUEST: ApprovalRequest = {
  id: 'resume',
  what: 'go on; what the task had asked for is not known any more',
  file: null,
};

function awaiting(state: LoopState, approval: Approval): LoopState {
  return {
    ...state,
    step: { kind: 'approving' },
    task: {
      ...state.task,
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
      approval,
      wait: null,
    },
  };
}

function requested(state: LoopState): Transition {
  const { approval } = state.task;
  if (approval === null) throw new Error('there is nothing to ask for');
  return { state, actions: [{ kind: 'request-approval', approval }] };
}

/** Called only after the request is written, so that a person who answers the event at once finds it. */
function wait(state: LoopState, approval: Approval, policy: Policy): Transition {
  const body = {
    event: 'task_paused' as const,
    approval_id: approval.id,
    what: approval.what,
    file: shownName(approval.file),
  };
  return {
    state,
    actions: [
      { kind: 'publish', body },
      { kind: 'await-approval', approval, patiently: !policy.noWait },
    ],
  };
}

/** Handles that the request has been written; now the loop waits for the answer. */
export function approvalRequested(
  state: LoopState,
  event: Extract<LoopEvent, { kind: 'approval-requested' }>,
  policy: Policy,
): Transition {
  const { approval } = state.task;
  if (state.step.kind !== 'approving' || approval === null) return { state, actions: [] };
  const asked = { ...approval, there_before: event.thereBefore };
  return wait({ ...state, task: { ...state.task, approval: asked } }, asked, policy);
}

/** Handles a person's answer, or that the wait ended without one. */
export function approvalAnswered(
  state: LoopState,
  event: Extract<LoopEvent, { kind: 'approval-answered' }>,
  policy: Policy,
): Transition {
  const { answer, at } = event;
  const { approval } = state.task;
  if (state.step.kind !== 'approving' || approval === null) return { state, actions: [] };
  // The wait does not use up the task's time, since no work was possible.
  const restedMs = event.tookMs - event.heldUpMs;
  const moved: LoopState = { ...state, task: postponed(state.task, restedMs) };
  if (answer.kind === 'none') return endUnanswered(moved, answer.why, at);
  const { state: answered, actions } = withAnswer(moved, approval, answer, at);
  const next =
    answer.kind === 'rejected' && answered.task.current_iteration === 0
      ? endRefusedAtStart(answered, answer.reason, at)
      : (endBudget(answered, at, policy) ?? startNext(answered, at, policy));
  return { ...next, actions: [...actions, ...next.actions] };
}

/** Records and announces a person's answer. Decides nothing about what follows. */
export function withAnswer(
  state: LoopState,
  approval: Approval,
  answer: PersonsAnswer,
  at: string,
): Transition {
  const answered: LoopState = {
    ...state,
    task: {
      ...state.task,
      status: 'running',
      paused_for_approval: false,
      approval: {
        ...approval,
        decision: answer.kind,
        answered_at: at,
        answer_file: answer.file,
        reason: answer.reason === null ? null : maskSecrets(answer.reason),
      },
    },
    carry: {
      ...state.carry,
      missing: [
        ...state.carry.missing.filter(({ kind }) => kind !== 'question'),
        told(approval, answer.kind, answer.reason),
      ],
    },
  };
  const body = {
    event: 'task_resumed' as const,
    iteration: answered.task.current_iteration,
    max_iterations: answered.task.max_iterations,
    approval_id: approval.id,
    decision: answer.kind,
    file: shownName(answer.file),
    reason: answer.reason,
  };
  return { state: answered, actions: [{ kind: 'publish', body }] };
}

/** The agent may have named the file, so the name may contain terminal escape sequences. */
function shownName(file: string): string {
  return oneLine(file, 300);
}

function told(
  approval: Approval,
  decision: 'approved' | 'rejected',
  reason: string | null,
): Missing {
  return { kind: 'decision', id: approval.id, what: approval.what, decision, reason };
}

function endUnanswered(
  state: LoopState,
  why: 'expired' | 'not-waited' | 'interrupted',
  at: string,
): Transition {
  if (why === 'interrupted' && state.stopRequested !== null) {
    return endStopped(state, at, state.stopRequested);
  }
  if (why === 'interrupted') return end(state, at, { status: 'paused', exitReason: 'paused' });
  return end(state, at, {
    status: 'paused_awaiting_approval',
    exitReason: why === 'expired' ? 'approval-expired' : 'approval-pending',
  });
}

/** A task that was rejected before its first iteration has nothing else it could do. */
function endRefusedAtStart(state: LoopState, reason: string | null, at: string): Transition {
  return end(state, at, {
    status: 'failed',
    exitReason: 'failed:aborted',
    error: `a person has rejected the task${reason === null ? '' : `: ${reason}`}`,
  });
}
