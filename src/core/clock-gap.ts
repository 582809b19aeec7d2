import type { LoopEvent } from './machine.ts';
import { laterBy, msBetween, type TaskState } from './task-state.ts';

/**
 * How much further the wall clock has moved than the time that really passed: the machine slept, or its
 * clock was set. In milliseconds; negative where it was set back, 0 for the little that clocks drift apart.
 */
export function clockGapMs(since: string, at: string, tookMs: number): number {
  const gap = msBetween(since, at) - tookMs;
  return Math.abs(gap) > NOTICEABLE_GAP_MS ? gap : 0;
}

export const NOTICEABLE_GAP_MS = 5_000;

/** Moves the task's limit with the clock, so that the task keeps exactly the time it had left to work in. */
export function withoutClockGap(task: TaskState, event: LoopEvent): TaskState {
  if (!('tookMs' in event)) return task;
  return postponed(task, clockGapMs(task.updated_at, event.at, event.tookMs));
}

/** Moves the task's limit by time in which no work was possible. */
export function postponed(task: TaskState, ms: number): TaskState {
  return ms === 0 ? task : { ...task, timeout_at: laterBy(task.timeout_at, ms) };
}
