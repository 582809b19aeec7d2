import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countHoldUps } from '../../../src/effects/time/clock.ts';
import type { monotonicMs } from '../../../src/effects/time/monotonic.ts';

const HOUR_MS = 3_600_000;

/** Time in which no timer fired. */
let stoppedMs = 0;
vi.mock('../../../src/effects/time/monotonic.ts', async (original) => {
  const actual = await original<{ monotonicMs: typeof monotonicMs }>();
  return { monotonicMs: () => actual.monotonicMs() + stoppedMs };
});

beforeEach(() => {
  vi.useFakeTimers();
  stoppedMs = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

test('counts each stop', () => {
  const holdUps = countHoldUps();
  vi.advanceTimersByTime(10_000);
  expect(holdUps.totalMs()).toBe(0);
  vi.advanceTimersByTime(300);
  stoppedMs += HOUR_MS;
  vi.advanceTimersByTime(10_000);
  expect(holdUps.totalMs()).toBe(HOUR_MS);
  stoppedMs += HOUR_MS;
  vi.advanceTimersByTime(10_000);
  expect(holdUps.totalMs()).toBe(2 * HOUR_MS);
  holdUps.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('knows of a stop before its timer has fired, and counts it once', () => {
  const holdUps = countHoldUps();
  vi.advanceTimersByTime(300);
  stoppedMs += HOUR_MS;
  const atOnce = HOUR_MS - 700;
  expect([holdUps.totalMs(), holdUps.totalMs()]).toEqual([atOnce, atOnce]);
  vi.advanceTimersByTime(10_000);
  expect(holdUps.totalMs()).toBe(atOnce);
  holdUps.close();
});

test('takes what is a little late for the usual thing', () => {
  const holdUps = countHoldUps();
  for (let second = 0; second < 60; second += 1) {
    stoppedMs += 1_000;
    vi.advanceTimersByTime(1_000);
  }
  expect(holdUps.totalMs()).toBe(0);
  holdUps.close();
});
