import { addUsage } from '../agent/attempt.ts';
import { agentNamed, hasSeveralAgents, type Policy } from '../task/policy.ts';
import { resumedSandbox } from '../task/task-sandbox.ts';
import { laterBy, NO_BREAKER, type TaskState, type Wait, withError } from '../task/task-state.ts';
import type { Announcement } from './action.ts';
import { askAgain } from './approval.ts';
import { questionLost } from './asking-back.ts';
import { type Decided, type Decision, type Moment, publish } from './decision.ts';
import { end, endWithoutJudge } from './ending.ts';
import { follow, judgeIteration, settleIteration } from './judge.ts';
import type { EventOf } from './loop-event.ts';
import { type LoopState, NO_STREAKS, NO_TROUBLE, type UndecidedClaim } from './loop-state.ts';
import { continueAtOnce } from './next-iteration.ts';
import { withoutSkipped, withUsageOfAgent } from './shifts.ts';

/*
 * Where a task resumes. The action that was running when the driver (the ralph process that ran the task) died is
 * repeated. An attempt that was running was never counted, so its iteration is tried again.
 *
 *   looking, verifying, settling, ───────────► the same action again
 *   following, waiting
 *   examining ───────────────────────────────► all checks again; without checks, another look
 *   counting-day ────────────────────────────► the day is counted again, before the agent starts
 *   measuring ───────────────────────────────► all checks again, before the first iteration
 *   working, ended within an iteration ──────► a further attempt of the same iteration; the cost of the
 *                                              lost one is counted, and five in a row end the task
 *   asking-back ─────────────────────────────► the first answer is judged; the question is repeated
 *                                              only if the lost one cost nothing
 *   ended without a verdict of the judge ────► as examining
 *   ended after an iteration ────────────────► the next iteration
 *   ended, but not announced ────────────────► announced, and nothing else
 */

/** Resumes a task whose driver ended or died. */
export function resumed(state: LoopState, event: EventOf<'resumed'>, moment: Moment): Decided {
  if (state.task.status === 'completed' || event.tellsOnly === true) {
    return { state, decision: { kind: 'announce-end' } };
  }
  const running = withLost(takenUp(state, event, moment.policy), event, moment.policy);
  const { current_iteration: iteration, max_iterations } = running.task;
  const next = continued(running, event, moment);
  return {
    ...next,
    announced: [
      publish({
        ...{ event: 'task_resumed', iteration, max_iterations },
        ...sandboxChanges(state.task, running.task),
      }),
      ...keptLate(state, iteration),
      ...(next.announced ?? []),
    ],
  };
}

/** Returns what this resume has changed about the sandbox. */
function sandboxChanges(
  { sandbox: before }: TaskState,
  { sandbox: now }: TaskState,
): { readonly sandbox_changes?: readonly string[] } {
  const earlier = before?.changes ?? [];
  const changes = (now?.changes ?? []).filter((each) => !earlier.includes(each));
  return changes.length === 0 ? {} : { sandbox_changes: changes.map(({ what }) => what) };
}

/** Requests a snapshot of the tree that the last driver left, since that driver may have died before it made one. */
function keptLate({ step }: LoopState, iteration: number): readonly Announcement[] {
  switch (step.kind) {
    case 'working':
    case 'asking-back':
      return [{ kind: 'keep-tree', iteration, as: 'attempt', outcome: 'interrupted' }];
    case 'looking':
    case 'verifying':
    case 'examining':
    case 'settling':
    case 'following': {
      const { outcome } = step.answer.record;
      return [{ kind: 'keep-tree', iteration, as: 'missing-end', outcome }];
    }
    default:
      return [];
  }
}

/** Returns the state of a task that runs again: without its ending, but with its usage. */
function takenUp(
  state: LoopState,
  { at, timeLeftMs, waitedOn = false }: EventOf<'resumed'>,
  policy: Policy,
): LoopState {
  const { task } = state;
  const isStalled = task.status === 'stalled';
  const hadEnded = state.step.kind === 'ended';
  const trouble = hadEnded
    ? { ...NO_TROUBLE, droppedFlags: state.trouble.droppedFlags }
    : { ...NO_TROUBLE, ...state.trouble, failedStarts: 0 };
  // A new run reports the missing tool servers again.
  const { toldServers: _, ...rest } = state;
  const { judging } = state;
  return {
    ...rest,
    // Unless `waitedOn`, the time that counts against the limit for waiting starts again: without a driver, nothing
    // was tried.
    trouble: waitedOn ? trouble : { ...trouble, outageSince: null, limitedSince: null },
    streaks: isStalled ? NO_STREAKS : state.streaks,
    ...(isStalled && judging !== undefined ? { judging: { ...judging, held: 0 } } : {}),
    task: {
      ...withoutSkipped(task),
      status: 'running',
      exit_reason: null,
      evidence: null,
      finished_at: null,
      max_iterations: policy.maxIterations,
      timeout_at: laterBy(at, timeLeftMs),
      breaker: isStalled ? NO_BREAKER : task.breaker,
      sandbox: resumedSandbox(policy, task.sandbox, at),
    },
  };
}

/** Adds the cost of the attempt that was running when the driver died, and records its death. */
function withLost(
  state: LoopState,
  { at, lost, lostSession = null }: EventOf<'resumed'>,
  policy: Policy,
): LoopState {
  if (lost === null) return state;
  const { task, trouble } = state;
  return {
    ...state,
    attemptsUsage: addUsage(state.attemptsUsage, lost),
    trouble: { ...trouble, interrupted: trouble.interrupted + 1 },
    task: withError(
      {
        ...withUsageOfAgent(task, policy, lost),
        usage: addUsage(task.usage, lost),
        session_usage: lostSession ?? task.session_usage,
      },
      {
        at,
        iteration: task.current_iteration,
        attempt: task.attempt,
        ...agentNamed(policy),
        kind: 'interrupted',
        message: 'ralph was killed while the agent worked; the cost until then is counted',
      },
    ),
  };
}

/** After this many interrupted attempts in a row, ralph ends the task: the cause would probably kill it every time. */
const INTERRUPTED_AT_MOST = 5;

function continued(
  state: LoopState,
  { lost, setupFailed = null, judgeMissing = null }: EventOf<'resumed'>,
  moment: Moment,
): Decided {
  const { step, task, trouble } = state;
  if (setupFailed !== null) {
    return { state, decision: end('failed', 'failed:setup', { error: setupFailed }) };
  }
  if (judgeMissing !== null) {
    return { state, decision: endWithoutJudge(judgeMissing, moment.policy) };
  }
  if (trouble.interrupted >= INTERRUPTED_AT_MOST) {
    const error = `ralph was killed ${trouble.interrupted} times in a row in iteration ${task.current_iteration}`;
    return { state, decision: end('stalled', 'interrupted', { error }) };
  }
  if (step.kind === 'asking-back') return questionLost(state, step.answer, lost, moment);
  if (step.kind === 'verifying' && moment.policy.verify.length === 0) {
    const { answer, sightings } = step;
    return judgeIteration(state, { answer, sightings, verified: null }, moment);
  }
  return { state, decision: repeated(state, moment) };
}

/** Decides to repeat all checks of a claim (or the look at the work folder), since the files may have changed. */
function claimAgain({ answer, sightings }: UndecidedClaim, { verify }: Policy): Decision {
  return verify.length === 0
    ? { kind: 'looking', answer }
    : { kind: 'verifying', answer, sightings, results: [], forClaim: true };
}

function repeated(state: LoopState, moment: Moment): Decision {
  const { step, task } = state;
  const { policy } = moment;
  if (step.kind === 'looking') return step;
  if (step.kind === 'verifying') return { ...step, results: [] };
  if (step.kind === 'examining') return claimAgain(step, policy);
  if (step.kind === 'ended' && state.undecided !== undefined) {
    return claimAgain(state.undecided, policy);
  }
  if (step.kind === 'settling') return settleIteration(state, step, moment);
  if (step.kind === 'following') return follow(state, step, moment);
  if (step.kind === 'waiting' && task.wait !== null && isStillDue(task, task.wait, policy)) {
    return { kind: 'wait', wait: task.wait };
  }
  return askAgain(task, moment) ?? continueAtOnce(state, moment);
}

/** Whether a wait still applies. With several agents, a usage limit or an outage is decided at the next start. */
function isStillDue({ agent }: TaskState, { kind }: Wait, policy: Policy): boolean {
  if (kind === 'delay' || agent === null) return true;
  const isHeld = kind === 'usage-limit' || kind === 'outage';
  if (isHeld && hasSeveralAgents(policy)) return false;
  return policy.agents.some((name) => name === agent);
}
