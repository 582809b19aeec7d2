import { afterEach, expect, test, vi } from 'vitest';
import { localDay } from '../../../src/effects/time/local-day.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.for<[zone: string, instant: string, since: string, until: string]>([
  ['UTC', '2026-03-01T10:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
  ['UTC', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
  ['UTC', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  // It is the next day there already.
  [
    'Asia/Tokyo',
    '2026-03-01T16:00:00.000Z',
    '2026-03-01T15:00:00.000Z',
    '2026-03-02T15:00:00.000Z',
  ],
  // 23 hours: the clocks go forward at night.
  [
    'Europe/Berlin',
    '2026-03-29T12:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ],
  // 25 hours: they go back.
  [
    'Europe/Berlin',
    '2026-10-25T12:00:00.000Z',
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ],
  // This day has no midnight: it begins at one o'clock.
  [
    'America/Asuncion',
    '2024-10-06T12:00:00.000Z',
    '2024-10-06T04:00:00.000Z',
    '2024-10-07T03:00:00.000Z',
  ],
])('the day in %s of %s', ([zone, instant, since, until]) => {
  vi.stubEnv('TZ', zone);
  expect(localDay(instant)).toEqual({ since, until });
});
