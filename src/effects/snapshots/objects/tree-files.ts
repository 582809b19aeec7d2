import type { PrivateGit } from '../private-git.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { TreePath } from '../tree-changes.ts';

/** Lists the files of a tree: mode and id by path. Rejects with a `SnapshotError` if git fails. */
export async function listTree(
  git: PrivateGit,
  tree: string,
): Promise<ReadonlyMap<TreePath, string>> {
  const { exitCode, output } = await git.run(['ls-tree', '-r', '-z', tree]);
  if (exitCode !== 0) throw new SnapshotError(`git cannot list the tree ${tree}`);
  const files = new Map<TreePath, string>();
  for (const line of output.split('\0')) {
    const end = line.indexOf('\t');
    if (end === -1) continue;
    const [mode = '', , id = ''] = line.slice(0, end).split(' ');
    files.set(line.slice(end + 1), `${mode} ${id}`);
  }
  return files;
}

/** Reads the contents of entries such as `100644 <id>`, by entry. Rejects with a `SnapshotError`. */
export async function readEntries(
  git: PrivateGit,
  entries: Iterable<string>,
): Promise<ReadonlyMap<string, Buffer>> {
  const wanted = [...new Set(entries)];
  if (wanted.length === 0) return new Map();
  const input = Buffer.from(wanted.map((entry) => `${idOf(entry)}\n`).join(''));
  const { exitCode, output } = await git.run(['cat-file', '--batch'], { input });
  if (exitCode !== 0) throw new SnapshotError('git cannot read files of a snapshot');
  const contents = new Map<string, Buffer>();
  let at = 0;
  for (const entry of wanted) {
    const end = output.indexOf('\n', at);
    const [, size] = / blob (\d+)$/.exec(output.slice(at, end)) ?? [];
    if (end === -1 || size === undefined) {
      throw new SnapshotError(`git has not got ${idOf(entry)}, which a snapshot needs`);
    }
    const from = end + 1;
    at = from + Number(size) + 1;
    contents.set(entry, Buffer.from(output.slice(from, at - 1), 'latin1'));
  }
  return contents;
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

function idOf(entry: string): string {
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
