import { isRepository } from '../../core/snapshots/undo-plan.ts';
import { GitError } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { objectSizes, treeEntries } from '../git/questions/objects.ts';
import { lacks, readObjects, requireObjects, treesOf } from '../git/questions/verified.ts';
import type { TreePath } from '../git/tree-path.ts';

/**
 * Lists the files of a tree or commit: mode and id by path. Rejects with a `GitError` if git fails, or if an object is
 * not what its id says.
 */
export async function listTree(
  git: PrivateGit,
  treeOrCommit: string,
): Promise<ReadonlyMap<TreePath, string>> {
  const [tree = ''] = await treesOf(git.own, [treeOrCommit]);
  const { files, folders } = await treeEntries(git.own, tree);
  await requireObjects(git.own, folders);
  return files;
}

/** Rejects with a `GitError` if a file of a tree is missing or is not what its id says. */
export async function requireTree(git: PrivateGit, treeOrCommit: string): Promise<void> {
  const entries = [...(await listTree(git, treeOrCommit)).values()];
  await requireObjects(git.own, entries.filter((entry) => !isRepository(entry)).map(idOf));
}

/** Reads the contents of entries such as `100644 <id>`, by entry. Rejects with a `GitError` if one is missing. */
export async function readEntries(
  git: PrivateGit,
  entries: Iterable<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = [...new Set(entries)];
  if (wanted.length === 0) return new Map();
  const objects = await readObjects(git.own, wanted.map(idOf));
  return new Map(
    wanted.map((entry) => {
      const object = objects.get(idOf(entry));
      if (object?.type !== 'blob') throw new GitError(lacks(idOf(entry)));
      return [entry, object.content];
    }),
  );
}

/** Returns the sizes of the files in entries, in bytes, without reading the files. Rejects with a `GitError`. */
export async function sizesOf(
  git: PrivateGit,
  entries: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const wanted = [...new Set(entries)];
  if (wanted.length === 0) return new Map();
  const sizes = await objectSizes(git.own, wanted.map(idOf));
  return new Map(wanted.map((entry, at) => [entry, sizes[at] ?? Number.NaN]));
}

/** Returns the id in an entry such as `100644 <id>`. */
export function idOf(entry: string): string {
  return entry.slice(entry.indexOf(' ') + 1);
}
