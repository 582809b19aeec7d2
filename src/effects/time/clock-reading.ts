import { monotonicMs } from './monotonic.ts';

/** Two clocks at one moment. The monotonic clock stops while the machine sleeps; the wall clock can be set. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Reads both clocks. */
export function momentNow(): ClockReading {
  return { wallMs: Date.now(), monotonicMs: monotonicMs() };
}

/** Returns the milliseconds since a moment, by the clock that shows more of them. */
export function msSince(then: ClockReading, now: ClockReading = momentNow()): number {
  return Math.max(now.wallMs - then.wallMs, now.monotonicMs - then.monotonicMs);
}
