import { describe, expect, test } from 'vitest';
import { backOffMs, SLOWEST_RETRY_MS } from '../../../src/core/task/policy.ts';

const ALMOST_ONE = 1 - 2 ** -53;

describe('the back-off', () => {
  test.for([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [5, 16_000],
    [6, 32_000],
    [7, 64_000],
    [8, 128_000],
    [9, 256_000],
    [10, 300_000],
    [11, 300_000],
    [1_000, 300_000],
    [10_000, 300_000],
  ] as const)('after %i failures lies between half of %i ms and all of it', ([failures, full]) => {
    expect(backOffMs(failures, 0)).toBe(full / 2);
    expect(backOffMs(failures, 0.5)).toBe(full * 0.75);
    expect(backOffMs(failures, ALMOST_ONE)).toBe(full);
  });

  test('never passes five minutes and never shrinks', () => {
    expect(SLOWEST_RETRY_MS).toBe(5 * 60_000);
    for (const random of [0, 0.3, ALMOST_ONE]) {
      const waits = Array.from({ length: 100 }, (_, index) => backOffMs(index + 1, random));
      expect(waits).toEqual(waits.toSorted((a, b) => a - b));
      expect(Math.max(...waits)).toBeLessThanOrEqual(SLOWEST_RETRY_MS);
      expect(waits.every(Number.isInteger)).toBe(true);
    }
  });

  test('spreads drivers that fail at the same time', () => {
    const waits = Array.from({ length: 50 }, (_, index) => backOffMs(5, index / 50));
    expect(new Set(waits).size).toBe(50);
  });
});
