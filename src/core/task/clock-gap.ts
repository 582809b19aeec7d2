import { HEARTBEAT_MS } from './driver.ts';
import { isWorkedUntil, lastWorkAt, laterBy, msBetween, type TaskState } from './task-state.ts';

/** When an event happened, and how long after the previous event. */
export interface Timing {
  readonly at: string;
  /** Milliseconds since the previous event, by a clock that stops while the machine sleeps. */
  readonly tookMs: number;
  /** The part of `tookMs` in which this process was suspended, for example by Ctrl-Z. */
  readonly heldUpMs: number;
}

/**
 * Returns how many milliseconds the wall clock moved beyond the time that really passed, because the machine
 * slept or its clock was set. Negative if the clock was set back; 0 for ordinary clock drift.
 */
function clockGapMs(since: string, at: string, tookMs: number): number {
  const gap = msBetween(since, at) - tookMs;
  return Math.abs(gap) > NOTICEABLE_GAP_MS ? gap : 0;
}

const NOTICEABLE_GAP_MS = 5_000;

/**
 * Returns for how many milliseconds of the time since an instant no work was possible, because the machine slept or
 * ralph was suspended. Includes any change of the clock, so it is negative if the clock was set back.
 */
export function standstillMs(since: string, { at, tookMs, heldUpMs }: Timing): number {
  return clockGapMs(since, at, tookMs) + heldUpMs;
}

/** Moves the task's time limit by the standstill (time in which no work was possible) since the last event. */
export function withoutStandstill(
  task: TaskState,
  event: Timing | { readonly at: string },
): TaskState {
  return 'tookMs' in event ? postponed(task, standstillMs(task.updated_at, event)) : task;
}

/** Moves the task's time limit by `ms` milliseconds, in which no work was possible. */
export function postponed(task: TaskState, ms: number): TaskState {
  return ms === 0 ? task : { ...task, timeout_at: laterBy(task.timeout_at, ms) };
}

/**
 * Returns a saved task with a new heartbeat of its driver (the process that runs it). A standstill since the last save
 * moves the task's time limit at once: if the driver were killed later, the standstill would be known nowhere else.
 */
export function withHeartbeat(task: TaskState, beat: Timing): TaskState {
  const driver = task.driver && { ...task.driver, beat_at: beat.at };
  // After its end a task is not worked on, although its driver lives until it has announced the
  // ending.
  const isWorkedOn = task.finished_at === null && isWorkedUntil(task, beat.at);
  const lostMs = isWorkedOn ? standstillMs(task.updated_at, beat) : 0;
  return postponed({ ...task, driver }, lostMs);
}

/**
 * Returns the instant until which the dead driver of a task worked: its last heartbeat, or the agent's later output at
 * `heardAt`, but at most one heartbeat interval later, since the machine slept in a longer gap.
 */
export function workedUntil(task: TaskState, heardAt: string | null, now: string): string {
  const beatenAt = lastWorkAt(task);
  if (heardAt === null || msBetween(heardAt, now) < 0) return beatenAt;
  return laterBy(beatenAt, Math.min(Math.max(0, msBetween(beatenAt, heardAt)), HEARTBEAT_MS));
}

/**
 * Returns how many milliseconds a resumed task has left: the rest of its old limit at `workedAt`, when its
 * last driver stopped working, and what the new limit adds. Time without a driver does not count.
 */
export function timeLeftMs(
  task: TaskState,
  workedAt: string,
  limits: { readonly oldMs: number; readonly newMs: number },
): number {
  return msBetween(workedAt, task.timeout_at) + limits.newMs - limits.oldMs;
}
