import path from 'node:path';
import type { Repository } from '../git/repository.ts';
import { waitForLock } from '../lock/wait-for-lock.ts';

/**
 * Waits until no other landing (of a task's work on a branch) is under way in the repository, and makes later ones
 * wait. Resolves to a function that lets these go on, or to null if `signal` aborts. `onWait` is called once if there
 * is another landing, with its pid if that is known. Rejects if nothing can be written in the repository.
 */
export async function claimLanding(
  { commonDir }: Repository,
  signal: AbortSignal,
  onWait: (pid: number | null) => void,
): Promise<(() => void) | null> {
  return waitForLock(path.join(commonDir, 'ralph'), 'landing', signal, onWait);
}
