import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { outputOf } from '../git-error.ts';
import { withoutOwnFilters } from '../git-filters.ts';
import { readChanged } from '../listings.ts';
import type { Pathspecs } from '../pathspecs.ts';
import type { TreePath } from '../tree-path.ts';

/** What `git status` tells of a work tree. */
export interface TreeStatus {
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  /** What is not as in HEAD, and what git does not know. */
  readonly names: readonly TreePath[];
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

/** Asks git for HEAD and the changed files of a work tree, and runs no filter of the repository; null if git fails. */
export async function readStatus(
  git: Git,
  root: string,
  pathspecs: Pathspecs,
): Promise<TreeStatus | null> {
  const settings = await withoutOwnFilters(root, git);
  if (settings === null) return null;
  const output = outputOrNull(await askGit(git, [...STATUS, ...pathspecs], { settings }));
  if (output === null) return null;
  let head: string | null = null;
  const names: TreePath[] = [];
  for (const entry of output.split('\0')) {
    const name = ENTRY.exec(entry)?.[1];
    // Git shows a repository inside as a folder.
    if (name !== undefined) names.push(name.replace(/\/$/, ''));
    else head ??= /^# branch\.oid ([0-9a-f]{40,64})$/.exec(entry)?.[1] ?? null;
  }
  return { head, names };
}

/** Matches an entry of `git status`. The path comes after 7 fields, or after 9 in a conflict. */
const ENTRY = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )([\s\S]+)$/;

/** Returns what is not committed in a work tree, or at some of its paths. Rejects with a `GitError`: `why`, or git's reason. */
export async function uncommittedNames(
  git: Git,
  pathspecs: Pathspecs = [],
  { looksInside = false, isFull = true, why }: UncommittedOptions = {},
): Promise<readonly TreePath[]> {
  const how = [
    ...(isFull ? ['--untracked-files=all'] : []),
    // Of a submodule only its commit: looking into it would start its filters.
    ...(looksInside ? [] : ['--ignore-submodules=dirty']),
  ];
  const status = ['status', '--porcelain', '-z', '--no-renames', ...how, ...pathspecs];
  return readChanged(outputOf(await askGit(git, status), why));
}

interface UncommittedOptions {
  /** Whether what is not committed in a submodule counts. */
  readonly looksInside?: boolean;
  /** Whether each file of a folder that git does not know is named. */
  readonly isFull?: boolean;
  readonly why?: string;
}
