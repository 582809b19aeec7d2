import { expect, test } from 'vitest';
import { isAtOrBelow } from '../../../src/core/sandbox/places.ts';

test.for([
  ['/a/b', '/a', true],
  ['/a', '/a', true],
  ['/ab', '/a', false],
  ['/a', '/a/b', false],
  ['/a', '/', true],
] as const)('%s lies in %s: %s', ([place, folder, expected]) => {
  expect(isAtOrBelow(place, folder)).toBe(expected);
});
