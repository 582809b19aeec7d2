import type { TreePair } from '../../../core/snapshots/timeline.ts';
import type { TreeDifference, TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import type { LineChanges } from '../../../core/task/line-changes.ts';
import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { GitError, orNull, outputOf } from '../git-error.ts';
import { readNames, readNumstat, readRaw } from '../listings.ts';
import type { Pathspecs } from '../pathspecs.ts';
import { asText, type TreePath } from '../tree-path.ts';

/** The agent can write `.gitmodules`, which could tell git to ignore that a submodule has another commit. */
const COMPARE = ['--no-renames', '--ignore-submodules=none'];
const RAW = ['diff-tree', '-r', '-z', '--raw', ...COMPARE];
const NUMSTAT = ['diff-tree', '-r', '--numstat', ...COMPARE, '--no-ext-diff', '--no-textconv'];
const COMPARING = 'git cannot compare two trees';

/** Returns the files and folders that differ between two trees, with old and new entry. Rejects with a `GitError`. */
export async function rawDiff(
  git: Git,
  from: string,
  to: string,
): Promise<Iterable<readonly [TreePath, { readonly from: TreeEntry; readonly to: TreeEntry }]>> {
  return readRaw(outputOf(await askGit(git, [...RAW, '-t', from, to]), COMPARING));
}

/** Returns the paths in which an index differs from a commit; none if git fails. */
export async function stagedSince(git: Git, commit: string): Promise<readonly TreePath[]> {
  return [...((await orNull(stagedChanges(git, commit)))?.keys() ?? [])];
}

/** Returns the paths whose files differ from the index; null if git fails. Does not run the git filters `filters`. */
export async function filesUnlikeIndex(
  git: Git,
  filters: Iterable<string> = [],
): Promise<readonly TreePath[] | null> {
  // Where a time stamp leaves a doubt, git compares contents, for which it would run the filters.
  const off = [...filters].flatMap((name) =>
    ['clean=', 'process=', 'required=false'].flatMap((end) => ['-c', `filter.${name}.${end}`]),
  );
  const args = [...off, 'diff-files', '--name-only', '-z', '--ignore-submodules=dirty'];
  const output = outputOrNull(await askGit(git, args));
  return output === null ? null : readNames(output);
}

/** Counts the lines in which two trees differ, path by path; null for a binary file. Rejects with a `GitError`. */
export async function countLines(
  git: Git,
  { from, to }: TreePair,
): Promise<ReadonlyMap<TreePath, LineChanges | null>> {
  return readNumstat(outputOf(await askGit(git, [...NUMSTAT, '-z', from, to]), COMPARING));
}

/** Counts the paths in which each pair of trees differs. Rejects with a `GitError`. */
export async function countPaths(git: Git, pairs: readonly TreePair[]): Promise<readonly number[]> {
  if (pairs.length === 0) return [];
  const input = Buffer.from(pairs.map(({ from, to }) => `${from} ${to}\n`).join(''));
  const output = outputOf(await askGit(git, [...RAW, '--stdin'], { input }), COMPARING);
  // The output for each pair begins with a line that repeats the pair; each path follows a part with its modes
  // and ids.
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

/** Returns how two trees or commits differ, file by file. Rejects with a `GitError` (`why`, or git's reason). */
export async function changesBetween(
  git: Git,
  from: string,
  to: string,
  { pathspecs = [], why }: { readonly pathspecs?: Pathspecs; readonly why?: string } = {},
): Promise<TreeDifference> {
  return new Map(readRaw(outputOf(await askGit(git, [...RAW, from, to, ...pathspecs]), why)));
}

/** Returns how an index differs from a tree or commit. Rejects with a `GitError` that says `why`, or git's reason. */
export async function stagedChanges(git: Git, from: string, why?: string): Promise<TreeDifference> {
  const args = ['diff-index', '--cached', '-z', '--raw', ...COMPARE, from];
  return new Map(readRaw(outputOf(await askGit(git, args), why)));
}

/** Arguments for a diff as text that runs no program from the configuration. */
const TEXT = ['diff-tree', '-r', '-p', ...COMPARE, '--no-ext-diff', '--no-textconv'];

/** Returns the differences between two trees as text for people, except for those at some paths. */
export async function diffWithout(
  git: Git,
  from: string,
  to: string,
  names: readonly string[],
): Promise<string> {
  const without = names.map((name) => `:(exclude,top,literal)${name}`);
  return asText((await askGit(git, [...TEXT, from, to, '--', ':(top)', ...without])).output);
}

/** Passes the differences between two trees to `onOutput` as text, piece by piece. Returns whether git succeeded. */
export async function readDiff(
  git: Git,
  from: string,
  to: string,
  onOutput: (chunk: Buffer) => void,
): Promise<boolean> {
  // With `--text` no `.gitattributes` can make git say only "Binary files differ" about a text.
  const args = [...TEXT, '--no-color', '--text', from, to];
  return (await askGit(git, args, { onOutput })).exitCode === 0;
}

/** Writes a patch between two trees for `git apply`, whatever the settings for diffs are. Rejects with a `GitError`. */
export async function writePatch(git: Git, from: string, to: string, file: string): Promise<void> {
  const how = [
    ...['--binary', '--full-index', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'],
    ...['--submodule=short', '-U3'],
  ];
  outputOf(await askGit(git, [...TEXT, ...how, `--output=${file}`, from, to]));
}
