import { monotonicMs } from './monotonic.ts';

/** A timer that is later than this shows that ralph was suspended: on a busy machine, timers are less late. */
export const HELD_UP_MS = 1_000;

/**
 * Calls back after `ms` milliseconds; returns a function that cancels the timer. When a suspended
 * process continues, its timers fire before anything else. So a timer that is far too late first
 * lets the event loop turn, which reads pending output and notices processes that have ended.
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
