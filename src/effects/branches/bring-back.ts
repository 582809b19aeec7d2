import { leftBy } from '../../core/snapshots/timeline.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from '../git/private-git.ts';
import type { TreePath } from '../git/tree-path.ts';
import { readSnapshot } from '../snapshots/read-snapshot.ts';
import { heldIn } from '../snapshots/restore/held.ts';
import { restoreFiles } from '../snapshots/restore/restore-files.ts';
import type { SnapshotId } from '../snapshots/snapshot-ids.ts';
import { listSnapshots } from '../snapshots/snapshot-list.ts';
import { compareTrees } from '../snapshots/trees.ts';

/** The newest snapshot of a task: the commit that was checked out at that time, and the tree of files. */
export interface NewestSnapshot {
  /** Null if the snapshot was taken before the repository's first commit. */
  readonly head: string | null;
  readonly tree: string;
}

/** Returns the newest snapshot of a task; null if there is none. */
export async function newestSnapshot(
  git: PrivateGit,
  ids: readonly SnapshotId[],
): Promise<NewestSnapshot | null> {
  const newest = (await listSnapshots(git.own, ids)).snapshots.at(-1);
  if (newest === undefined) return null;
  // The snapshot of an undo holds the files from before it; `leftBy` returns the tree that the undo left behind.
  return { head: (await readSnapshot(git, newest.commit)).head, tree: leftBy(newest) };
}

/** A task's work tree that was removed and made again. */
export interface MadeAgain {
  /** The commit that is checked out in it. */
  readonly tip: string;
  /** The commit at which the task began. */
  readonly base: string;
  /** Absolute paths that the agent may not write; empty without a sandbox. */
  readonly denied: readonly string[];
}

/**
 * Restores a task's uncommitted work into a work tree that was made again. Files that the agent may not write are set
 * back to how they were when the task began. Resolves to the paths that were not restored, because the branch has
 * changed them or something is in their place. Rejects with a `GitError`.
 */
export async function bringBack(
  git: PrivateGit,
  { head, tree }: NewestSnapshot,
  { tip, base, denied }: MadeAgain,
): Promise<readonly TreePath[]> {
  if (head === null) return [];
  const isHeld = heldIn(git.repository.root, denied);
  const work = await compareTrees(git, head, tree);
  const moved = await compareTrees(git, head, tip);
  const since = denied.length === 0 ? new Map() : await compareTrees(git, tip, base);
  const entries = new Map<TreePath, TreeEntry>(
    [...since].filter(([name]) => isHeld(name)).map(([name, { to }]) => [name, to]),
  );
  const kept: TreePath[] = [];
  for (const [name, { to }] of work) {
    if (isHeld(name)) continue;
    const now = moved.get(name);
    if (now === undefined) entries.set(name, to);
    else if (now.to !== to) kept.push(name);
  }
  const blocked = await restoreFiles({ git, entries, mayReplace: () => true });
  return [...kept, ...blocked.keys()];
}
