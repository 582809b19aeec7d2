import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, RunClock } from '../loop/ports.ts';
import { countHoldUps } from './hold-ups.ts';
import { monotonicMs } from './monotonic.ts';

/** Longer timers fire at once in Node; and after a suspend a short step notices the new time. */
const LONGEST_STEP_MS = 30_000;

let lastMs = Number.NaN;
let lastWritten = '';

/** Written out once a millisecond: an agent may do a thousand things in one. */
function now(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastWritten = new Date(ms).toISOString();
  }
  return lastWritten;
}

/**
 * The machine's clock. Waits follow the wall clock, so that time asleep counts, but last no longer than
 * they were when they began: a clock that is set back by a day must not hold the loop for one.
 */
export const systemClock: Clock = {
  now,
  monotonicMs,
  random: () => Math.random(),
  async waitUntil(instant, signal) {
    const until = Date.parse(instant);
    const startedMs = monotonicMs();
    const longestMs = until - Date.now();
    while (!signal.aborted) {
      const left = Math.min(until - Date.now(), longestMs - (monotonicMs() - startedMs));
      if (left <= 0) return;
      await sleep(Math.min(left, LONGEST_STEP_MS), undefined, { signal }).catch(() => undefined);
    }
  },
};

/** The machine's clock for a run; it counts how long ralph is stopped, until it is closed. */
export function startClock(): RunClock & { close(): void } {
  const holdUps = countHoldUps();
  return { ...systemClock, heldUpMs: holdUps.totalMs, close: holdUps.close };
}
