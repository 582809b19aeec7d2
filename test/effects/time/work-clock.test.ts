import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { monotonicMs } from '../../../src/effects/time/monotonic.ts';
import { startWorkClock, type WorkLimits } from '../../../src/effects/time/work-clock.ts';

const DAY_MS = 86_400_000;

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

/** A clock, and when it said what. */
function stage(limits: Partial<WorkLimits>) {
  const startedMs = performance.now();
  const passed: [cause: string, atMs: number][] = [];
  const clock = startWorkClock(
    { iterationMs: 1e12, idleMs: null, taskMs: 1e12, ...limits },
    (cause) => passed.push([cause, performance.now() - startedMs]),
  );
  return { clock, passed, pass: (ms: number) => vi.advanceTimersByTime(ms) };
}

describe('a limit', () => {
  test.for([
    ['iteration-timeout', { iterationMs: 500 }],
    ['idle-timeout', { idleMs: 500 }],
    ['task-timeout', { taskMs: 500 }],
  ] as const)('%s passes at its time and not before', ([cause, limits]) => {
    const { passed, pass } = stage(limits);
    pass(499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([[cause, 500]]);
  });

  test('that passes first is the only one that is told', () => {
    const { passed, pass, clock } = stage({ iterationMs: 300, idleMs: 200, taskMs: 250 });
    pass(10_000);
    clock.alive();
    clock.pause(10);
    pass(10_000);
    clock.resume();
    pass(10_000);
    expect(passed).toEqual([['idle-timeout', 200]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of the whole task is the one that is told where both pass together', () => {
    const { passed, pass } = stage({ iterationMs: 300, idleMs: 300, taskMs: 300 });
    pass(300);
    expect(passed).toEqual([['task-timeout', 300]]);
  });

  test.for([0, -5_000])('that is over already (%i ms) is told at once', (taskMs) => {
    const { passed } = stage({ taskMs });
    expect(passed).toEqual([['task-timeout', 0]]);
  });

  test('is told of no more once the clock is stopped', () => {
    const { passed, pass, clock } = stage({ iterationMs: 300 });
    clock.stop();
    clock.resume();
    pass(10_000);
    expect(passed).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of fractions of a millisecond does not spin', () => {
    const { passed, pass } = stage({ iterationMs: 10.25 });
    pass(11);
    expect(passed).toEqual([['iteration-timeout', 11]]);
  });

  test.for([
    ['iteration-timeout', { iterationMs: 25 * DAY_MS }],
    ['idle-timeout', { idleMs: 25 * DAY_MS }],
    ['task-timeout', { taskMs: 25 * DAY_MS }],
  ] as const)(
    '%s of 25 days is beyond the timers of Node, and passes after 25 days',
    ([cause, limits]) => {
      const { passed, pass } = stage(limits);
      pass(25 * DAY_MS - 1);
      expect(passed).toEqual([]);
      pass(1);
      expect(passed).toEqual([[cause, 25 * DAY_MS]]);
    },
  );
});

describe('the idle limit', () => {
  test('begins anew with every sign of life', () => {
    const { passed, pass, clock } = stage({ idleMs: 100 });
    for (let n = 0; n < 20; n += 1) {
      pass(99);
      clock.alive();
    }
    expect(passed).toEqual([]);
    pass(99);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['idle-timeout', 20 * 99 + 100]]);
  });

  test('does not set a timer for each sign of life', () => {
    const { clock } = stage({ idleMs: 100 });
    for (let n = 0; n < 1_000; n += 1) clock.alive();
    expect(vi.getTimerCount()).toBe(1);
  });

  test('moves no other limit', () => {
    const { passed, pass, clock } = stage({ idleMs: 100, iterationMs: 250 });
    for (let n = 0; n < 5; n += 1) {
      pass(50);
      clock.alive();
    }
    expect(passed).toEqual([['iteration-timeout', 250]]);
  });
});

describe('a pause', () => {
  test.for([
    ['iteration-timeout', { iterationMs: 500 }],
    ['task-timeout', { taskMs: 500 }],
  ] as const)('moves the %s on by its length', ([cause, limits]) => {
    const { passed, pass, clock } = stage(limits);
    pass(400);
    clock.pause(60_000);
    pass(4_000);
    clock.resume();
    pass(99);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([[cause, 4_500]]);
    expect(clock.pausedMs()).toBe(4_000);
  });

  test('is no silence: the idle limit begins anew after it', () => {
    const { passed, pass, clock } = stage({ idleMs: 500 });
    pass(400);
    clock.pause(60_000);
    pass(4_000);
    clock.resume();
    pass(499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['idle-timeout', 4_900]]);
  });

  test('is over at its bound, if nobody says so before', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.pause(1_000);
    pass(1_499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['iteration-timeout', 1_500]]);
    expect(clock.pausedMs()).toBe(1_000);
  });

  test('that follows on another has its own bound', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.pause(1_000);
    pass(900);
    clock.pause(1_000);
    pass(900);
    expect(passed).toEqual([]);
    expect(clock.pausedMs()).toBe(1_800);
    pass(100 + 500);
    expect(passed).toEqual([['iteration-timeout', 2_400]]);
  });

  test('may be ended although there is none', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.resume();
    pass(300);
    clock.resume();
    pass(200);
    expect(passed).toEqual([['iteration-timeout', 500]]);
    expect(clock.pausedMs()).toBe(0);
  });

  test('is not outlived by a sign of life in its midst', () => {
    const { passed, pass, clock } = stage({ idleMs: 500 });
    clock.pause(60_000);
    pass(1_000);
    clock.alive();
    pass(1_000);
    clock.resume();
    pass(499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['idle-timeout', 2_500]]);
  });

  test('counts while it lasts', () => {
    const { pass, clock } = stage({});
    clock.pause(60_000);
    pass(700);
    expect(clock.pausedMs()).toBe(700);
  });

  test('may be longer than the timers of Node can be', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.pause(30 * DAY_MS);
    pass(DAY_MS);
    expect(passed).toEqual([]);
    clock.resume();
    pass(500);
    expect(passed).toEqual([['iteration-timeout', DAY_MS + 500]]);
  });
});

describe('while ralph is stopped', () => {
  const HOUR_MS = 3_600_000;
  const LIMITS: [cause: string, limits: Partial<WorkLimits>][] = [
    ['iteration-timeout', { iterationMs: 600_000 }],
    ['idle-timeout', { idleMs: 600_000 }],
    ['task-timeout', { taskMs: 600_000 }],
  ];

  test.for(LIMITS)('the %s does not run', ([cause, limits]) => {
    const { passed, pass, clock } = stage(limits);
    pass(100_000);
    stoppedMs += HOUR_MS;
    // At worst the rest of a step is lost, and the turn of the event loop is of the fake timers' time.
    pass(500_000 - 30_001);
    expect(passed).toEqual([]);
    expect(clock.heldUpMs()).toBeGreaterThan(HOUR_MS - 30_000);
    expect(clock.heldUpMs()).toBeLessThanOrEqual(HOUR_MS + 1);
    pass(30_002);
    expect(passed).toEqual([[cause, expect.any(Number)]]);
  });

  test('a stop is noticed, and of a long limit little is lost', () => {
    const { pass, clock } = stage({ iterationMs: 30 * 60_000 });
    pass(5 * 60_000);
    stoppedMs += 2 * HOUR_MS;
    pass(30_001);
    expect(clock.heldUpMs()).toBeGreaterThanOrEqual(2 * HOUR_MS - 30_000);
  });

  test('no limit passes before what has come meanwhile was read', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    pass(499);
    stoppedMs += 8_000;
    pass(1);
    expect(passed).toEqual([]);
    // It turns out that the agent has exited.
    clock.stop();
    pass(10_000);
    expect(passed).toEqual([]);
    expect(clock.heldUpMs()).toBe(8_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an agent that was held up by a full pipe has a second to bring out what it has to say', () => {
    const { passed, pass } = stage({ iterationMs: 500 });
    stoppedMs += 8_000;
    pass(500 + 999);
    expect(passed).toEqual([]);
    pass(2);
    expect(passed).toEqual([['iteration-timeout', 1_501]]);
  });

  test('an exit that is seen before the timer fires ends the stop, too', () => {
    const { pass, clock } = stage({ iterationMs: 500 });
    pass(400);
    stoppedMs += 8_000;
    clock.stop();
    expect(clock.heldUpMs()).toBe(7_900);
  });

  test('a sign of life that is seen before the timer fires does not put off the idle limit', () => {
    const { passed, pass, clock } = stage({ idleMs: 10_000 });
    pass(500);
    stoppedMs += HOUR_MS;
    clock.alive();
    expect(clock.heldUpMs()).toBe(HOUR_MS - 500);
    pass(9_999);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['idle-timeout', 10_500]]);
  });

  test('a pause in which it is stopped is a pause, and is not counted twice', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    pass(100);
    clock.pause(60_000);
    pass(1_000);
    stoppedMs += 8_000;
    clock.resume();
    expect([clock.pausedMs(), clock.heldUpMs()]).toEqual([9_000, 0]);
    pass(399);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['iteration-timeout', 1_500]]);
  });

  test('a timer that is a little late is the usual thing, and costs the agent its time', () => {
    const { passed, pass, clock } = stage({ iterationMs: 5_000 });
    pass(100);
    stoppedMs += 1_000;
    pass(3_900);
    expect(passed).toEqual([['iteration-timeout', 4_000]]);
    expect(clock.heldUpMs()).toBe(0);
  });

  test('what an agent says that is being ended after its limit is no sign of a stop', () => {
    const { pass, clock } = stage({ iterationMs: 500 });
    pass(500 + 3_000);
    clock.alive();
    clock.stop();
    clock.alive();
    expect(clock.heldUpMs()).toBe(0);
  });

  test('again and again, as on a machine that is far too busy, the limit passes all the same', () => {
    const { passed, pass } = stage({ iterationMs: 500 });
    for (let late = 0; late < 30; late += 1) {
      stoppedMs += 2_000;
      pass(1_000);
    }
    expect(passed).toHaveLength(1);
  });
});
