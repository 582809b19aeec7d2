import { isInside } from '../files/real-path.ts';
import type { Git } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { gitWithoutOwnFilters } from '../git/git-filters.ts';
import type { Pathspecs } from '../git/pathspecs.ts';
import type { ListedRef } from '../git/questions/refs.ts';
import { readStatus } from '../git/questions/status.ts';
import { type DirtyFiles, markDirtyFiles } from './dirty-files.ts';

/** A work tree. `pathspecs` exclude the folders that do not count. */
export interface WorkTree {
  readonly root: string;
  readonly pathspecs: Pathspecs;
}

/** HEAD, and the changed files of a work tree. */
export interface TreeFiles {
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  readonly dirty: DirtyFiles;
}

/** Asks git for HEAD and the changed files of a work tree; null if git fails. Reads only files that have changed since `earlier`. */
export async function readFiles(
  { root, pathspecs }: WorkTree,
  earlier: DirtyFiles | null,
  git: Git,
): Promise<TreeFiles | null> {
  const asked = gitWithoutOwnFilters(git, root).then((safely) => readStatus(safely, pathspecs));
  const status = await orNull(asked);
  if (status === null) return null;
  const names = status.names.map((name) => name.replace(/\/$/, ''));
  return { head: status.head, dirty: await markDirtyFiles(root, names, earlier) };
}

/**
 * Returns the commits to which HEAD and the refs lead: all in `tips`, and in `branches` those of HEAD and the branches.
 * `branches` skips what is checked out in another work tree, since tasks in two work trees of one repository must not
 * count each other's commits.
 */
export function tipsIn(refs: readonly ListedRef[], root: string, head: string | null) {
  const own = head === null ? [] : [head];
  const branches = refs.filter(
    ({ name, checkedOutIn: folder }) =>
      name.startsWith('refs/heads/') && (['', root].includes(folder) || isInside(root, folder)),
  );
  return {
    branches: [...own, ...branches.map(({ id }) => id)],
    tips: [...own, ...refs.map(({ id }) => id)],
  };
}
