import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT_MS } from '../../core/task/driver.ts';
import { systemClock } from '../time/clock.ts';
import { thisDriver, thisPlace } from './driver-identity.ts';
import { claimTask } from './task-lock.ts';

/** How often a lock that another one holds is looked at. */
const POLL_MS = 200;

export interface LockRequest {
  /** The folder for the lock; it is created. */
  readonly folder: string;
  /** What is locked, as a file name. */
  readonly name: string;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Called once if another one holds the lock, with its pid if that is known. */
  readonly onWait?: (pid: number | null) => void;
}

/**
 * Waits until nobody else holds a lock, and keeps others away. A lock whose process has died counts as free.
 * Resolves to a function that ends this, or to null if `signal` aborts. Rejects with the system's error if
 * nothing can be written in the folder.
 */
export async function waitForLock(request: LockRequest): Promise<(() => void) | null> {
  const { folder, name, signal, onWait } = request;
  const here = () => thisPlace(systemClock.now());
  for (let hasWaited = false; !signal.aborted; hasWaited = true) {
    const driver = thisDriver(systemClock.now(), randomUUID());
    const result = await claimTask(folder, name, driver, here);
    if (result.kind === 'unwritable') throw result.error;
    if (result.kind === 'held') {
      const timer = setInterval(() => result.claim.renew(), HEARTBEAT_MS).unref();
      return () => {
        clearInterval(timer);
        result.claim.release();
      };
    }
    if (!hasWaited) onWait?.(result.by?.pid ?? null);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}
