import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../loop/ports.ts';

/** Longer timers fire at once in Node; and after a suspend a short step notices the new time. */
const LONGEST_STEP_MS = 30_000;

/** The machine's clock. Waits follow the wall clock, so that time asleep counts. */
export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  random: () => Math.random(),
  async waitUntil(instant, signal) {
    const until = Date.parse(instant);
    while (!signal.aborted) {
      const left = until - Date.now();
      if (left <= 0) return;
      await sleep(Math.min(left, LONGEST_STEP_MS), undefined, { signal }).catch(() => undefined);
    }
  },
};
