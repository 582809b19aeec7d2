import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TreePair } from '../../core/snapshots/timeline.ts';
import {
  isRepository,
  type TreeDifference,
  type TreeEntry,
} from '../../core/snapshots/undo-plan.ts';
import type { LineChanges } from '../../core/task/line-changes.ts';
import { GitError, outputOf } from '../git/git-error.ts';
import { readNames, readNumstat, readRaw } from '../git/listings.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { asInput, type TreePath } from '../git/tree-path.ts';
import { indexOf } from './filtered-restore.ts';
import { idOf, listTree } from './tree-files.ts';
import { requireObjects, treesOf } from './verified.ts';

const RAW = ['diff-tree', '-r', '-z', '--raw', '--no-renames'];

/**
 * Compares two trees or commits. Rejects with a `GitError` if git fails, for example because one of them is gone, or is
 * not what its id says.
 */
export async function compareTrees(
  git: PrivateGit,
  from: string,
  to: string,
): Promise<TreeDifference> {
  const trees = await treesOf(git, [from, to]);
  if (trees[0] === trees[1]) return new Map();
  const output = outputOf(await git.run([...RAW, '-t', ...trees]), COMPARING);
  const folders: string[] = [];
  const difference = new Map<string, { from: TreeEntry; to: TreeEntry }>();
  for (const [path, { from: was, to: is }] of readRaw(output)) {
    // Where a file became a folder, both are listed: the folder by itself, and the file with what is in it.
    for (const entry of [was, is]) if (isFolder(entry)) folders.push(idOf(entry));
    const change = { from: isFolder(was) ? null : was, to: isFolder(is) ? null : is };
    if (change.from !== change.to) difference.set(path, change);
  }
  await requireObjects(git, folders);
  return difference;
}

const COMPARING = 'git cannot compare two trees';

function isFolder(entry: TreeEntry): entry is string {
  return entry?.startsWith('040000 ') === true;
}

/** Counts lines, path by path; null for a binary file. Rejects with a `GitError`. */
export async function countLines(
  git: PrivateGit,
  { from, to }: TreePair,
): Promise<ReadonlyMap<TreePath, LineChanges | null>> {
  const args = ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-ext-diff'];
  return readNumstat(outputOf(await git.run([...args, '--no-textconv', from, to]), COMPARING));
}

/** Counts the paths in which each pair of trees differs. Rejects with a `GitError`. */
export async function countPaths(
  git: PrivateGit,
  pairs: readonly TreePair[],
): Promise<readonly number[]> {
  if (pairs.length === 0) return [];
  const input = Buffer.from(pairs.map(({ from, to }) => `${from} ${to}\n`).join(''));
  const output = outputOf(await git.run([...RAW, '--stdin'], { input }), COMPARING);
  // Each pair begins with a line that repeats it; each path follows a part with its modes and ids.
  const counts: number[] = [];
  let isPath = false;
  for (const part of output.split('\0')) {
    if (isPath) {
      isPath = false;
      continue;
    }
    const heads = part.match(/^[0-9a-f]{40,64} [0-9a-f]{40,64}$/gm) ?? [];
    counts.push(...heads.map(() => 0));
    isPath = /^:\d+ /m.test(part);
    if (isPath) counts.push((counts.pop() ?? 0) + 1);
  }
  if (counts.length !== pairs.length) throw new GitError(COMPARING);
  return counts;
}

const NUMSTAT = [
  ...['diff-tree', '--stdin', '-r', '--numstat', '--no-renames'],
  ...['--no-ext-diff', '--no-textconv'],
];

/**
 * Counts the lines that differ between the trees of each pair, with one process for all of them. Null for a
 * pair of which a tree is gone, and for all of them if git fails. Binary files have no lines.
 */
export async function countLinesBetween(
  git: Pick<PrivateGit, 'run'>,
  pairs: readonly TreePair[],
): Promise<readonly (LineChanges | null)[]> {
  if (pairs.length === 0) return [];
  const names = pairs.map(({ from, to }) => `${from} ${to}`);
  const input = Buffer.from(`${names.join('\n')}\n`);
  const { exitCode, output } = await git.run(NUMSTAT, { input });
  // It was killed, so the last count may not be whole.
  if (exitCode === null) return pairs.map(() => null);
  // Git repeats each pair before its files. Of a pair that it cannot read it only complains.
  const found = new Map<string, LineChanges>();
  let pair = '';
  for (const line of output.split('\n')) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(line);
    if (counts === null) {
      pair = line;
      found.set(pair, { added: 0, removed: 0 });
      continue;
    }
    const { added, removed } = found.get(pair) ?? { added: 0, removed: 0 };
    found.set(pair, {
      added: added + linesIn(counts[1]),
      removed: removed + linesIn(counts[2]),
    });
  }
  return names.map((name) => found.get(name) ?? null);
}

/** Git writes a dash for a binary file. */
function linesIn(count: string | undefined): number {
  return Number.parseInt(count ?? '', 10) || 0;
}

/**
 * Returns which of the paths git ignores by the `.gitignore` files of a tree, or that are in another
 * repository there. A snapshot does not tell whether such a file was there: if the agent then changes what is
 * ignored, or removes a `.git`, it only looks like a new one.
 */
export async function ignoredThen(
  git: PrivateGit,
  tree: string,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  if (names.length === 0) return new Set();
  const listed = [...(await listTree(git, tree))].map(([name, entry]) => ({ name, entry }));
  const files = listed.filter(
    ({ name, entry }) => /(?:^|\/)\.gitignore$/.test(name) && entry.startsWith('100'),
  );
  await requireObjects(
    git,
    files.map(({ entry }) => idOf(entry)),
  );
  const repositories = new Set(
    listed.filter(({ entry }) => isRepository(entry)).map(({ name }) => name),
  );
  const inside = names.filter((name) =>
    [...name.matchAll(/\//g)].some(({ index }) => repositories.has(name.slice(0, index))),
  );
  const folder = path.join(git.folder, 'restore');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const env = { GIT_WORK_TREE: folder } as const;
    const index = await indexOf(git, files);
    const written = await git.run(['checkout-index', '--all', '--force'], { index, env });
    outputOf(written, 'git cannot read what was ignored');
    rmSync(index, { force: true });
    const input = asInput(names);
    const asked = await git.run(['check-ignore', '--no-index', '-z', '--stdin'], { input, env });
    if (asked.exitCode !== 0 && asked.exitCode !== 1) {
      throw new GitError('git cannot tell what was ignored');
    }
    return new Set([...inside, ...readNames(asked.output)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
