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
 * Reads and changes an index, and writes files from it.
 */

/** Lists the paths of an index, or those that the pathspecs select. Rejects with a `GitError`. */
export async function indexNames(
  git: Git,
  pathspecs: Pathspecs = [],
): Promise<readonly TreePath[]> {
  return readNames(outputOf(await askGit(git, ['ls-files', '-z', ...pathspecs])));
}

/** Lists an index, or its entries at some paths, with flags. Rejects with a `GitError` (`why`, or git's reason). */
export async function indexEntries(
  git: Git,
  names: readonly TreePath[] = [],
  why?: string,
): Promise<Iterable<StagedEntry>> {
  const listed = await askGit(git, ['ls-files', '-s', '-v', '-z', ...only(names)]);
  return readStaged(outputOf(listed, why));
}

/** Lists the mode and id of each path in an index, or `conflict` if it has to be merged. Rejects with a `GitError`. */
export async function listIndex(git: Git): Promise<ReadonlyMap<TreePath, string>> {
  return heldBy(await indexEntries(git, [], 'git cannot read the index'));
}

/** A path at which the work tree differs from the index. */
export interface ListedChange {
  readonly name: TreePath;
  /** Whether the index has this path. */
  readonly isTracked: boolean;
}

/** Lists paths changed, removed or added in the work tree, none ignored, some twice. Rejects with a `GitError`. */
export async function listWorkTree(
  git: Git,
  pathspecs: Pathspecs,
): Promise<readonly ListedChange[]> {
  const which = ['--others', '--modified', '--deleted', '--exclude-standard'];
  const listed = await askGit(git, ['ls-files', '-z', '-t', ...which, ...pathspecs]);
  return readNames(outputOf(listed, 'git cannot list the work tree')).map((entry) => ({
    // Git lists a repository inside the tree as a folder, with a slash at its end.
    name: entry.slice(2).replace(/\/$/, ''),
    isTracked: entry[0] !== '?',
  }));
}

/** Returns which of the paths git ignores; those in the index only with `evenTracked`. Rejects with a `GitError`. */
export async function ignoredAmong(
  git: Git,
  names: readonly TreePath[],
  { evenTracked = false, why = 'git cannot tell which files are ignored' } = {},
): Promise<readonly TreePath[]> {
  const args = ['check-ignore', ...(evenTracked ? ['--no-index'] : []), '-z', '--stdin'];
  const answer = await askGit(git, args, { input: asInput(names) });
  // Git exits with 1 if none of them is ignored.
  if (answer.exitCode !== 1) outputOf(answer, why);
  return readNames(answer.output);
}

/** Fills an index from a tree or commit; null empties the index. Rejects with a `GitError` (`why`, or git's reason). */
export async function readIntoIndex(git: Git, tree: string | null, why?: string): Promise<void> {
  outputOf(await askGit(git, ['read-tree', tree ?? '--empty']), why);
}

/** Fills an index from a tree, and at some paths from the work tree; file times stay. Rejects with a `GitError`. */
export async function stagePaths(
  git: Git,
  tree: string | null,
  names: Iterable<TreePath>,
  why: { readonly reading: string; readonly adding: string },
): Promise<void> {
  const base = tree === null ? ['--empty'] : ['--reset', tree];
  outputOf(await askGit(git, ['read-tree', ...base]), why.reading);
  const how = ['--add', '--remove', '--replace', '-z', '--stdin'];
  const added = await askGit(git, ['update-index', ...how], { input: asInput(names) });
  outputOf(added, `${why.adding} (${reasonOf(added)})`);
}

/** Moves index and files from one tree to another. Returns false if git fails, as when a changed file is in the way. */
export async function switchTrees(git: Git, from: string, to: string): Promise<boolean> {
  return (await askGit(git, ['read-tree', '-m', '-u', from, to])).exitCode === 0;
}

/** Notes in an index the times of files whose content it has, so that git need not read them again; skips others. */
export async function refreshIndex(git: Git): Promise<void> {
  await askGit(git, ['update-index', '-q', '--refresh']);
}

/** Sets entries of an index; null removes a path. Rejects with a `GitError` that says `why`, or git's reason. */
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

/** Removes paths from an index, whatever lies in the work tree. Rejects with a `GitError`. */
export async function dropPaths(
  git: Git,
  names: readonly TreePath[],
  why = 'git cannot remove files from the index',
): Promise<void> {
  if (names.length > 0) outputOf(await updateIndex(git, ['--force-remove'], names), why);
}

/** Sets entries that an index already has to the files of the work tree. Ignores a failure of git. */
export async function updatePaths(git: Git, names: readonly TreePath[]): Promise<void> {
  await updateIndex(git, [], names);
}

/** Sets one entry of an index; null removes it. Rejects with a `GitError`, for example if a folder has this name. */
export async function setEntry(git: Git, name: string, entry: TreeEntry): Promise<void> {
  const change =
    entry === null
      ? ['--force-remove', '--', name]
      : ['--add', '--cacheinfo', `${entry.replace(' ', ',')},${name}`];
  outputOf(await askGit(git, ['update-index', ...change]));
}

/** Adds to the index all files of the work tree that are not ignored. Rejects with a `GitError`. */
export async function addAll(git: Git): Promise<void> {
  outputOf(await askGit(git, ['add', '--all']));
}

/** Flags for a path of an index: that git need not look at the file, or that the file is left out of the work tree. */
export type IndexFlag = 'assume-unchanged' | 'no-assume-unchanged' | 'skip-worktree';

/** Flags paths of an index; flags none if the index lacks one of them. Rejects with a `GitError`. */
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

/** From this many files on, it is much faster to flush one pack to the disk than each file by itself. */
const MANY_FILES = 100;

/** How many paths git may refuse before `addPaths` gives up. */
const MOST_REFUSALS = 100;

const REFUSED = /Unable to process path ([\s\S]*?)\n?$/;

/**
 * Adds some paths of the work tree to an index. A path that git refuses is left out and returned, so that one bad path
 * does not keep out the others. Rejects with a `GitError` if git fails otherwise, as on a full disk, or refuses more
 * than `MOST_REFUSALS` paths.
 */
export async function addPaths(
  git: Git,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  const refused = new Set<TreePath>();
  let left = names;
  while (refused.size <= MOST_REFUSALS) {
    if (left.length === 0) return refused;
    // With this setting, git writes all contents into one pack.
    const stored = left.length < MANY_FILES ? [] : ['-c', 'core.bigFileThreshold=1'];
    const args = [...stored, 'update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    const answer = await askGit(git, args, { input: asInput(left) });
    if (answer.exitCode === 0) return refused;
    // On a full disk git names a file, too, though nothing is wrong with that file.
    if (saysFull(answer.complaint)) throw new GitError(reasonOf(answer));
    const name = REFUSED.exec(answer.complaint)?.[1];
    if (name === undefined || !left.includes(name)) break;
    refused.add(name);
    left = left.filter((each) => each !== name);
  }
  throw new GitError('git cannot take the changed files');
}

/**
 * Writes an index as a tree; returns its id. Git must have all objects, unless the folder `objects` is that of a
 * partial clone. Rejects with a `GitError` that says `why`, or git's reason.
 */
export async function writeTree(
  git: Git,
  { objects, why }: { readonly objects?: string; readonly why?: string } = {},
): Promise<string> {
  const packs = objects === undefined ? [] : namesIn(path.join(objects, 'pack'));
  // Some objects of a partial clone may be only at its origin.
  const isPartial = packs.some((name) => name.endsWith('.promisor'));
  return outputOf(await askGit(git, ['write-tree', ...(isPartial ? ['--missing-ok'] : [])]), why);
}

/** Writes all files of an index over what is there; `attributes` is a file of attributes. Rejects with a `GitError`. */
export async function writeFiles(
  git: Git,
  { attributes, why }: { readonly attributes?: string; readonly why?: string } = {},
): Promise<void> {
  const by = attributes === undefined ? [] : ['-c', `core.attributesFile=${attributes}`];
  outputOf(await askGit(git, [...by, 'checkout-index', '--all', '--force', '--quiet']), why);
}

/**
 * Writes some files of an index, and overwrites what is there. With `notesTimes`, the index notes their times. Rejects
 * with a `GitError` that says `why`, or git's reason.
 */
export async function writeSome(
  git: Git,
  names: Iterable<TreePath>,
  { notesTimes = false, why }: { readonly notesTimes?: boolean; readonly why?: string } = {},
): Promise<void> {
  const how = ['--force', ...(notesTimes ? ['--index'] : []), '--quiet', '-z', '--stdin'];
  outputOf(await askGit(git, ['checkout-index', ...how], { input: asInput(names) }), why);
}

/** Kinds of files in a work tree, with git's options for each. */
const LISTED = {
  /** Everything that git ignores; a folder that holds nothing else is one name, with a slash at its end. */
  ignored: ['--ignored', '--directory'],
  /** What is neither in the index nor ignored. */
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

/** Lists what lies at or below some paths: what git ignores, and the rest. Lists nothing if git fails. */
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

/** Returns what was changed, removed or added in a work tree, even if it is ignored; nothing if git fails. */
export async function touchedNames(git: Git): Promise<readonly TreePath[]> {
  return readNames(outputOrNull(await askGit(git, ['ls-files', '-m', '-d', '-o', '-z'])) ?? '');
}
