import { expect, test } from 'vitest';
import { createClaimLease } from '../../../src/effects/processes/lease.ts';
import { momentNow, msSince } from '../../../src/effects/time/clock-reading.ts';
import { RunDropped } from '../../../src/loop/run-dropped.ts';

const LEASE_MS = 10_000;

function ago(ms: number) {
  const { wallMs, monotonicMs } = momentNow();
  return { wallMs: wallMs - ms, monotonicMs: monotonicMs - ms };
}

test.for([
  { name: 'the machine slept', wall: 9_000, monotonic: 1_000 },
  { name: 'the clock was set back', wall: -5_000, monotonic: 9_000 },
])('the clock that says more counts: $name', ({ wall, monotonic }) => {
  const now = momentNow();
  const then = { wallMs: now.wallMs - wall, monotonicMs: now.monotonicMs - monotonic };
  expect(msSince(then, now)).toBe(9_000);
});

test('an agent starts at once while the last beat is young, and else with the next one', async () => {
  const { signal } = new AbortController();
  await createClaimLease(LEASE_MS, momentNow(), signal).fresh();
  const late = createClaimLease(LEASE_MS, ago(6_000), signal);
  let isStarted = false;
  const started = late.fresh().then(() => {
    isStarted = true;
  });
  late.beaten(ago(5_500));
  await Promise.resolve();
  expect(isStarted).toBe(false);
  late.beaten(momentNow());
  await started;
});

test('an agent never starts once the claim is lost', async () => {
  const dropping = new AbortController();
  const late = createClaimLease(LEASE_MS, ago(9_000), dropping.signal);
  const waits = expect(late.fresh()).rejects.toThrow('the claim is lost');
  dropping.abort(new RunDropped('the claim is lost'));
  await waits;
  late.beaten(momentNow());
  await expect(late.fresh()).rejects.toThrow(RunDropped);
});

test('each beat is told with its age', () => {
  const lease = createClaimLease(LEASE_MS, momentNow(), new AbortController().signal);
  const ages: number[] = [];
  const forget = lease.onBeat((ageMs) => ages.push(ageMs));
  lease.beaten(ago(2_000));
  forget();
  lease.beaten(momentNow());
  expect(ages).toHaveLength(1);
  expect(ages[0]).toBeGreaterThanOrEqual(2_000);
  expect(lease.ageMs()).toBeLessThan(2_000);
});
