import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/effects/time/clock.ts';

// The timers that the clock uses are out of the reach of the test's own.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, _: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, ms);
      signal.addEventListener('abort', reject);
    }),
}));

afterEach(() => void vi.useRealTimers());

const NEVER = new AbortController().signal;

/** Starts a wait of so many milliseconds under a clock in the test's hand. */
function startWait(ms: number, signal = NEVER) {
  vi.useFakeTimers({ now: Date.parse('2026-01-05T10:00:00.000Z') });
  let isOver = false;
  const until = new Date(Date.now() + ms).toISOString();
  const over = systemClock.waitUntil(until, signal).then(() => {
    isOver = true;
  });
  return { over, isOver: () => isOver };
}

describe('a wait', () => {
  test('lasts until its instant', async () => {
    const wait = startWait(90_000);
    await vi.advanceTimersByTimeAsync(89_000);
    expect(wait.isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(wait.isOver()).toBe(true);
  });

  test('is over as soon as the clock says so, after a suspend or where the clock was set forward', async () => {
    const wait = startWait(3_600_000);
    vi.setSystemTime(Date.now() + 7_200_000);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(wait.isOver()).toBe(true);
  });

  test('does not become longer where the clock is set back', async () => {
    const wait = startWait(60_000);
    vi.setSystemTime(Date.now() - 86_400_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(wait.isOver()).toBe(true);
  });

  test('ends with its signal', async () => {
    const abort = new AbortController();
    const wait = startWait(60_000, abort.signal);
    abort.abort();
    await wait.over;
    expect(wait.isOver()).toBe(true);
  });

  test('that has passed is none', async () => {
    const wait = startWait(-1);
    await wait.over;
    expect(wait.isOver()).toBe(true);
  });
});
