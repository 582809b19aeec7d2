import { isRepository } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from './private-git.ts';
import { SnapshotError } from './snapshot-error.ts';
import type { TreePath } from './tree-changes.ts';
import { lacks, readObjects, requireObjects, treesOf } from './verified.ts';

/** Lists the files of a tree or a commit: mode and id by path. Rejects with a `SnapshotError` if git fails. */
export async function listTree(
  git: PrivateGit,
  treeOrCommit: string,
): Promise<ReadonlyMap<TreePath, string>> {
  const [tree = ''] = await treesOf(git, [treeOrCommit]);
  const { exitCode, output } = await git.run(['ls-tree', '-r', '-t', '-z', tree]);
  if (exitCode !== 0) throw new SnapshotError(`git cannot list the tree ${tree}`);
  const files = new Map<TreePath, string>();
  const folders: string[] = [];
  for (const line of output.split('\0')) {
    const end = line.indexOf('\t');
    if (end === -1) continue;
    const [mode = '', type, id = ''] = line.slice(0, end).split(' ');
    if (type === 'tree') folders.push(id);
    else files.set(line.slice(end + 1), `${mode} ${id}`);
  }
  await requireObjects(git, folders);
  return files;
}

/** Rejects with a `SnapshotError` unless git has all files of a tree as their ids say. */
export async function requireTree(git: PrivateGit, treeOrCommit: string): Promise<void> {
  const entries = [...(await listTree(git, treeOrCommit)).values()];
  await requireObjects(git, entries.filter((entry) => !isRepository(entry)).map(idOf));
}

/**
 * Reads the contents of entries such as `100644 <id>`, by entry. Rejects with a `SnapshotError` if one is missing or
 * is not what its id says.
 */
export async function readEntries(
  git: PrivateGit,
  entries: Iterable<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = [...new Set(entries)];
  if (wanted.length === 0) return new Map();
  const objects = await readObjects(git, wanted.map(idOf));
  return new Map(
    wanted.map((entry) => {
      const object = objects.get(idOf(entry));
      if (object?.type !== 'blob') throw new SnapshotError(lacks(idOf(entry)));
      return [entry, object.content];
    }),
  );
}

/** Returns the sizes of entries in bytes, without reading them. Rejects with a `SnapshotError`. */
export async function sizesOf(
  git: PrivateGit,
  entries: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const wanted = [...new Set(entries)];
  if (wanted.length === 0) return new Map();
  const input = Buffer.from(wanted.map((entry) => `${idOf(entry)}\n`).join(''));
  const { exitCode, output } = await git.run(['cat-file', '--batch-check=%(objectsize)'], {
    input,
  });
  if (exitCode !== 0) throw new SnapshotError('git cannot look at files of a snapshot');
  const sizes = output.split('\n');
  return new Map(wanted.map((entry, at) => [entry, Number(sizes[at])]));
}

/** The id in an entry such as `100644 <id>`. */
export function idOf(entry: string): string {
  return entry.slice(entry.indexOf(' ') + 1);
}

/** A path as git has it, from a text. */
export function asTreePath(text: string): TreePath {
  return Buffer.from(text).toString('latin1');
}

/** A path for people and for the words of checks. */
export function asText(path: TreePath): string {
  return Buffer.from(path, 'latin1').toString();
}
