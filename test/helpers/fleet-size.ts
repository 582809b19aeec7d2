import { setTimeout as sleep } from 'node:timers/promises';

// How large the tests of a fleet are, and how strict with its bounds. RALPH_FLEET_FULL=1 is for a quiet machine and an
// hour or more; RALPH_FLEET_SEED=7 disturbs the workers at other moments.

const { RALPH_FLEET_FULL: full = '0', RALPH_FLEET_SEED: seed = '1' } = process.env;
const IS_FULL = full === '1';

/** Where the moments of a test are drawn from. */
export const SEED = Number(seed);

/** Returns the first value as a rule, and the second one at full size. */
export function sized<T>(usual: T, whole: T): T {
  return IS_FULL ? whole : usual;
}

/** Returns what a busy machine gets on top of a bound, in milliseconds: nothing at full size. */
export function slack(ms: number): number {
  return sized(ms, 0);
}

/** At full size waits until so many milliseconds have passed since `sinceMs`, by `Date.now()`. */
export async function atFullSizeUntil(sinceMs: number, ms: number): Promise<void> {
  if (IS_FULL) await sleep(Math.max(0, sinceMs + ms - Date.now()));
}
