import path from 'node:path';
import type { TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { namesIn } from '../../files/folder.ts';
import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { GitError, outputOf, reasonOf, saysFull } from '../git-error.ts';
import { heldBy, indexInfo, readNames, readStaged, type StagedEntry } from '../listings.ts';
import { only, type Pathspecs } from '../pathspecs.ts';
import type { Repository } from '../repository.ts';
import { asInput, asText, type TreePath } from '../tree-path.ts';

/*
 * What an index holds, what it is to hold, and the files that git writes from it.
 */

/** Lists an index, or those of its paths that the pathspecs leave in. Rejects with a `GitError`. */
export async function indexNames(
  git: Git,
  pathspecs: Pathspecs = [],
): Promise<readonly TreePath[]> {
  return readNames(outputOf(await askGit(git, ['ls-files', '-z', ...pathspecs])));
}

/**
 * Lists the entries of an index with their flags, or those at some paths, as `readStaged` does. Rejects with a `GitError`:
 * `why`, or git's reason.
 */
export async function indexEntries(
  git: Git,
  names: readonly TreePath[] = [],
  why?: string,
): Promise<Iterable<StagedEntry>> {
  const listed = await askGit(git, ['ls-files', '-s', '-v', '-z', ...only(names)]);
  return readStaged(outputOf(listed, why));
}

/** Lists what each path of an index holds, as `heldBy` does. Rejects with a `GitError`. */
export async function listIndex(git: Git): Promise<ReadonlyMap<TreePath, string>> {
  return heldBy(await indexEntries(git, [], 'git cannot read the index'));
}

/** A path of the work tree that is not as in the index. */
export interface ListedChange {
  readonly name: TreePath;
  /** Whether the index has it. */
  readonly isTracked: boolean;
}

/**
 * Lists what was changed, removed or added in the work tree and is not ignored; a path may come twice. Rejects with a
 * `GitError`.
 */
export async function listWorkTree(
  git: Git,
  pathspecs: Pathspecs,
): Promise<readonly ListedChange[]> {
  const which = ['--others', '--modified', '--deleted', '--exclude-standard'];
  const listed = await askGit(git, ['ls-files', '-z', '-t', ...which, ...pathspecs]);
  return readNames(outputOf(listed, 'git cannot list the work tree')).map((entry) => ({
    // A repository inside the tree is shown as a folder.
    name: entry.slice(2).replace(/\/$/, ''),
    isTracked: entry[0] !== '?',
  }));
}

/** Returns which of the paths git ignores; those that the index has are not, unless `evenTracked`. Rejects with a `GitError`. */
export async function ignoredAmong(
  git: Git,
  names: readonly TreePath[],
  { evenTracked = false, why = 'git cannot tell which files are ignored' } = {},
): Promise<readonly TreePath[]> {
  const args = ['check-ignore', ...(evenTracked ? ['--no-index'] : []), '-z', '--stdin'];
  const answer = await askGit(git, args, { input: asInput(names) });
  // It ends with 1 if none of them is.
  if (answer.exitCode !== 1) outputOf(answer, why);
  return readNames(answer.output);
}

/** Makes an index what a tree or commit says; null is the one without files. Rejects with a `GitError`: `why`, or git's reason. */
export async function readIntoIndex(git: Git, tree: string | null, why?: string): Promise<void> {
  outputOf(await askGit(git, ['read-tree', tree ?? '--empty']), why);
}

/** One that is split would leave a part of an index of ralph's own behind. */
const WHOLE = ['-c', 'core.splitIndex=false'];

/**
 * Makes an index what a tree or commit says, and what the work tree has at some paths. What it knew of the times of
 * files it goes on knowing. Rejects with a `GitError`.
 */
export async function stagePaths(
  git: Git,
  tree: string | null,
  names: Iterable<TreePath>,
  why: { readonly reading: string; readonly adding: string },
): Promise<void> {
  const base = tree === null ? ['--empty'] : ['--reset', tree];
  outputOf(await askGit(git, [...WHOLE, 'read-tree', ...base]), why.reading);
  const how = ['--add', '--remove', '--replace', '-z', '--stdin'];
  const added = await askGit(git, [...WHOLE, 'update-index', ...how], { input: asInput(names) });
  outputOf(added, why.adding);
}

/** Takes the index and the files from one tree to another, but for what has changed since. Resolves to whether it did. */
export async function switchTrees(git: Git, from: string, to: string): Promise<boolean> {
  return (await askGit(git, ['read-tree', '-m', '-u', from, to])).exitCode === 0;
}

/** Has an index know which files are as it says. It complains of each that is not. */
export async function refreshIndex(git: Git): Promise<void> {
  await askGit(git, ['update-index', '-q', '--refresh']);
}

/** Gives paths of an index these entries, or takes them out. Rejects with a `GitError`: `why`, or git's reason. */
export async function setEntries(
  git: Git,
  repository: Pick<Repository, 'hash'>,
  entries: Iterable<readonly [TreePath, TreeEntry]>,
  why?: string,
): Promise<void> {
  const input = indexInfo(entries, repository);
  if (input.length === 0) return;
  outputOf(await askGit(git, ['update-index', '-z', '--index-info'], { input }), why);
}

/** Takes paths out of an index, whatever lies in the work tree. Rejects with a `GitError`. */
export async function dropPaths(
  git: Git,
  names: readonly TreePath[],
  why = 'git cannot remove files from the index',
): Promise<void> {
  if (names.length > 0) outputOf(await updateIndex(git, ['--force-remove'], names), why);
}

/** Has an index know what the work tree has at paths that are in it already. */
export async function updatePaths(git: Git, names: readonly TreePath[]): Promise<void> {
  await updateIndex(git, [], names);
}

/** Gives one path of an index an entry, or takes it out. Rejects with a `GitError`, also if there is no room for it. */
export async function setEntry(git: Git, name: string, entry: TreeEntry): Promise<void> {
  const change =
    entry === null
      ? ['--force-remove', '--', name]
      : ['--add', '--cacheinfo', `${entry.replace(' ', ',')},${name}`];
  outputOf(await askGit(git, ['update-index', ...change]));
}

/** Brings all of the work tree that is not ignored into its index. Rejects with a `GitError`. */
export async function addAll(git: Git): Promise<void> {
  outputOf(await askGit(git, ['add', '--all']));
}

/** What an index can say of a path: that git need not look at the file, or that there is none. */
export type IndexFlag = 'assume-unchanged' | 'no-assume-unchanged' | 'skip-worktree';

/** Flags paths of an index; none of them, if it lacks one. Rejects with a `GitError`. */
export async function flagPaths(
  git: Git,
  names: readonly TreePath[],
  flag: IndexFlag,
): Promise<void> {
  if (names.length > 0) outputOf(await updateIndex(git, [`--${flag}`], names));
}

function updateIndex(git: Git, how: readonly string[], names: readonly TreePath[]) {
  return askGit(git, ['update-index', ...how, '-z', '--stdin'], { input: asInput(names) });
}

/** From this many files on, one pack is flushed to the disk much sooner than each file by itself. */
const MANY_FILES = 100;

/** How often paths that git refuses are dropped before all is given up. */
const MOST_REFUSALS = 100;

const REFUSED = /Unable to process path ([\s\S]*?)\n?$/;

/**
 * Brings what the work tree has at some paths into an index. A path that git refuses is left out and named, so that one
 * bad path costs one path. Rejects with a `GitError` if git fails otherwise, as on a full disk.
 */
export async function addPaths(
  git: Git,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  const refused = new Set<TreePath>();
  let left = names;
  while (refused.size <= MOST_REFUSALS) {
    if (left.length === 0) return refused;
    // Git then writes contents that it would stream into a pack all in one pack.
    const stored = left.length < MANY_FILES ? [] : ['-c', 'core.bigFileThreshold=1'];
    const args = [...stored, 'update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    const answer = await askGit(git, args, { input: asInput(left) });
    if (answer.exitCode === 0) return refused;
    // Git then names a file, too, with which nothing is wrong.
    if (saysFull(answer.complaint)) throw new GitError(reasonOf(answer));
    const name = REFUSED.exec(answer.complaint)?.[1];
    if (name === undefined || !left.includes(name)) break;
    refused.add(name);
    left = left.filter((each) => each !== name);
  }
  throw new GitError('git cannot take the changed files');
}

/**
 * Writes an index as a tree; returns its id. Git must have all objects, but for those of a partial clone in the folder
 * `objects`. Rejects with a `GitError`: `why`, or git's reason.
 */
export async function writeTree(
  git: Git,
  { objects, why }: { readonly objects?: string; readonly why?: string } = {},
): Promise<string> {
  const packs = objects === undefined ? [] : namesIn(path.join(objects, 'pack'));
  // Some objects of a partial clone only its origin may have.
  const isPartial = packs.some((name) => name.endsWith('.promisor'));
  return outputOf(await askGit(git, ['write-tree', ...(isPartial ? ['--missing-ok'] : [])]), why);
}

/**
 * Writes all files of an index, over what is there. `attributes` is a file with attributes for all of them. Rejects with
 * a `GitError`: `why`, or git's reason.
 */
export async function writeFiles(
  git: Git,
  { attributes, why }: { readonly attributes?: string; readonly why?: string } = {},
): Promise<void> {
  const by = attributes === undefined ? [] : ['-c', `core.attributesFile=${attributes}`];
  outputOf(await askGit(git, [...by, 'checkout-index', '--all', '--force', '--quiet']), why);
}

/** Writes some files of an index, over what is there; `notesTimes` in it. Rejects with a `GitError`: `why`, or git's reason. */
export async function writeSome(
  git: Git,
  names: Iterable<TreePath>,
  { notesTimes = false, why }: { readonly notesTimes?: boolean; readonly why?: string } = {},
): Promise<void> {
  const how = ['--force', ...(notesTimes ? ['--index'] : []), '--quiet', '-z', '--stdin'];
  outputOf(await askGit(git, ['checkout-index', ...how], { input: asInput(names) }), why);
}

/** Some files of a work tree, and how git is asked for them. */
const LISTED = {
  /** Everything that git ignores; a folder of nothing else is one name, with a slash at its end. */
  ignored: ['--ignored', '--directory'],
  /** What git neither has nor ignores. */
  untracked: [],
  /** All that git does not ignore. */
  'not-ignored': ['--cached', '--deduplicate'],
} as const;

/** Lists files of a work tree. Rejects with a `GitError`. */
export async function filesThatAre(
  git: Git,
  which: keyof typeof LISTED,
): Promise<readonly TreePath[]> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard', ...LISTED[which]];
  return readNames(outputOf(await askGit(git, args)));
}

/** Returns, of some names in the root, what git ignores there and what it does not, with what lies in their folders. */
export async function namesByIgnored(
  git: Git,
  names: readonly string[],
): Promise<{ readonly ignored: readonly string[]; readonly others: readonly string[] }> {
  const listed = async (...kinds: readonly string[]): Promise<readonly string[]> => {
    const how = ['ls-files', '-z', '--exclude-standard', '--directory', ...kinds];
    const { output } = await askGit(git, ['--literal-pathspecs', ...how, '--', ...names]);
    return readNames(asText(output));
  };
  return {
    ignored: await listed('--others', '--ignored'),
    others: await listed('--cached', '--others', '--no-empty-directory'),
  };
}

/** Whether git ignores a path. */
export async function isIgnored(git: Git, name: string): Promise<boolean> {
  return (await askGit(git, ['check-ignore', '-q', '--', name])).exitCode === 0;
}

/** Returns what was changed, removed or added in a work tree, also if it is ignored; nothing if git fails. */
export async function touchedNames(git: Git): Promise<readonly TreePath[]> {
  return readNames(outputOrNull(await askGit(git, ['ls-files', '-m', '-d', '-o', '-z'])) ?? '');
}
