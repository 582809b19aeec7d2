import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startWorkClock, type WorkLimits } from '../../src/effects/work-clock.ts';

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
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
  it.each([
    ['iteration-timeout', { iterationMs: 500 }],
    ['idle-timeout', { idleMs: 500 }],
    ['task-timeout', { taskMs: 500 }],
  ])('%s passes at its time and not before', (cause, limits) => {
    const { passed, pass } = stage(limits);
    pass(499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([[cause, 500]]);
  });

  it('that passes first is the only one that is told', () => {
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

  it('of the whole task is the one that is told where both pass together', () => {
    const { passed, pass } = stage({ iterationMs: 300, idleMs: 300, taskMs: 300 });
    pass(300);
    expect(passed).toEqual([['task-timeout', 300]]);
  });

  it.each([0, -5_000])('that is over already (%i ms) is told at once', (taskMs) => {
    const { passed } = stage({ taskMs });
    expect(passed).toEqual([['task-timeout', 0]]);
  });

  it('is told of no more once the clock is stopped', () => {
    const { passed, pass, clock } = stage({ iterationMs: 300 });
    clock.stop();
    clock.resume();
    pass(10_000);
    expect(passed).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of fractions of a millisecond does not spin', () => {
    const { passed, pass } = stage({ iterationMs: 10.25 });
    pass(11);
    expect(passed).toEqual([['iteration-timeout', 11]]);
  });

  it.each([
    ['iteration-timeout', { iterationMs: 60 * DAY_MS }],
    ['idle-timeout', { idleMs: 60 * DAY_MS }],
    ['task-timeout', { taskMs: 60 * DAY_MS }],
  ])('%s of 60 days is beyond the timers of Node, and passes after 60 days', (cause, limits) => {
    const { passed, pass } = stage(limits);
    pass(60 * DAY_MS - 1);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([[cause, 60 * DAY_MS]]);
  });
});

describe('the idle limit', () => {
  it('begins anew with every sign of life', () => {
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

  it('does not set a timer for each sign of life', () => {
    const { clock } = stage({ idleMs: 100 });
    for (let n = 0; n < 1_000; n += 1) clock.alive();
    expect(vi.getTimerCount()).toBe(1);
  });

  it('moves no other limit', () => {
    const { passed, pass, clock } = stage({ idleMs: 100, iterationMs: 250 });
    for (let n = 0; n < 5; n += 1) {
      pass(50);
      clock.alive();
    }
    expect(passed).toEqual([['iteration-timeout', 250]]);
  });
});

describe('a pause', () => {
  it.each([
    ['iteration-timeout', { iterationMs: 500 }],
    ['task-timeout', { taskMs: 500 }],
  ])('moves the %s on by its length', (cause, limits) => {
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

  it('is no silence: the idle limit begins anew after it', () => {
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

  it('is over at its bound, if nobody says so before', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.pause(1_000);
    pass(1_499);
    expect(passed).toEqual([]);
    pass(1);
    expect(passed).toEqual([['iteration-timeout', 1_500]]);
    expect(clock.pausedMs()).toBe(1_000);
  });

  it('that follows on another has its own bound', () => {
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

  it('may be ended although there is none', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.resume();
    pass(300);
    clock.resume();
    pass(200);
    expect(passed).toEqual([['iteration-timeout', 500]]);
    expect(clock.pausedMs()).toBe(0);
  });

  it('is not outlived by a sign of life in its midst', () => {
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

  it('counts while it lasts', () => {
    const { pass, clock } = stage({});
    clock.pause(60_000);
    pass(700);
    expect(clock.pausedMs()).toBe(700);
  });

  it('may be longer than the timers of Node can be', () => {
    const { passed, pass, clock } = stage({ iterationMs: 500 });
    clock.pause(30 * DAY_MS);
    pass(DAY_MS);
    expect(passed).toEqual([]);
    clock.resume();
    pass(500);
    expect(passed).toEqual([['iteration-timeout', DAY_MS + 500]]);
  });
});
