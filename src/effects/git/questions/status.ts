import { askGit, type Git } from '../call/git.ts';
import { outputOf } from '../git-error.ts';
import type { Pathspecs } from '../pathspecs.ts';
import type { TreePath } from '../tree-path.ts';

/** What `git status` tells of a work tree. */
export interface TreeStatus {
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  /** What differs from HEAD, and what git does not know. A folder, such as a repository inside, ends with a slash. */
  readonly names: readonly TreePath[];
}

interface StatusOptions {
  /** Whether uncommitted changes in a submodule count. */
  readonly looksInside?: boolean;
  /** Whether each file in a folder that git does not know is named, and not only the folder. */
  readonly isFull?: boolean;
  readonly why?: string;
}

/** Returns HEAD, and what is not committed in a work tree or at some paths. Rejects with a `GitError`. */
export async function readStatus(
  git: Git,
  pathspecs: Pathspecs = [],
  { looksInside = false, isFull = true, why }: StatusOptions = {},
): Promise<TreeStatus> {
  const how = [
    ...['--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'],
    ...(isFull ? ['--untracked-files=all'] : []),
    // Only the commit of a submodule counts: looking into it would start its filters.
    ...(looksInside ? [] : ['--ignore-submodules=dirty']),
  ];
  const output = outputOf(await askGit(git, ['status', ...how, ...pathspecs]), why);
  let head: string | null = null;
  const names: TreePath[] = [];
  for (const entry of output.split('\0')) {
    const name = ENTRY.exec(entry)?.[1];
    if (name !== undefined) names.push(name);
    else head ??= /^# branch\.oid ([0-9a-f]{40,64})$/.exec(entry)?.[1] ?? null;
  }
  return { head, names };
}

/** Matches an entry of `git status`. The path comes after 7 fields, or after 9 in a conflict. */
const ENTRY = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )([\s\S]+)$/;
