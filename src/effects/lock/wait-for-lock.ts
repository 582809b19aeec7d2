import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT_MS } from '../../core/task/driver.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { systemClock } from '../time/clock.ts';
import { thisDriver, thisPlace } from './driver-identity.ts';
import { claimTask } from './task-lock.ts';

const POLL_MS = 200;

/** Whether this process has got a lock; `by` is the process that has it instead, null if that is unknown. */
type LockResult =
  | { readonly kind: 'held'; release(): void }
  | { readonly kind: 'taken'; readonly by: Driver | null };

/**
 * Locks `name`, a file name, in a folder, which is created if it is missing. A lock whose process has died counts as
 * free. Rejects with the system's error if nothing can be written in the folder.
 */
export async function takeLock(folder: string, name: string): Promise<LockResult> {
  const driver = thisDriver(systemClock.now(), randomUUID());
  const here = () => thisPlace(systemClock.now());
  const result = await claimTask(folder, name, driver, here);
  if (result.kind === 'unwritable') throw result.error;
  if (result.kind === 'taken') return result;
  const timer = setInterval(() => result.claim.renew(), HEARTBEAT_MS).unref();
  return {
    kind: 'held',
    release() {
      clearInterval(timer);
      result.claim.release();
    },
  };
}

/**
 * Waits for a lock and takes it. Resolves to a function that releases it, or to null if `signal` aborts. `onWait` is
 * called once if another process has the lock, with its pid if known. Rejects as `takeLock` does.
 */
export async function waitForLock(
  folder: string,
  name: string,
  signal: AbortSignal,
  onWait: (pid: number | null) => void = () => {},
): Promise<(() => void) | null> {
  for (let hasWaited = false; !signal.aborted; hasWaited = true) {
    const result = await takeLock(folder, name);
    if (result.kind === 'held') return result.release;
    if (!hasWaited) onWait(result.by?.pid ?? null);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}
