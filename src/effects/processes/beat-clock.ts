import { KILL_AFTER } from '../../core/fleet/lease.ts';
import { monotonicMs } from '../time/monotonic.ts';

/** Two clocks in milliseconds. The monotonic one stands still while the machine sleeps; the wall clock may be set. */
interface Clocks {
  wallMs(): number;
  monotonicMs(): number;
}

const SYSTEM_CLOCKS: Clocks = { wallMs: Date.now, monotonicMs };

/** Measures for the guard how old the last beat of a lease is. */
export interface BeatClock {
  /** Takes in a beat that was `ageMs` old when it was written into the pipe; ignores what is not a number. */
  beat(ageMs: number): void;
  /** Called when nothing is left to read in the pipe. */
  emptied(): void;
  /** Whether the last beat is so old that whatever runs has to be killed. */
  isOver(): boolean;
}

/**
 * Starts to measure, as if a beat had come `sinceMs` milliseconds ago. How long a beat lay in the pipe is not known
 * if the guard was stopped itself, so it counts from when the pipe was last empty.
 */
export function startBeatClock(
  leaseMs: number,
  sinceMs: number,
  clocks: Clocks = SYSTEM_CLOCKS,
): BeatClock {
  const read = () => ({ wall: clocks.wallMs(), monotonic: clocks.monotonicMs() });
  const before = ({ wall, monotonic }: ReturnType<typeof read>, ms: number) => ({
    wall: wall - ms,
    monotonic: monotonic - ms,
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
      const now = read();
      const ageMs = Math.max(now.wall - sent.wall, now.monotonic - sent.monotonic);
      return ageMs >= leaseMs * KILL_AFTER;
    },
  };
}
