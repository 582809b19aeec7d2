import { monotonicMs } from './monotonic.ts';

/** No busy machine is this late: ralph itself was suspended, by Ctrl-Z or with its container. */
export const HELD_UP_MS = 1_000;

/**
 * Calls back after `ms` milliseconds; returns a function that cancels it. When a suspended process
 * continues, its timers fire before anything else. So a timer that is far too late first lets the
 * event loop turn, to read what others wrote meanwhile and to see their ends.
 */
export function startPatientTimer(callback: () => void, ms: number): () => void {
  const dueMs = monotonicMs() + ms;
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    if (monotonicMs() - dueMs > HELD_UP_MS) turn = setImmediate(callback);
    else callback();
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
