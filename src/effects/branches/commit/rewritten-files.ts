import { lstatSync, utimesSync } from 'node:fs';
import type { TreeDifference, TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { type TreePath, treePlace } from '../../git/tree-path.ts';

/*
 * A hook may format the files that it commits, and git has a file under a filter otherwise than the work tree has
 * it. Both are the iteration's, and are found without git: by the times of the files, and by what was kept of them.
 */

/** Returns the current instant by the clock of the file system, which is coarser than the system's, in ms. */
export function instantOf(file: string): number {
  const { atime, mtime } = lstatSync(file);
  utimesSync(file, atime, mtime);
  return lstatSync(file).ctimeMs;
}

/**
 * Returns which of the files that a commit changes were written since an instant, are gone by now, or are not in the
 * commit as they were kept before.
 */
export function rewrittenIn(
  { repository }: PrivateGit,
  instant: number,
  kept: TreeDifference,
  changes: TreeDifference,
): readonly TreePath[] {
  const isRewritten = (name: TreePath, to: TreeEntry): boolean => {
    const stats = lstatOf(treePlace(repository.root, name));
    if (stats === null) return to !== null;
    return stats.ctimeMs >= instant || (kept.has(name) && kept.get(name)?.to !== to);
  };
  return [...changes].flatMap(([name, { to }]) => (isRewritten(name, to) ? [name] : []));
}
