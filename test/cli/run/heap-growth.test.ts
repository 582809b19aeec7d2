import v8 from 'node:v8';
import { afterEach, expect, test, vi } from 'vitest';
import { limitHeap } from '../../../src/cli/run/heap-growth.ts';

const setFlags = vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => undefined);
const flags = (): readonly unknown[] => setFlags.mock.calls.map(([flag]) => flag);

afterEach(() => {
  setFlags.mockClear();
});

test('does not limit the heap for an agent that writes little', () => {
  const heap = limitHeap();
  heap.count(999_999);
  heap.lift();
  expect(flags()).toEqual([]);
});

test('limits the heap after an agent has written a megabyte, until lift is called', () => {
  const heap = limitHeap();
  for (let chunk = 0; chunk < 100; chunk += 1) heap.count(64 * 1024);
  expect(flags()).toEqual(['--semi-space-growth-factor=1']);
  heap.lift();
  // As V8 itself has it: compiled code that is kept under other flags is never used.
  expect(flags().at(-1)).toBe('--semi-space-growth-factor=2');
});
