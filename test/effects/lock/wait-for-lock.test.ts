import { expect, test } from 'vitest';
import { waitForLock } from '../../../src/effects/lock/wait-for-lock.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('one after the other holds the lock', async () => {
  const folder = await tempFolder();
  const { signal } = new AbortController();
  let holders = 0;
  let most = 0;
  const hold = async (): Promise<void> => {
    const release = await waitForLock(folder, 'x', signal);
    holders += 1;
    most = Math.max(most, holders);
    await new Promise((resolve) => setImmediate(resolve));
    holders -= 1;
    release?.();
  };
  await Promise.all([hold(), hold(), hold(), hold()]);
  expect(most).toBe(1);
});

test('waiting tells who holds it, and ends with the signal', async () => {
  const folder = await tempFolder();
  const stop = new AbortController();
  const release = await waitForLock(folder, 'x', stop.signal);
  const told: (number | null)[] = [];
  const waits = waitForLock(folder, 'x', stop.signal, (pid) => {
    told.push(pid);
    stop.abort();
  });
  expect(await waits).toBeNull();
  expect(told).toEqual([process.pid]);
  release?.();
  expect(await waitForLock(folder, 'x', stop.signal)).toBeNull();
});
