import { BEAT_MS } from '../task/driver.ts';
import {
  isWorkedUntil,
  lastWorkAt,
  laterBy,
  msBetween,
  type TaskState,
} from '../task/task-state.ts';
import type { Answered, LoopEvent } from './loop-state.ts';

/**
 * How many milliseconds the wall clock has moved beyond the time that really passed, because the machine
 * slept or its clock was set. Negative if the clock was set back; 0 for ordinary clock drift.
 */
function clockGapMs(since: string, at: string, tookMs: number): number {
  const gap = msBetween(since, at) - tookMs;
  return Math.abs(gap) > NOTICEABLE_GAP_MS ? gap : 0;
}

const NOTICEABLE_GAP_MS = 5_000;

/**
 * Milliseconds since an instant in which no work was possible, because the machine slept or ralph was
 * stopped. Includes any change of the clock, so it is negative if the clock was set back.
 */
export function standstillMs(since: string, { at, tookMs, heldUpMs }: Answered): number {
  return clockGapMs(since, at, tookMs) + heldUpMs;
}

/** Moves the task's time limit by its standstill, so that the task keeps exactly the time it had left. */
export function withoutStandstill(task: TaskState, event: LoopEvent): TaskState {
  return 'tookMs' in event ? postponed(task, standstillMs(task.updated_at, event)) : task;
}

/** Moves the task's time limit by time in which no work was possible. */
export function postponed(task: TaskState, ms: number): TaskState {
  return ms === 0 ? task : { ...task, timeout_at: laterBy(task.timeout_at, ms) };
}

/**
 * Returns a saved task with a new heartbeat of its driver. Its time limit moves by the standstill since it
 * was saved: if the driver is killed later, nothing else can know of that standstill.
 */
export function withBeat(task: TaskState, beat: Answered): TaskState {
  const driver = task.driver && { ...task.driver, beat_at: beat.at };
  // No work is done after the end, although the driver lives until the end has been announced.
  const isWorkedOn = task.finished_at === null && isWorkedUntil(task, beat.at);
  const lostMs = isWorkedOn ? standstillMs(task.updated_at, beat) : 0;
  return postponed({ ...task, driver }, lostMs);
}

/**
 * Until when a task was worked on whose driver has died: until the agent's last output at `heardAt`, but no
 * later than the next heartbeat was due. If no heartbeat came by then, the machine slept.
 */
export function workedUntil(task: TaskState, heardAt: string | null, now: string): string {
  const beatenAt = lastWorkAt(task);
  if (heardAt === null || msBetween(heardAt, now) < 0) return beatenAt;
  return laterBy(beatenAt, Math.min(Math.max(0, msBetween(beatenAt, heardAt)), BEAT_MS));
}

/**
 * Milliseconds that a resumed task has left: what its old limit leaves after the work of its last driver, and
 * by how much the new limit is longer. Time in which no driver worked does not count.
 */
export function timeLeftMs(
  task: TaskState,
  workedAt: string,
  limits: { readonly oldMs: number; readonly newMs: number },
): number {
  return msBetween(workedAt, task.timeout_at) + limits.newMs - limits.oldMs;
}
