import path from 'node:path';
import type { Repository } from '../git/repository.ts';
import { waitForLock } from '../lock/wait-for-lock.ts';

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
  return waitForLock(path.join(commonDir, 'ralph'), 'landing', signal, onWait);
}
