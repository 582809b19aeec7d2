import { expect, test } from 'vitest';
import { remember } from '../../../src/core/agent/bounded-map.ts';

test('keeps the last keys, and fewer than twice as many as its limit', () => {
  const map = new Map<number, string>();
  let missing = 0;
  let most = 0;
  for (let key = 1; key <= 10_000; key += 1) {
    remember(map, key, `value ${key}`, 100);
    if (!map.has(Math.max(1, key - 99))) missing += 1;
    most = Math.max(most, map.size);
  }
  expect(missing).toBe(0);
  expect(most).toBeLessThan(200);
});

test('keeps a key that is set again and again', () => {
  const map = new Map<string, number>();
  for (let n = 1; n <= 1_000; n += 1) {
    remember(map, 'often', n, 10);
    remember(map, `once ${n}`, n, 10);
  }
  expect(map.get('often')).toBe(1_000);
});

test('has the key that was set last at its end', () => {
  const map = new Map([
    ['first', 1],
    ['second', 2],
  ]);
  remember(map, 'first', 3, 10);
  expect([...map]).toEqual([
    ['second', 2],
    ['first', 3],
  ]);
});
