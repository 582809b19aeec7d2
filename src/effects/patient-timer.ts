import { monotonicMs } from './monotonic.ts';

/** So late no busy machine is: ralph itself was stopped, by Ctrl-Z or with its whole container. */
export const HELD_UP_MS = 1_000;

/**
 * Calls back after `ms` milliseconds, and returns what cancels that. When a stopped process goes on, its
 * timers fire before anything else. A timer that is far too late therefore lets the event loop turn
 * first: what others have written meanwhile is read, and their ends are seen.
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
