import { existsSync } from 'node:fs';
import path from 'node:path';
import { realPath } from './real-path.ts';
import { upward } from './upward.ts';

/** Returns the nearest folder with a `.git`: `cwd` or one above it; null if there is none. */
export function findGitAbove(cwd: string): string | null {
  return upward(realPath(cwd)).find((each) => existsSync(path.join(each, '.git'))) ?? null;
}

/** Returns the git work tree around a folder, or outside git the folder itself; null if that is the root folder `/`. */
export function treeAround(cwd: string): string | null {
  const tree = findGitAbove(cwd) ?? realPath(cwd);
  return tree === path.parse(tree).root ? null : tree;
}
