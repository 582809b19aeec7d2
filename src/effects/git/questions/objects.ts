import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { outputOf } from '../git-error.ts';
import { readTree } from '../listings.ts';
import type { TreePath } from '../tree-path.ts';

/** Lists all that is below a tree: mode and id of files by path, and ids of folders. Rejects with a `GitError`. */
export async function treeEntries(git: Git, tree: string): Promise<ReturnType<typeof readTree>> {
  const listed = await askGit(git, ['ls-tree', '-r', '-t', '-z', tree]);
  return readTree(outputOf(listed, `git cannot list the tree ${tree}`));
}

/** Lists what a tree or commit has at some paths and below them. Rejects with a `GitError`. */
export async function entriesAt(
  git: Git,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<TreePath, string>> {
  const listed = await askGit(git, ['ls-tree', '-r', '-z', '--full-tree', tree, '--', ...paths]);
  return readTree(outputOf(listed)).files;
}

/** Returns the sizes of objects in bytes, without reading them. Rejects with a `GitError`. */
export async function objectSizes(git: Git, ids: readonly string[]): Promise<readonly number[]> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const listed = await askGit(git, ['cat-file', '--batch-check=%(objectsize)'], { input });
  return outputOf(listed, 'git cannot look at files of a snapshot').split('\n').map(Number);
}

/** A commit that is to be made. */
export interface CommitParts {
  readonly tree: string;
  readonly message: string;
  readonly parents: readonly string[];
}

/** Writes a commit; no ref leads to it yet. Returns its id. Rejects with a `GitError`. */
export async function writeCommit(
  git: Git,
  { tree, message, parents }: CommitParts,
): Promise<string> {
  const flags = parents.flatMap((id) => ['-p', id]);
  return outputOf(
    await askGit(git, ['commit-tree', tree, ...flags], { input: Buffer.from(message) }),
  );
}

/** Returns the type of an object, such as `tree`; '' if git has no object of this name. Asks no other machine. */
export async function objectType(git: Git, name: string): Promise<string> {
  return (await askGit(git, ['cat-file', '-t', name])).output.trim();
}

/** Returns the tree of a commit. Rejects with a `GitError`. */
export async function treeOf(git: Git, commit: string): Promise<string> {
  return outputOf(await askGit(git, ['rev-parse', '--verify', `${commit}^{tree}`]));
}

/** Returns the commit of HEAD and its tree; null before the first commit, or if git fails. */
export async function headWithTree(
  git: Git,
): Promise<{ readonly commit: string; readonly tree: string } | null> {
  const { exitCode, output } = await askGit(git, ['rev-parse', 'HEAD', 'HEAD^{tree}']);
  const [commit = '', tree = ''] = output.split('\n');
  return exitCode === 0 ? { commit, tree } : null;
}

/** Returns the content of a file in git's objects; null if git has no object with this id. */
export async function blobOf(git: Git, id: string): Promise<Buffer | null> {
  const output = outputOrNull(await askGit(git, ['cat-file', 'blob', id]));
  return output === null ? null : Buffer.from(output, 'latin1');
}

/** Writes a text as a file into git's objects; nothing leads to it yet. Returns its id. Rejects with a `GitError`. */
export async function writeBlob(git: Git, text: string): Promise<string> {
  const args = ['hash-object', '-w', '--stdin'];
  return outputOf(await askGit(git, args, { input: Buffer.from(text) }));
}

/** Returns the id that git would give a file with this name and content; null if git fails. */
export async function idAt(git: Git, name: string, content: Uint8Array): Promise<string | null> {
  const args = ['hash-object', '--stdin', `--path=${name}`];
  return outputOrNull(await askGit(git, args, { input: content }))?.trim() ?? null;
}
