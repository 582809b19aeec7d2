import { expect, test } from 'vitest';
import { sideBySide } from '../../src/rescue/side-by-side.ts';

/** Work that ends when it is told to. */
function stage(names: readonly string[]) {
  const steps: string[] = [];
  const ends = new Map<string, { end: () => void; fail: (error: Error) => void }>();
  const queue = [...names];
  const next = async (underWay: number) => {
    const name = queue.shift();
    steps.push(`asked at ${underWay}`);
    if (name === undefined) return null;
    return () =>
      new Promise<void>((resolve, reject) => {
        steps.push(name);
        ends.set(name, { end: resolve, fail: reject });
      });
  };
  const until = (name: string) => expect.poll(() => ends.get(name)).toBeDefined();
  return { steps, queue, next, until, of: (name: string) => ends.get(name) };
}

test('fills the free places, and asks again when a piece ends', async () => {
  const { steps, queue, next, until, of } = stage(['a', 'b', 'c']);
  const all = sideBySide(2, next);
  await until('b');
  expect(steps).toEqual(['asked at 0', 'a', 'asked at 1', 'b']);
  of('a')?.end();
  await until('c');
  // What becomes due meanwhile is taken up beside what is under way.
  of('c')?.end();
  await expect.poll(() => steps.at(-1)).toBe('asked at 1');
  queue.push('d');
  of('b')?.end();
  await until('d');
  of('d')?.end();
  await all;
});

test('a failure lets the others end, and begins nothing more', async () => {
  const { steps, next, until, of } = stage(['a', 'b', 'c']);
  const all = sideBySide(2, next);
  let isOver = false;
  const caught = all.catch((error: Error) => {
    isOver = true;
    return error.message;
  });
  await until('b');
  of('a')?.fail(new Error('broken'));
  await Promise.resolve();
  expect(isOver).toBe(false);
  of('b')?.end();
  expect(await caught).toBe('broken');
  expect(steps).not.toContain('c');
});
