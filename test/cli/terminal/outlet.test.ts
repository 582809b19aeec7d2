import { afterEach, expect, test, vi } from 'vitest';
import { signalled } from '../../../src/cli/terminal/outlet.ts';

afterEach(() => void vi.useRealTimers());

test('a signal that npx passes on, too, is held off for a second', () => {
  vi.useFakeTimers();
  const before = process.listeners('SIGHUP');
  const stop = signalled();
  // Other tests in this process may have listeners, too.
  const [own] = process.listeners('SIGHUP').filter((each) => !before.includes(each));
  own?.('SIGHUP');
  expect(stop).toMatchObject({ aborted: true, reason: 129 });
  expect(process.listeners('SIGHUP')).toContain(own);
  vi.advanceTimersByTime(1_000);
  expect(process.listeners('SIGHUP')).not.toContain(own);
});
