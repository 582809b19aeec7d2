import { afterEach, expect, test, vi } from 'vitest';
import { signalled } from '../../../src/cli/terminal/outlet.ts';

afterEach(() => void vi.useRealTimers());

test('a signal that npx passes on, too, is held off for a second', () => {
  vi.useFakeTimers();
  const before = process.listenerCount('SIGHUP');
  const stop = signalled();
  process.emit('SIGHUP', 'SIGHUP');
  expect(stop).toMatchObject({ aborted: true, reason: 129 });
  expect(process.listenerCount('SIGHUP')).toBe(before + 1);
  vi.advanceTimersByTime(1_000);
  expect(process.listenerCount('SIGHUP')).toBe(before);
});
