import { rmSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../files/folder.ts';
import type { PrivateGit } from '../git/private-git.ts';

/*
 * Removes what killed processes of git and ralph leave behind. Only the process that runs a task cleans up, and only
 * the task's own files: no other process works in the task's folder or creates its refs.
 */

/** Removes what an earlier process left. If `refs` is empty, removes no locks of refs. */
export function removeLeftovers({ folder, repository }: PrivateGit, refs: string): void {
  for (const name of namesIn(folder)) {
    if (name === 'restore' || /^index-|\.lock$/.test(name)) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }
  // With an empty `refs`, this would remove git's own locks.
  if (refs !== '') removeLocks(path.join(repository.commonDir, refs));
}

function removeLocks(folder: string): void {
  for (const name of namesIn(folder)) {
    if (name.endsWith('.lock')) rmSync(path.join(folder, name), { force: true });
  }
}
