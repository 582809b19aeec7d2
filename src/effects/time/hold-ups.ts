import { monotonicMs } from './monotonic.ts';
import { HELD_UP_MS } from './patient-timer.ts';

/** How long this process has been stopped so far, by Ctrl-Z or with its whole container. */
export interface HoldUps {
  totalMs(): number;
  close(): void;
}

/** Only a late timer shows that the process was stopped; at worst that costs the rest of one step. */
const STEP_MS = 1_000;

/** Counts how long this process is stopped from now on. Does not keep the process alive. */
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
    // This may be called before the late timer has fired.
    totalMs() {
      takeOff();
      return Math.round(totalMs);
    },
    close: () => clearInterval(timer),
  };
}
