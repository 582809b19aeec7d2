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
 * How much further the wall clock has moved than the time that really passed: the machine slept, or its
 * clock was set. In milliseconds; negative where it was set back, 0 for the little that clocks drift apart.
 */
function clockGapMs(since: string, at: string, tookMs: number): number {
  const gap = msBetween(since, at) - tookMs;
  return Math.abs(gap) > NOTICEABLE_GAP_MS ? gap : 0;
}

const NOTICEABLE_GAP_MS = 5_000;

/**
 * Milliseconds since an instant in which no work was possible: the machine slept, or ralph was stopped. Where
 * the clock was set they go with it, and are negative where it was set back.
 */
export function standstillMs(since: string, { at, tookMs, heldUpMs }: Answered): number {
  return clockGapMs(since, at, tookMs) + heldUpMs;
}

/** Moves the task's limit by such time, so that the task keeps exactly what it had left to work in. */
export function withoutStandstill(task: TaskState, event: LoopEvent): TaskState {
  return 'tookMs' in event ? postponed(task, standstillMs(task.updated_at, event)) : task;
}

/** Moves the task's limit by time in which no work was possible. */
export function postponed(task: TaskState, ms: number): TaskState {
  return ms === 0 ? task : { ...task, timeout_at: laterBy(task.timeout_at, ms) };
}

/**
 * A saved task at a beat of its driver, with the time since it was saved. Its limit moves by what of that
 * was no time to work in: if the driver is killed later on, nobody else can tell.
 */
export function withBeat(task: TaskState, beat: Answered): TaskState {
  const driver = task.driver && { ...task.driver, beat_at: beat.at };
  // Nothing is worked on after the end, although the driver lives until it has been announced.
  const isWorkedOn = task.finished_at === null && isWorkedUntil(task, beat.at);
  const lostMs = isWorkedOn ? standstillMs(task.updated_at, beat) : 0;
  return postponed({ ...task, driver }, lostMs);
}

/**
 * Until when a task was worked on whose driver is dead, where its agent was heard last at `heardAt`. But
 * no longer than until the next beat was due: where none came for longer, the machine slept.
 */
export function workedUntil(task: TaskState, heardAt: string | null, now: string): string {
  const beatenAt = lastWorkAt(task);
  if (heardAt === null || msBetween(heardAt, now) < 0) return beatenAt;
  return laterBy(beatenAt, Math.min(Math.max(0, msBetween(beatenAt, heardAt)), BEAT_MS));
}
