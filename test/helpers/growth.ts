import { expect } from 'vitest';
import { nightly } from './nightly.ts';

// What takes a square of the length takes 64 times as long for eight times the length. How long it
// takes by itself depends on the machine, so only the two are held against each other.
const TIMES = 8;
const MOST = 3 * TIMES;
/** A clock that ticks no finer says nothing of what is shorter. */
const LEAST_MS = 1;
const TRIES = 4;

/** Tried first: a square of this is over in seconds, one of the other in minutes. */
export const SHORT = 1 << 16;
/** Long enough that even a square of the cheapest steps stands out against reading it once. */
const LONG = 1 << 18;

/** The lengths at which growth is measured. */
export const LENGTHS = nightly([SHORT], [SHORT, LONG]);

/** Fails if for one of `parts` eight times as much takes far more than eight times as long, at the best of some tries. */
export function expectLinear(
  work: (bulk: string) => void,
  parts: readonly string[],
  lengths: readonly number[] = LENGTHS,
): void {
  for (const part of parts) {
    for (const length of lengths) {
      const growth = growthOf(work, part, length);
      // Not all of them first: where one is a square, the others mostly are, and take long.
      expect(growth, `${JSON.stringify(part)} up to a length of ${length}`).toBeLessThanOrEqual(
        MOST,
      );
    }
  }
}

/** How much longer eight times as much of `part` takes; 0 if it takes next to no time. */
function growthOf(work: (bulk: string) => void, part: string, length: number): number {
  const large = part.repeat(Math.ceil(length / part.length));
  const small = large.slice(0, large.length / TIMES);
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && least > MOST; tried += 1) {
    const time = timeOf(() => work(large));
    // The small one is not needed to see that this is little enough.
    if (time <= MOST * LEAST_MS) return 0;
    const timeOfSmall = timeOf(() => work(small));
    least = Math.min(least, time / Math.max(LEAST_MS, timeOfSmall));
  }
  return least;
}

/** Processor time, in milliseconds: what else runs on the machine does not count. */
function timeOf(work: () => void): number {
  const { user } = process.cpuUsage();
  work();
  return (process.cpuUsage().user - user) / 1_000;
}
