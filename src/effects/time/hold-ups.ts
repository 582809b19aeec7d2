import { monotonicMs } from './monotonic.ts';
import { HELD_UP_MS } from './patient-timer.ts';

/** How long this process has been stopped so far, by Ctrl-Z or with its whole container. */
export interface HoldUps {
  totalMs(): number;
  close(): void;
}

/** That the process was stopped is only seen by a timer that is late: it may cost the rest of one step. */
const STEP_MS = 1_000;

/** Counts the time in which this process is stopped from now on. It does not keep the process alive. */
export function countHoldUps(): HoldUps {
  let totalMs = 0;
  let dueMs = monotonicMs() + STEP_MS;
  const takeOff = (): void => {
    const lateMs = monotonicMs() - dueMs;
    if (lateMs <= HELD_UP_MS) return;
    totalMs += lateMs;
    dueMs += lateMs;
  };
  const timer = setInterval(() => {
    takeOff();
    dueMs = monotonicMs() + STEP_MS;
  }, STEP_MS).unref();
  return {
    // Somebody may ask before the timer that is late has fired.
    totalMs() {
      takeOff();
      return Math.round(totalMs);
    },
    close: () => clearInterval(timer),
  };
}
