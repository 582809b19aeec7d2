import { existsSync } from 'node:fs';
import path from 'node:path';
import { realPath } from '../files/real-path.ts';

/** Returns the nearest folder, from `cwd` upward, that has a `.git`; null if there is no such folder. */
export function findGitAbove(cwd: string): string | null {
  let folder = realPath(cwd);
  while (!existsSync(path.join(folder, '.git'))) {
    const parent = path.dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return folder;
}

/** Returns the tree of files that an agent in a folder works on: outside of git, the folder. Null for the root of all. */
export function treeAround(cwd: string): string | null {
  const tree = findGitAbove(cwd) ?? realPath(cwd);
  return tree === path.parse(tree).root ? null : tree;
}
