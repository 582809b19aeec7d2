import { lstatSync, utimesSync } from 'node:fs';
import type { TreeDifference, TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { type TreePath, treePlace } from '../../git/tree-path.ts';

/*
 * Finds files that changed during a commit: a hook may format them, and a filter may make git store other content than
 * the work tree has. These count as the iteration's work. Needs no git: compares the times of files with the instant at
 * which the commit began, and the committed content with the snapshot's.
 */

/** Touches a file and returns the instant by the file system's clock, which is coarser than the system's, in ms. */
export function instantOf(file: string): number {
  const { atime, mtime } = lstatSync(file);
  utimesSync(file, atime, mtime);
  return lstatSync(file).ctimeMs;
}

/** Returns the files of a commit that are gone, were written since an instant, or have other content than in `kept`. */
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
