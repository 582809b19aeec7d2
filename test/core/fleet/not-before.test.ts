import { expect, test } from 'vitest';
import { readNotBefore } from '../../../src/core/fleet/not-before.ts';

test.for([
  ['2h', 7_200_000],
  ['1d12h', 129_600_000],
  ['0', 0],
  ['2027-01-31T22:00:00Z', '2027-01-31T22:00:00.000Z'],
  ['2027-01-31T22:00+01:00', '2027-01-31T21:00:00.000Z'],
  ['2027-01-31 22:00:00.5 +0530', '2027-01-31T16:30:00.500Z'],
  ['2028-02-29T00:00z', '2028-02-29T00:00:00.000Z'],
  ['2027-01-31T22:00:00', null],
  ['2027-01-31', null],
  ['2027-02-29T00:00Z', null],
  ['2027-13-01T00:00Z', null],
  ['2027-01-31T25:00Z', null],
  ['tomorrow', null],
  ['-2h', null],
  ['', null],
] as const)('%j is %j', ([text, expected]) => {
  expect(readNotBefore(text)).toBe(expected);
});
