import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, RunClock } from '../../loop/ports.ts';
import { monotonicMs } from './monotonic.ts';
import { HELD_UP_MS } from './patient-timer.ts';

/** The longest timer of a wait: Node fires a timer over 2^31 ms at once, and a timer does not count the time asleep. */
const LONGEST_STEP_MS = 30_000;

/**
 * The machine's clock. Waits follow the wall clock, so time asleep counts, but never last longer
 * than planned at their start: a clock set back by a day must not delay the loop by a day.
 */
export const systemClock: Clock = {
  now: () => new Date().toISOString(),
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

/** Starts a clock for a run. Until `close`, it counts how long ralph is suspended. */
export function startClock(): RunClock & { close(): void } {
  const holdUps = countHoldUps();
  return { ...systemClock, heldUpMs: holdUps.totalMs, close: holdUps.close };
}

/** Only a timer that fires late shows a suspension, which is counted too short by at most one step. */
const STEP_MS = 1_000;

/** Counts how long this process is suspended, by Ctrl-Z or with its container. Does not keep the process alive. */
export function countHoldUps() {
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
    // Counts a suspension even if the late timer has not fired yet.
    totalMs(): number {
      takeOff();
      return Math.round(totalMs);
    },
    close: () => clearInterval(timer),
  };
}
