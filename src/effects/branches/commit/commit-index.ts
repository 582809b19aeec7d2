import { copyFileSync, existsSync, lstatSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import type { TreeDifference } from '../../../core/snapshots/undo-plan.ts';
import { outputOf } from '../../git/git-error.ts';
import { readRaw } from '../../git/listings.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { emptyTree } from '../../git/repository.ts';
import { asInput, type TreePath } from '../../git/tree-path.ts';

/** The index from which the commits of a task are made. */
export function indexOfCommit({ folder }: PrivateGit): string {
  return path.join(folder, 'index-of-commit');
}

/**
 * Makes an index that holds HEAD and, of the paths, what lies in the work tree by git's own rules. The
 * user's index is copied for its times only, so that git need not read every file again. Returns the
 * index's place, and how it differs from HEAD.
 */
export async function stage(
  git: PrivateGit,
  head: string | null,
  paths: Iterable<TreePath>,
): Promise<{ readonly index: string; readonly staged: TreeDifference }> {
  const { repository } = git;
  const index = indexOfCommit(git);
  for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  if (existsSync(repository.index)) {
    const { atime, mtimeMs } = lstatSync(repository.index);
    copyFileSync(repository.index, index);
    // Of a file that was written within this second, git then looks at the content.
    utimesSync(index, atime, Math.floor(mtimeMs / 1000));
  }
  const settings = ['-c', 'core.splitIndex=false'];
  const base = head === null ? ['--empty'] : ['--reset', head];
  outputOf(await git.onRepository([...settings, 'read-tree', ...base], { index }), READING);
  const adding = [...settings, 'update-index', ...ADDING];
  const added = await git.onRepository(adding, { index, input: asInput(paths) });
  outputOf(added, 'git does not take the changed files');
  return { index, staged: await stagedIn(git, index, head) };
}

const READING = 'git cannot read HEAD into an index';
const ADDING = ['--add', '--remove', '--replace', '-z', '--stdin'];

/** Takes paths back out of the index of a commit: those that HEAD does not have. */
export async function unstage(
  git: PrivateGit,
  index: string,
  paths: ReadonlySet<TreePath>,
): Promise<void> {
  if (paths.size === 0) return;
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  outputOf(await git.onRepository(args, { index, input: asInput(paths) }), READING);
}

/** Returns how an index differs from a commit; null is the one without files. */
export async function stagedIn(
  git: PrivateGit,
  index: string,
  head: string | null,
): Promise<TreeDifference> {
  const args = [
    'diff-index',
    '--cached',
    '-z',
    '--raw',
    '--no-renames',
    head ?? emptyTree(git.repository),
  ];
  return new Map(readRaw(outputOf(await git.onRepository(args, { index }), READING)));
}

/** Returns what a commit changed. `parent` is null for the first one. */
export async function changesOf(
  git: PrivateGit,
  parent: string | null,
  commit: string,
): Promise<TreeDifference> {
  const from = parent ?? emptyTree(git.repository);
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, commit];
  return new Map(readRaw(outputOf(await git.onRepository(args), 'git cannot read its own commit')));
}
