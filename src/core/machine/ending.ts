import type { JudgeAnswer } from '../completion/examination.ts';
import { type EndedStatus, endingRow, type StatusAndReason } from '../task/endings.ts';
import { agentNamed, type Policy } from '../task/policy.ts';
import { lastFailure, msBetween, type TaskState } from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import type { End, HowItEnded } from './decision.ts';
import type { EndingBody, EndingFields } from './events.ts';
import type { Ending, LoopState, StopCause } from './loop-state.ts';

function endingOf(
  how: Partial<Ending> & Pick<Ending, 'status' | 'exitReason'>,
  task: TaskState,
): Ending {
  const {
    status,
    exitReason,
    evidence = null,
    error = null,
    until = null,
    accepting = [],
    judge,
  } = how;
  const { event, note } = endingRow(status, exitReason);
  return {
    status,
    exitReason,
    event,
    evidence,
    note: note?.word ?? null,
    error,
    ...failureBehind(status, exitReason, error, task),
    until,
    ...flagsIn(accepting),
    ...(judge === undefined ? {} : { judge }),
  };
}

/**
 * Returns the error of a failed task, or that of the last iteration if no progress or the same error stalled the task.
 */
function failureBehind(
  status: EndedStatus,
  exitReason: string,
  error: string | null,
  task: TaskState,
): Pick<Ending, 'failure'> {
  const isByFailure = exitReason === 'no-progress' || exitReason === 'same-error';
  const failure = status === 'failed' ? error : isByFailure ? lastFailure(task) : null;
  return failure === null ? {} : { failure };
}

function flagsIn(accepting: readonly string[] = []): Pick<Ending, 'accepting'> {
  return accepting.length === 0 ? {} : { accepting };
}

/** Derives how a task ended from its state. Returns null if it has not ended. */
function endingOfTask(task: TaskState): Ending | null {
  const { status, exit_reason, evidence, errors, accepting = [] } = task;
  if (status === 'pending' || status === 'running') return null;
  const error = status === 'failed' ? (errors.at(-1)?.message ?? null) : null;
  return endingOf({ status, exitReason: exit_reason ?? status, evidence, error, accepting }, task);
}

interface EndedTask {
  readonly task: TaskState;
  readonly ending: Ending;
}

/** Returns an ended task and its ending, which was never announced. Throws if the task has not ended. */
export function announcedAgain(task: TaskState): EndedTask {
  const ending = endingOfTask(task);
  if (ending === null) throw new Error('cannot announce the ending of a task that has not ended');
  return { task: { ...task, driver: untilTold(task, ending) }, ending };
}

/**
 * Returns the driver (ralph process) that the state names until the ending is announced: another run then sees whether
 * the announcement is missing. Null for a completed task: its last step, which is stored until then, shows the same.
 */
function untilTold({ driver }: TaskState, { status }: Ending): TaskState['driver'] {
  return status === 'completed' ? null : driver;
}

/** Returns the task as ended at `at`, and its ending. */
export function endTask(task: TaskState, at: string, how: HowItEnded, policy: Policy): EndedTask {
  const { evidence = null } = how;
  const ending = endingOf(
    { ...how, evidence: evidence && { ...evidence, ...agentNamed(policy) } },
    task,
  );
  const { accepting: _earlier, ...rest } = task;
  const total_duration_seconds = Math.max(0, msBetween(task.started_at, at)) / 1000;
  return {
    task: {
      ...rest,
      ...flagsIn(ending.accepting),
      status: ending.status,
      exit_reason: ending.exitReason,
      evidence: ending.evidence,
      finished_at: at,
      wait: null,
      driver: untilTold(task, ending),
      metrics: { ...task.metrics, total_duration_seconds },
    },
    ending,
  };
}

/** Builds the decision that ends the loop. */
export function end<Status extends EndedStatus>(
  status: Status,
  exitReason: ReasonOf<Status>,
  details: Omit<HowItEnded, 'status' | 'exitReason'> = {},
): End {
  return { kind: 'end', status, exitReason, ...details } as End;
}

type ReasonOf<Status> = Extract<StatusAndReason, { status: Status }>['exitReason'];

/** The time for the whole task is over. */
export const TIME_OVER = end('timeout', 'timeout');

/** A person asked for a pause. */
export const PAUSED = end('paused', 'paused');

/** A signal or a person asked for a stop; the task can be resumed. */
export function stoppedBy(by: StopCause): End {
  return end('stopped', `stopped:${by}`);
}

/** Ends a task whose work has passed its checks, but on which the judge gave no verdict. */
export function endUndecided({ stopRequested }: LoopState, { verdict, trouble }: JudgeAnswer): End {
  const why = oneLine(verdict.why ?? 'there is no verdict', 600);
  const error = `the work has passed its checks, and was not judged: ${why}`;
  switch (trouble?.kind) {
    case 'stopped':
      return stoppedBy(stopRequested ?? 'request');
    case 'usage-limited':
      return end('usage_limited', 'usage_limit', { error, until: trouble.until });
    case 'outage':
      return end('usage_limited', 'outage', { error });
    case 'fatal':
      return end('failed', `failed:${trouble.cause}`, { error, judge: verdict.agent });
    default:
      return end('stalled', 'no-verdict', { error });
  }
}

/** Ends a task whose judge (the agent that judges its work) cannot be started, before any work is paid for. */
export function endWithoutJudge(why: string, { judge }: Policy): End {
  const named = judge === null ? {} : { judge: judge.agent };
  return end('failed', 'failed:agent-not-found', { error: why, ...named });
}

/** Builds the event that announces how a task ended. */
export function endingBody(
  ending: Ending,
  maxIterations: number,
  fields: EndingFields,
): EndingBody {
  switch (ending.event) {
    case 'task_failed':
      return { event: ending.event, error: ending.error ?? '', ...fields };
    case 'task_stalled':
      return { event: ending.event, error: ending.failure ?? null, ...fields };
    case 'max_iterations_reached':
      return { event: ending.event, max_iterations: maxIterations, ...fields };
    case 'task_usage_limited':
    case 'task_budget_spent':
      return { event: ending.event, until: ending.until, ...fields };
    case 'task_paused':
      return { event: ending.event, final: true, ...fields };
    default:
      return { event: ending.event, ...fields };
  }
}
