import { expect, test } from 'vitest';
import { thinnedAtOrigin } from '../../../src/fleet/core/origin-refs.ts';

const refs = (fence: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `refs/ralph/t/${at}.${fence}.${at + 1}`);

test('the newest 200 snapshots stay, and of the older ones the first and every tenth', () => {
  expect(thinnedAtOrigin(refs(1, 201))).toEqual([]);
  const dropped = thinnedAtOrigin([...refs(10, 200), 'refs/ralph/t/result', ...refs(9, 21)]);
  const numbers = dropped.map((ref) => Number(ref.split('.').at(-1)));
  expect(dropped.every((ref) => ref.includes('.9.'))).toBe(true);
  expect(numbers).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21]);
  const left = [...refs(10, 200), ...refs(9, 21)].filter((ref) => !dropped.includes(ref));
  expect(thinnedAtOrigin(left)).toEqual([]);
});
