import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { realPath } from '../files/real-path.ts';

/**
 * Returns the folders of PATH that the agent cannot write to, so that ralph itself never starts a program of the agent:
 * `npx` and `npm run` put `node_modules/.bin` first. They are real paths, since the agent could replace a symbolic link
 * in its folders later. Leaves out relative names, which depend on the folder.
 */
export function outerPath(env: NodeJS.ProcessEnv, writable: readonly string[]): string {
  const folders = (env.PATH ?? '/usr/bin:/bin').split(path.delimiter);
  return folders
    .filter((folder) => path.isAbsolute(folder))
    .map(realPath)
    .filter((folder) => !isWithinAny(folder, writable))
    .join(path.delimiter);
}
