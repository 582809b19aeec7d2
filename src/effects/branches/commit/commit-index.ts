import { copyFileSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import type { TreeDifference } from '../../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import { withGitSettings, withIndex } from '../../git/git.ts';
import { asEntry } from '../../git/listings.ts';
import { onlyFew } from '../../git/pathspecs.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { changesBetween, stagedChanges } from '../../git/questions/diffs.ts';
import {
  dropPaths,
  indexEntries,
  setEntries,
  stagePaths,
} from '../../git/questions/index-files.ts';
import { emptyTree } from '../../git/repository.ts';
import { isBehindLink, isPlainFolder, type TreePath, treePlace } from '../../git/tree-path.ts';

/** Returns the path of the index from which the commits of a task are made. */
export function indexOfCommit({ folder }: PrivateGit): string {
  return path.join(folder, 'index-of-commit');
}

/**
 * Makes an index that holds HEAD, except that the given paths are as in the work tree, as `git add` would store them.
 * The user's index is copied only for its file times, so that git need not read every file again. Returns the index's
 * path, and how it differs from HEAD.
 */
export async function stage(
  git: PrivateGit,
  head: string | null,
  paths: Iterable<TreePath>,
): Promise<{ readonly index: string; readonly staged: TreeDifference }> {
  const { repository } = git;
  const index = indexOfCommit(git);
  for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  const stats = lstatOf(repository.index);
  if (stats?.isFile() === true) {
    copyFileSync(repository.index, index);
    // If the index's time is a whole second, git compares the content of files written within that second.
    utimesSync(index, stats.atime, Math.floor(stats.mtimeMs / 1000));
  }
  const names = new Set(paths);
  // Git keeps a part of a split index in a second file, which would stay behind when ralph removes its own index.
  const whole = withGitSettings(git.users, [{ name: 'core.splitIndex', value: 'false' }]);
  const staging = withIndex(whole, index);
  // Setting an entry again clears its time, which the agent may have set back, and flags such as `skip-worktree`, with
  // which git would not look at the file, or would remove it.
  const held = [...(await indexEntries(staging, onlyFew(names), READING))].filter(
    ({ name, stage }) => names.has(name) && stage === '0',
  );
  await setEntries(staging, git.repository, held.map(asEntry), ADDING);
  // Git takes no name of a folder, such as that of a repository that has lost its `.git`, and none behind a link.
  const { root } = repository;
  const gone = [...names].filter(
    (name) => isPlainFolder(treePlace(root, name)) || isBehindLink(root, name),
  );
  for (const name of gone) names.delete(name);
  await stagePaths(staging, head, names, { reading: READING, adding: ADDING });
  await dropPaths(staging, gone, ADDING);
  return { index, staged: await indexChanges(git, index, head) };
}

const READING = 'git cannot read HEAD into an index';
const ADDING = 'git does not take the changed files';

/** Removes paths from an index that is to be committed. HEAD must not have these paths. */
export async function unstage(
  git: PrivateGit,
  index: string,
  paths: ReadonlySet<TreePath>,
): Promise<void> {
  await dropPaths(withIndex(git.users, index), [...paths], READING);
}

/** Returns how an index differs from a commit; with `head` null, from no files at all. */
export function indexChanges(
  git: PrivateGit,
  index: string,
  head: string | null,
): Promise<TreeDifference> {
  const from = head ?? emptyTree(git.repository);
  return stagedChanges(withIndex(git.users, index), from, READING);
}

/** Returns what a commit changed. `parent` is null for the repository's first commit. */
export function changesOf(
  git: PrivateGit,
  parent: string | null,
  commit: string,
): Promise<TreeDifference> {
  const from = parent ?? emptyTree(git.repository);
  return changesBetween(git.users, from, commit, { why: 'git cannot read its own commit' });
}
