import type { ApprovalRequest } from '../completion/approval-request.ts';
import type { Missing } from '../prompt/handover.ts';
import { maskSecrets } from '../secrets/secrets.ts';
import { postponed } from '../task/clock-gap.ts';
import { type Approval, laterBy, type TaskState } from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { type Decided, type Decision, type Moment, publish, strayed } from './decision.ts';
import { end, PAUSED, stoppedBy } from './ending.ts';
import type { EventOf, PersonsAnswer } from './loop-event.ts';
import type { LoopState } from './loop-state.ts';
import { continueAtOnce } from './next-iteration.ts';

/*
 * Asks a person before the agent continues. No process of the task runs in the meantime.
 *
 *   judged ──► requesting ──approval-requested──► awaiting ──approval-answered──┬─ approved ─► the next iteration
 *   (or new)   ends leftovers,                    a person moves the file       ├─ rejected ─► the next, with reason
 *              writes the request                 to Approved or Rejected       ├─ expired, not waited for ─► ended
 *                                                                               └─ stopped, paused ─► ended
 */

/** The id of the request that a task file makes with `approval_required`, before the first iteration. */
export const START_APPROVAL = 'start';

/** Decides to ask a person for approval; the loop continues after the answer. */
export function askPerson(
  { task_id }: TaskState,
  { id, what, file }: ApprovalRequest,
  { at, policy }: Moment,
): Decision {
  return {
    kind: 'request-approval',
    approval: {
      id,
      what: maskSecrets(what),
      file: file ?? `APPROVAL_${task_id}_${id}.md`,
      by_agent: file !== null,
      requested_at: at,
      expires_at: laterBy(at, policy.approvalTimeoutMs),
      there_before: null,
      decision: null,
      answered_at: null,
      answer_file: null,
      reason: null,
    },
  };
}

/**
 * Decides to ask a person again if the request of a resumed task is unanswered or lost, or if it was rejected before
 * the first iteration. Returns null otherwise.
 */
export function askAgain(task: TaskState, moment: Moment): Decision | null {
  const { approval, paused_for_approval, current_iteration } = task;
  // The state says that a person was asked, but it does not contain the request.
  if (approval === null) return paused_for_approval ? askPerson(task, LOST_REQUEST, moment) : null;
  if (approval.decision === 'rejected' && current_iteration === 0) {
    return askPerson(task, { ...approval, file: null }, moment);
  }
  if (approval.decision !== null || !paused_for_approval) return null;
  const expires_at = laterBy(moment.at, moment.policy.approvalTimeoutMs);
  // The request is written again in any case: if its file is gone, nobody can answer it.
  return { kind: 'request-approval', approval: { ...approval, expires_at } };
}

const LOST_REQUEST: ApprovalRequest = {
  id: 'resume',
  what: 'continue the task; its original request is lost',
  file: null,
};

/**
 * Decides to wait for the answer. The request is announced only after its file is written, so that a person
 * can answer as soon as the event arrives.
 */
export function approvalRequested(
  state: LoopState,
  { thereBefore: there_before }: EventOf<'approval-requested'>,
): Decided {
  if (state.step.kind !== 'approving' || state.task.approval === null) return strayed(state);
  const approval = { ...state.task.approval, there_before };
  const { id: approval_id, what } = approval;
  const file = shownName(approval.file);
  return {
    state: { ...state, task: { ...state.task, approval } },
    announced: [publish({ event: 'task_paused', approval_id, what, file })],
    decision: { kind: 'await-approval', approval },
  };
}

/** Handles a person's answer, or the end of the wait without an answer. */
export function approvalAnswered(
  state: LoopState,
  { answer, tookMs, heldUpMs }: EventOf<'approval-answered'>,
  moment: Moment,
): Decided {
  const { approval } = state.task;
  if (state.step.kind !== 'approving' || approval === null) return strayed(state);
  // The wait does not use up the task's time; `heldUpMs` has already been added to the limit.
  const task = postponed(state.task, tookMs - heldUpMs);
  if (answer.kind === 'none') {
    return { state: { ...state, task }, decision: unanswered(state, answer.why) };
  }
  const answered = withAnswer({ ...state, task }, approval, answer, moment.at);
  // A rejection before the first iteration means that the task must not start, so it ends the task.
  const isOver = answer.kind === 'rejected' && task.current_iteration === 0;
  const decision = isOver ? rejected(answer.reason) : continueAtOnce(answered.state, moment);
  return { ...answered, decision };
}

/** Records and announces a person's answer. The caller decides what follows. */
export function withAnswer(
  state: LoopState,
  approval: Approval,
  answer: PersonsAnswer,
  at: string,
): Decided {
  const { kind: decision, reason } = answer;
  const { id, what } = approval;
  const missing: Missing[] = state.carry.missing.filter(({ kind }) => kind !== 'question');
  missing.push({ kind: 'decision', id, what, decision, reason });
  const answered: LoopState = {
    ...state,
    task: {
      ...state.task,
      status: 'running',
      paused_for_approval: false,
      approval: {
        ...approval,
        decision,
        answered_at: at,
        answer_file: answer.file,
        reason: reason === null ? null : maskSecrets(reason),
      },
    },
    carry: { ...state.carry, missing },
  };
  const { current_iteration: iteration, max_iterations } = state.task;
  const told = { approval_id: id, decision, file: shownName(answer.file), reason };
  return {
    state: answered,
    announced: [publish({ event: 'task_resumed', iteration, max_iterations, ...told })],
    decision: null,
  };
}

/** Cleans the name of a file. The agent can choose that name, so it can contain terminal escape sequences. */
function shownName(file: string): string {
  return oneLine(file, 300);
}

function unanswered(
  { stopRequested }: LoopState,
  why: 'expired' | 'not-waited' | 'interrupted',
): Decision {
  if (why === 'interrupted') return stopRequested === null ? PAUSED : stoppedBy(stopRequested);
  const exitReason = why === 'expired' ? 'approval-expired' : 'approval-pending';
  return end('paused_awaiting_approval', exitReason);
}

function rejected(reason: string | null): Decision {
  const error = `a person has rejected the task${reason === null ? '' : `: ${reason}`}`;
  return end('failed', 'failed:aborted', { error });
}
