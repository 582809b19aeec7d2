import { existsSync } from 'node:fs';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { namedTaskId } from '../../core/task/task-id.ts';
import { inHistory, taskPaths } from './task-folder.ts';

/** Returns a random id for a prompt that no task of the state folder has, neither open nor in the history. */
export function freeTaskId(prompt: string, stateDir: string): string {
  const words = maskSecrets(prompt);
  for (;;) {
    const id = namedTaskId(words, Math.random());
    const paths = taskPaths(stateDir, id);
    const places = [paths, inHistory(paths, id)];
    if (!places.some(({ stateFile, folder }) => existsSync(stateFile) || existsSync(folder)))
      return id;
  }
}
