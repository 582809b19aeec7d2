import { KILL_AFTER } from '../../core/supervisor/lease.ts';
import { type ClockReading, momentNow, msSince } from '../time/clock-reading.ts';

/**
 * Measures for a run's guard process the age of the last beat: ralph's message that it has renewed its claim to a task.
 * Begins as if a beat had come `sinceMs` ms ago. A guard that was suspended itself cannot know how long a beat lay in
 * the pipe from ralph, so it counts a beat's age from when the pipe was last empty.
 */
export function startBeatClock(
  leaseMs: number,
  sinceMs: number,
  read: () => ClockReading = momentNow,
) {
  const before = ({ wallMs, monotonicMs }: ClockReading, ms: number): ClockReading => ({
    wallMs: wallMs - ms,
    monotonicMs: monotonicMs - ms,
  });
  let empty = before(read(), sinceMs);
  let sent = empty;
  return {
    /** Takes a beat that was `ageMs` old when it was written into the pipe; ignores anything that is no number. */
    beat(ageMs: number): void {
      if (ageMs >= 0) sent = before(empty, ageMs);
    },
    /** Called when nothing is left to read in the pipe. */
    emptied(): void {
      empty = read();
    },
    /** Whether the last beat is so old that all processes of the run have to be killed. */
    isOver(): boolean {
      return msSince(sent, read()) >= leaseMs * KILL_AFTER;
    },
  };
}
