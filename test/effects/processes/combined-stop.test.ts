import { expect, test } from 'vitest';
import type { StopCause } from '../../../src/core/machine/loop-state.ts';
import { combinedStop } from '../../../src/effects/processes/signals.ts';

function all() {
  const first = new AbortController();
  let cause: StopCause | null = null;
  return {
    signal: first.signal,
    hurry: new AbortController().signal,
    cause: () => cause,
    ask(by: StopCause) {
      cause ??= by;
      first.abort();
    },
  };
}

test('what is asked of all is asked of each, with its cause', () => {
  const stops = all();
  const [one, other] = [combinedStop(stops), combinedStop(stops)];
  stops.ask('SIGINT');
  expect([one.cause(), other.cause()]).toEqual(['SIGINT', 'SIGINT']);
  expect(one.signal.aborted).toBe(true);
  expect(combinedStop(stops).cause()).toBe('SIGINT');
});

test('what is asked of one ends no other', () => {
  const stops = all();
  const [one, other] = [combinedStop(stops), combinedStop(stops)];
  one.request('request');
  expect(one.cause()).toBe('request');
  expect(other.signal.aborted).toBe(false);
  expect(stops.signal.aborted).toBe(false);
});
