import { expect, test } from 'vitest';
import { startBeatClock } from '../../../src/effects/processes/beat-clock.ts';

/** A clock over a lease of 100 s, so that the time is up after 80. */
function stage(sinceMs = 0) {
  let wall = 1_000_000;
  let monotonic = 500;
  const clock = startBeatClock(100_000, sinceMs, () => ({
    wallMs: wall,
    monotonicMs: monotonic,
  }));
  return {
    clock,
    pass(ms: number) {
      wall += ms;
      monotonic += ms;
    },
    sleep(ms: number) {
      wall += ms;
    },
    setWall(ms: number) {
      wall += ms;
    },
  };
}

test('the time is up at 0.8 of the lease, and a beat gives it back', () => {
  const { clock, pass } = stage();
  pass(79_999);
  expect(clock.isOver()).toBe(false);
  pass(1);
  expect(clock.isOver()).toBe(true);
  clock.emptied();
  clock.beat(0);
  expect(clock.isOver()).toBe(false);
});

test('a beat counts from when it was sent', () => {
  const { clock, pass } = stage();
  clock.beat(30_000);
  pass(49_999);
  expect(clock.isOver()).toBe(false);
  pass(1);
  expect(clock.isOver()).toBe(true);
});

test('the time in which the machine sleeps counts', () => {
  const { clock, sleep } = stage();
  sleep(80_000);
  expect(clock.isOver()).toBe(true);
});

test('a wall clock that is set back gives no time', () => {
  const { clock, pass, setWall } = stage();
  setWall(-3_600_000);
  pass(80_000);
  expect(clock.isOver()).toBe(true);
});

test('a beat that may have lain in the pipe while the guard was stopped counts from before that', () => {
  const { clock, pass } = stage();
  pass(10_000);
  clock.emptied();
  pass(90_000);
  clock.beat(0);
  expect(clock.isOver()).toBe(true);
  clock.emptied();
  clock.beat(0);
  expect(clock.isOver()).toBe(false);
});

test('the time that the guard took to start counts', () => {
  expect(stage(80_000).clock.isOver()).toBe(true);
});

test('a beat without a number is ignored', () => {
  const { clock, pass } = stage();
  pass(70_000);
  clock.beat(Number.NaN);
  pass(10_000);
  expect(clock.isOver()).toBe(true);
});
