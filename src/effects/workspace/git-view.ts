import { isInside } from '../files/real-path.ts';
import type { Git } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { gitWithoutOwnFilters } from '../git/git-filters.ts';
import type { Pathspecs } from '../git/pathspecs.ts';
import { type ListedRef, listRefs } from '../git/questions/refs.ts';
import { readStatus } from '../git/questions/status.ts';
import { type DirtyFiles, markDirtyFiles } from './dirty-files.ts';

/** A work tree. `pathspecs` exclude the folders that do not count. */
export interface WorkTree {
  readonly root: string;
  readonly pathspecs: Pathspecs;
}

/** A snapshot of the repository. */
export interface View extends TreeFiles, WorkTree {
  /** HEAD, and the tips of all branches except those checked out in another work tree. */
  readonly branches: readonly string[];
  /** The commits that HEAD and all refs point to. */
  readonly tips: readonly string[];
}

/** HEAD, and the changed files of a work tree. */
export interface TreeFiles {
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  readonly dirty: DirtyFiles;
}

/** Takes a snapshot of the repository; null if git fails. Does not read files again that have not changed since `earlier`. */
export async function readView(
  { root, pathspecs }: WorkTree,
  earlier: DirtyFiles | null,
  git: Git,
): Promise<View | null> {
  const [files, refs] = await Promise.all([
    readFiles({ root, pathspecs }, earlier, git),
    orNull(listRefs(git)),
  ]);
  if (files === null || refs === null) return null;
  return { root, pathspecs, ...files, ...tipsIn(refs, root, files.head) };
}

/** Asks git for HEAD and the changed files of a work tree, as `readView` does; null if git fails. */
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
 * Returns the commits to which HEAD and the refs lead. Skips branches checked out in another work tree, because tasks
 * in two work trees of one repository must not count each other's commits.
 */
export function tipsIn(
  refs: readonly ListedRef[],
  root: string,
  head: string | null,
): Pick<View, 'branches' | 'tips'> {
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
