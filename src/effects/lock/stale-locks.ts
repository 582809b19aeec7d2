import path from 'node:path';
import type { Here } from '../../core/task/driver.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import { namesIn } from '../files/write-file.ts';
import { claimFolder, readClaims } from './lock-folder.ts';

/** Returns the ids of tasks whose locks were left by dead drivers. Never throws. */
export function findStaleLocks(stateDir: string, here: Here): readonly string[] {
  return namesIn(path.join(stateDir, 'locks'))
    .toSorted()
    .filter((id) => isTaskId(id) && isStale(id));

  function isStale(taskId: string): boolean {
    try {
      const { live, dead } = readClaims(claimFolder(stateDir, taskId), here);
      return live.length === 0 && dead.length > 0;
    } catch {
      return false;
    }
  }
}
