import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, RunClock } from '../../loop/ports.ts';
import { countHoldUps } from './hold-ups.ts';
import { monotonicMs } from './monotonic.ts';

/** Node fires timers over 2^31 ms at once; short steps also notice soon that the machine has slept. */
const LONGEST_STEP_MS = 30_000;

let lastMs = Number.NaN;
let lastWritten = '';

/** Formats once per millisecond, because an agent may do a thousand things in one. */
function now(): string {
  const ms = Date.now();
  if (ms !== lastMs) {
    lastMs = ms;
    lastWritten = new Date(ms).toISOString();
  }
  return lastWritten;
}

/**
 * The machine's clock. Waits follow the wall clock, so time asleep counts, but never last longer
 * than planned at their start: a clock set back by a day must not delay the loop by a day.
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
