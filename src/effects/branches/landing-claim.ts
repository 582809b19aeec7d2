import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT_MS } from '../../core/task/driver.ts';
import { thisDriver, thisPlace } from '../lock/driver-identity.ts';
import { claimTask } from '../lock/task-lock.ts';
import type { Repository } from '../snapshots/repository.ts';
import { systemClock } from '../time/clock.ts';

/** How often another landing is looked for. */
const POLL_MS = 200;

/**
 * Waits until no other landing is under way in the repository, and keeps further ones away. Resolves to a
 * function that ends this, or to null if `signal` aborts. `onWait` is called once if there is another one,
 * with its pid if that is known. Rejects if nothing can be written in the repository.
 */
export async function claimLanding(
  { commonDir }: Repository,
  signal: AbortSignal,
  onWait: (pid: number | null) => void,
): Promise<(() => void) | null> {
  const here = () => thisPlace(systemClock.now());
  for (let hasWaited = false; !signal.aborted; hasWaited = true) {
    const driver = thisDriver(systemClock.now(), randomUUID());
    const result = await claimTask(path.join(commonDir, 'ralph'), 'landing', driver, here);
    if (result.kind === 'unwritable') throw result.error;
    if (result.kind === 'held') {
      const timer = setInterval(() => result.claim.renew(), HEARTBEAT_MS).unref();
      return () => {
        clearInterval(timer);
        result.claim.release();
      };
    }
    if (!hasWaited) onWait(result.by?.pid ?? null);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}
