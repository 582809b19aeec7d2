import { existsSync } from 'node:fs';
import type { TreeDifference, TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { withIndex } from '../../git/git.ts';
import { gitRefusal } from '../../git/git-error.ts';
import { indexLockOf, type Patience } from '../../git/git-locks.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { filesUnlikeIndex } from '../../git/questions/diffs.ts';
import { listIndex, setEntries, updatePaths } from '../../git/questions/index-files.ts';
import type { TreePath } from '../../git/tree-path.ts';
import { indexChanges, indexOfCommit } from './commit-index.ts';
import { keepLag, NO_LAG, readLag } from './index-lag.ts';

/** What a commit changed. */
export interface NewCommit {
  readonly changes: TreeDifference;
  /** The paths that ralph put into the commit; a hook may have added others. */
  readonly committed: ReadonlySet<TreePath>;
}

/** The lock of the user's index. */
export function indexLock({ repository }: PrivateGit): string {
  return indexLockOf(repository.index);
}

/**
 * Updates the user's index with what a commit changed, and with changes of earlier commits that the index lacks.
 * Entries of other paths, and what somebody has staged, stay as they are. If the index stays locked, the paths are
 * noted for the next commit.
 */
export async function followCommit(
  git: PrivateGit,
  { changes, committed }: NewCommit,
  patience: Patience,
): Promise<void> {
  const lag = readLag(git);
  const now = await listIndex(git.users);
  const paths = new Map<TreePath, { readonly was: TreeEntry; readonly to: TreeEntry }>();
  // What the index lacks of earlier commits is added only where HEAD still has it, and the index is as it was then.
  const behind = lag.size === 0 ? null : await indexChanges(git, git.repository.index, 'HEAD');
  for (const [name, { was, to }] of lag) {
    const isLacking = (now.get(name) ?? null) === was && behind?.get(name)?.from === to;
    if (isLacking) paths.set(name, { was, to });
  }
  for (const [name, { from, to }] of changes) {
    const is = now.get(name) ?? null;
    const isUntouched = is === from || is === lag.get(name)?.was;
    paths.delete(name);
    if (is !== to && (isUntouched || committed.has(name))) paths.set(name, { was: is, to });
  }
  if (paths.size === 0) return keepLag(git, NO_LAG);
  const entries = [...paths].map(([name, { to }]) => [name, to] as const);
  await patience.untilGone([indexLock(git)]);
  if ((await gitRefusal(setEntries(git.users, git.repository, entries))) !== null) {
    return keepLag(git, paths);
  }
  await noteTimes(
    git,
    [...paths].flatMap(([name, { to }]) => (to === null ? [] : [name])),
  );
  await keepLag(git, NO_LAG);
}

/** Notes file times in the user's index for files that are as committed, so that git need not read them again. */
async function noteTimes(git: PrivateGit, names: readonly TreePath[]): Promise<void> {
  const index = indexOfCommit(git);
  if (!existsSync(index)) return;
  const changed = await filesUnlikeIndex(withIndex(git.users, index));
  if (changed === null) return;
  const dirty = new Set(changed);
  const clean = names.filter((name) => !dirty.has(name));
  await updatePaths(git.users, clean);
}
