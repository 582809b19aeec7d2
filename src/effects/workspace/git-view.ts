import path from 'node:path';
import { isInside, realPath } from '../files/real-path.ts';
import type { RunGit } from '../git/call/git-command.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { asText } from '../git/tree-path.ts';
import { type DirtyFiles, markDirtyFiles } from './dirty-files.ts';

/** A snapshot of the repository. */
export interface View extends TreeFiles, Pick<WorkTree, 'root' | 'pathspecs'> {
  /** HEAD, and the tips of all branches except those checked out in another work tree. */
  readonly branches: readonly string[];
  /** The commits that HEAD and all refs point to. */
  readonly tips: readonly string[];
}

/** What `git status` tells of a work tree. */
export interface TreeFiles {
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  readonly dirty: DirtyFiles;
}

/** The work tree in which git runs. `pathspecs` exclude the folders that do not count. */
export interface WorkTree {
  /** The folder with the `.git`: `cwd` or the nearest folder above it. */
  readonly place: string;
  readonly root: string;
  readonly pathspecs: readonly string[];
}

/** Asks git for the root of the work tree; null if there is no work tree or git does not open it. */
export async function findWorkTree(
  { cwd, excluded }: { readonly cwd: string; readonly excluded: readonly string[] },
  place: string,
  git: RunGit,
): Promise<WorkTree | null> {
  const output = await git(cwd, ['rev-parse', '--show-toplevel']);
  if (output === null) return null;
  const root = asText(output).replace(/\n$/, '');
  return { place, root, pathspecs: pathspecsWithout(excluded, root) };
}

/** Returns pathspecs for all of a work tree but these folders. */
export function pathspecsWithout(excluded: readonly string[], root: string): readonly string[] {
  const inside = placesInside(excluded, root).map(
    (folder) => `:(top,exclude,literal)${path.relative(root, folder)}`,
  );
  return inside.length === 0 ? [] : ['--', ...new Set(inside)];
}

/** Returns the absolute paths below `root` that these folders have. */
export function placesInside(folders: readonly string[], root: string): readonly string[] {
  return folders
    .flatMap((folder) => [
      // If the folder is a link, both the link and its target are excluded.
      path.join(realPath(path.dirname(folder)), path.basename(folder)),
      realPath(folder),
    ])
    .filter((folder) => isInside(root, folder));
}

const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-ahead-behind',
  '--no-renames',
  '--untracked-files=all',
  // Shows whether a submodule's commit has moved, without starting a process for each submodule.
  '--ignore-submodules=dirty',
];
export const REFS = ['for-each-ref', '--format=%(objectname) %(refname) %(worktreepath)'];

/**
 * Takes a snapshot of the repository; null if git fails. Does not read files again that have not
 * changed since `earlier`.
 */
export async function readView(
  { root, pathspecs }: WorkTree,
  earlier: DirtyFiles | null,
  git: RunGit,
): Promise<View | null> {
  const [files, refs] = await Promise.all([
    readFiles({ root, pathspecs }, earlier, git),
    git(root, REFS),
  ]);
  if (files === null || refs === null) return null;
  return { root, pathspecs, ...files, ...tipsIn(refs, root, files.head) };
}

/** Asks git for HEAD and the changed files of a work tree, as `readView` does; null if git fails. */
export async function readFiles(
  { root, pathspecs }: Pick<WorkTree, 'root' | 'pathspecs'>,
  earlier: DirtyFiles | null,
  git: RunGit,
): Promise<TreeFiles | null> {
  const settings = await withoutOwnFilters(root, git);
  if (settings === null) return null;
  const status = await git(root, [...STATUS, ...pathspecs], { settings });
  if (status === null) return null;
  const { head, names } = readStatus(status);
  return { head, dirty: await markDirtyFiles(root, names, earlier) };
}

/** Matches an entry of `git status`. The path comes after 7 fields, or after 9 in a conflict. */
const ENTRY = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )([\s\S]+)$/;

function readStatus(output: string): { head: string | null; names: readonly string[] } {
  let head: string | null = null;
  const names: string[] = [];
  for (const entry of output.split('\0')) {
    const name = ENTRY.exec(entry)?.[1];
    // Git shows a repository inside as a folder.
    if (name !== undefined) names.push(name.replace(/\/$/, ''));
    else head ??= /^# branch\.oid ([0-9a-f]{40,64})$/.exec(entry)?.[1] ?? null;
  }
  return { head, names };
}

/**
 * Reads the output of `REFS`. Skips branches checked out in another work tree, because loops in two work
 * trees of one repository must not count each other's commits.
 */
export function tipsIn(
  output: string,
  root: string,
  head: string | null,
): Pick<View, 'branches' | 'tips'> {
  const branches: string[] = head === null ? [] : [head];
  const tips = [...branches];
  for (const line of output.split('\n')) {
    const [, tip, name = '', place = ''] = /^(\S+) (\S+) (.*)$/.exec(line) ?? [];
    if (tip === undefined) continue;
    tips.push(tip);
    const folder = asText(place);
    if (name.startsWith('refs/heads/') && (['', root].includes(folder) || isInside(root, folder))) {
      branches.push(tip);
    }
  }
  return { branches, tips };
}
