import { KILL_AFTER } from '../../core/supervisor/lease.ts';
import { type ClockReading, momentNow, msSince } from '../time/clock-reading.ts';

/** Measures for the guard how old the last beat of a lease is. */
export interface BeatClock {
  /** Takes in a beat that was `ageMs` old when it was written into the pipe; ignores what is not a number. */
  beat(ageMs: number): void;
  /** Called when nothing is left to read in the pipe. */
  emptied(): void;
  /** Whether the last beat is so old that everything that runs has to be killed. */
  isOver(): boolean;
}

/**
 * Starts to measure, as if a beat had come `sinceMs` milliseconds ago. How long a beat lay in the pipe is not known
 * if the guard was stopped itself, so it counts from when the pipe was last empty.
 */
export function startBeatClock(
  leaseMs: number,
  sinceMs: number,
  read: () => ClockReading = momentNow,
): BeatClock {
  const before = ({ wallMs, monotonicMs }: ClockReading, ms: number): ClockReading => ({
    wallMs: wallMs - ms,
    monotonicMs: monotonicMs - ms,
  });
  let empty = before(read(), sinceMs);
  let sent = empty;
  return {
    beat(ageMs) {
      if (ageMs >= 0) sent = before(empty, ageMs);
    },
    emptied() {
      empty = read();
    },
    isOver() {
      return msSince(sent, read()) >= leaseMs * KILL_AFTER;
    },
  };
}
