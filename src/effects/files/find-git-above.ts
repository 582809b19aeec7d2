import { existsSync } from 'node:fs';
import path from 'node:path';
import { realPath } from './real-path.ts';
import { upward } from './upward.ts';

/** Returns the nearest folder, from `cwd` upward, that has a `.git`; null if there is no such folder. */
export function findGitAbove(cwd: string): string | null {
  return upward(realPath(cwd)).find((each) => existsSync(path.join(each, '.git'))) ?? null;
}

/** Returns the tree of files that an agent in a folder works on: outside of git, the folder. Null for the root of all. */
export function treeAround(cwd: string): string | null {
  const tree = findGitAbove(cwd) ?? realPath(cwd);
  return tree === path.parse(tree).root ? null : tree;
}
