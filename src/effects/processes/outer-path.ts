import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { realPath } from '../files/real-path.ts';

/**
 * Returns the folders of PATH that the agent cannot write, so that what ralph itself starts is never the
 * agent's: `npx` and `npm run` put `node_modules/.bin` first. Relative names mean another folder each time.
 */
export function outerPath(env: NodeJS.ProcessEnv, writable: readonly string[]): string {
  const folders = (env.PATH ?? '/usr/bin:/bin').split(path.delimiter);
  return folders
    .filter((folder) => path.isAbsolute(folder) && !isWithinAny(realPath(folder), writable))
    .join(path.delimiter);
}
