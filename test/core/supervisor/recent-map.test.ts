import { expect, test } from 'vitest';
import { createRecentMap } from '../../../src/core/supervisor/recent-map.ts';

test('keeps the last keys, and fewer than twice as many as its limit', () => {
  const map = createRecentMap<number, string>(100);
  let missing = 0;
  for (let key = 1; key <= 100_000; key += 1) {
    map.set(key, `value ${key}`);
    if (map.get(Math.max(1, key - 49)) === undefined) missing += 1;
  }
  expect(missing).toBe(0);
  const kept = Array.from({ length: 100_000 }, (_, index) => map.get(index + 1)).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBeGreaterThanOrEqual(100);
  expect(kept.length).toBeLessThan(200);
});

test('keeps a key that is set again and again', () => {
  const map = createRecentMap<string, number>(10);
  for (let n = 1; n <= 1_000; n += 1) {
    map.set('often', n);
    map.set(`once ${n}`, n);
    expect(map.get('often')).toBe(n);
  }
});

test('deletes a key of any age', () => {
  const map = createRecentMap<string, number>(2);
  map.set('old', 1);
  map.set('other', 2);
  map.set('young', 3);
  map.delete('old');
  map.delete('young');
  expect([map.get('old'), map.get('other'), map.get('young')]).toEqual([undefined, 2, undefined]);
});
