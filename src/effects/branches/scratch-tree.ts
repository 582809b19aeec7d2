import { rmdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import type { LandingRefusal, Stays, StaysReason } from '../../core/snapshots/landing.ts';
import { looksSecret } from '../../core/snapshots/secret-names.ts';
import {
  isRepository,
  type TreeDifference,
  type TreeEntry,
} from '../../core/snapshots/undo-plan.ts';
import { sha256Of } from '../files/file-hash.ts';
import { realPath } from '../files/real-path.ts';
import { type Git, type GitSetting, gitAt, withGitSettings } from '../git/git.ts';
import { GitError, gitRefusal } from '../git/git-error.ts';
import { underOwnFilters, withoutOwnPrograms } from '../git/git-filters.ts';
import { openPrivateGit, type PrivateGit } from '../git/private-git.ts';
import { becomeCommit, mergeFiles } from '../git/questions/checkouts.ts';
import { changesBetween } from '../git/questions/diffs.ts';
import { areUnrelated, isShallow } from '../git/questions/history.ts';
import {
  addAll,
  indexEntries,
  readIntoIndex,
  setEntry,
  writeTree,
} from '../git/questions/index-files.ts';
import { entriesAt, treeOf, writeCommit } from '../git/questions/objects.ts';
import { findRepository, type Repository } from '../git/repository.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { restoreFiles } from '../snapshots/restore/restore-files.ts';
import { requireTree } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { type CheckoutPlace, listTrees, makeCheckout, removeCheckout } from './checkout.ts';
import type { TaskWork } from './task-work.ts';

/*
 * A work tree for one landing, which brings a task's work to a branch. Files are written and merged there by git's own
 * rules: line ends, attributes, and the filters of the user's own configuration.
 */

/**
 * Returns the name of the work tree's folder. No task can have this name. Several repositories may have their work
 * trees in one parent folder, so each gets a name of its own.
 */
function scratchName(repository: Repository): string {
  const id = sha256Of(realPath(repository.commonDir)).slice(0, 12);
  return `.landing-${id}`;
}

export interface ScratchRequest {
  readonly place: Omit<CheckoutPlace, 'path'>;
  /** Git that can remove the work tree even after the user has stopped ralph. */
  readonly gitToEnd: Git;
  /** The folder in which the work tree is made. */
  readonly parent: string;
  /** The id of the commit at which the work tree begins. */
  readonly commit: string;
  /** The folder of ralph's own git files that was used to find the task's work. */
  readonly gitFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The author of the commits, as settings of git. */
  readonly identity: readonly GitSetting[];
}

/** Methods reject with a `GitError` if git refuses, or with the system's error. */
export interface ScratchTree {
  readonly folder: string;
  /** The work tree's own git folder. Files in it are removed with the work tree. */
  readonly gitDir: string;
  /** Makes a commit of a tree, without any hook and unsigned. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
  treeOf(commit: string): Promise<string>;
  /**
   * Resolves to `tree`, but with one file as in a commit, or without it if the commit lacks it. Resolves to a conflict
   * if that file cannot be put at its path. Call it only before a merge.
   */
  withFileOf(
    tree: string,
    file: string,
    commit: string,
  ): Promise<{ readonly tree: string } | LandingRefusal>;
  /** Makes the work tree contain exactly the files of a commit. */
  become(commit: string): Promise<void>;
  /** Rejects with a `GitError` if an object of a commit's tree is missing or is not what its id says. */
  verify(commit: string): Promise<void>;
  merge(into: string, other: string): Promise<{ readonly tree: string } | LandingRefusal>;
  /** Adds what a task left uncommitted to its newest commit, at which the work tree has to be. */
  add(work: TaskWork): Promise<AddedWork | LandingRefusal>;
  /** Returns those entries of `added.stays` whose changes `tree` lacks, as git would commit them. */
  missingIn(tree: string, added: AddedWork): Promise<Stays>;
  remove(): Promise<void>;
}

export interface AddedWork {
  readonly tree: string;
  readonly stays: Stays;
  /** `tree` together with what does not land, as git would commit it; null if there is nothing that git can add. */
  readonly left: { readonly tree: string; readonly names: ReadonlySet<TreePath> } | null;
}

/** Removes the work trees of landings that were killed. Call it only while no other landing can be under way. */
export async function removeOldScratch(place: Omit<CheckoutPlace, 'path'>): Promise<void> {
  const name = scratchName(place.repository);
  for (const tree of await listTrees(place)) {
    if (path.basename(tree.path) === name) await removeCheckout({ ...place, path: tree.path });
  }
}

/** Makes the work tree. Rejects with a `GitError`, or the system's error. */
export async function makeScratch(request: ScratchRequest): Promise<ScratchTree> {
  const { place, gitToEnd, parent, commit, gitFolder, env, identity } = request;
  const folder = path.join(parent, scratchName(place.repository));
  // A killed git may have left this folder without an entry in the repository.
  rmSync(folder, { recursive: true, force: true });
  const own: CheckoutPlace = { ...place, path: folder };
  const gitDir = await makeCheckout({
    ...{ ...own, commit, branch: null },
    // Git copies the rules of a sparse checkout, but files outside these rules have to land, too.
    async onEntered(entered) {
      rmSync(path.join(entered, 'info', 'sparse-checkout'), { force: true });
    },
  });
  /** Returns git in the work tree, which runs none of the repository's own programs. */
  const safely = async (): Promise<Git> => {
    const settings = [...QUIETLY, ...identity, ...(await withoutOwnPrograms(folder, place.git))];
    return withGitSettings(gitAt(place.git, folder), settings);
  };

  /** Makes git count the files as unchanged, even if its present rules would store them in another way. */
  const trustFiles = (): void => {
    const later = new Date(Date.now() + LATER_MS);
    utimesSync(path.join(gitDir, 'index'), later, later);
  };
  const become = async (commit: string): Promise<void> => {
    // Without an index, git writes all files of the commit and does not compare them with those that are there.
    rmSync(path.join(gitDir, 'index'), { force: true });
    await becomeCommit(await safely(), commit);
    trustFiles();
  };
  trustFiles();
  const treeOfCommit = async (commit: string) => treeOf(await safely(), commit);
  const underOwn = (names: Iterable<TreePath>) => underOwnFilters(place.git, folder, [...names]);
  const openPrivately = async (): Promise<PrivateGit> => {
    const repository = await findRepository(folder, place.git);
    if (repository === null) throw new GitError(`git cannot open ${folder}`);
    return openPrivateGit({ folder: gitFolder, repository, env, timeoutMs: TIMEOUT_MS });
  };
  /** Adds entries of a snapshot to the files and the index. Resolves to the tree. */
  const addEntries = async (privately: PrivateGit, entries: Entries): Promise<string> => {
    const files = new Map([...entries].filter(([, entry]) => !isRepository(entry)));
    const blocked = await restoreFiles({ git: privately, entries: files, mayReplace: () => true });
    if (blocked.size > 0) throw new GitError('git cannot write the files of the snapshot');
    const git = await safely();
    await addAll(git);
    for (const [name, entry] of entries) {
      if (entry === null || !isRepository(entry)) continue;
      await setEntry(git, asText(name), entry);
    }
    return writeTree(git);
  };

  return {
    folder,
    gitDir,
    become,
    treeOf: treeOfCommit,
    async withFileOf(tree, file, commit) {
      const git = await safely();
      await readIntoIndex(git, tree);
      const held = (await entriesAt(git, commit, [file])).get(asTreePath(file)) ?? null;
      const entry = isRepository(held) ? null : held;
      // Git refuses if the path is a folder, or one of the folders above it is a file.
      if ((await gitRefusal(setEntry(git, file, entry))) !== null) {
        return { kind: 'conflict', paths: [file] };
      }
      return { tree: await writeTree(git) };
    },
    commit: async (tree, parents, message) =>
      writeCommit(await safely(), { tree, parents, message }),
    async merge(into, other) {
      await become(into);
      const git = await safely();
      const why = await mergeFiles(git, other);
      if (why === null) return { tree: await writeTree(git) };
      if (await areUnrelated(git, into, other)) {
        return { kind: (await isShallow(git)) ? 'shallow' : 'unrelated' };
      }
      const sides = [...(await indexEntries(git))].filter(({ stage }) => stage !== '0');
      if (sides.length === 0) throw new GitError(why);
      const paths = new Set(sides.map(({ name }) => asText(name)));
      return { kind: 'conflict', paths: [...paths].sort() };
    },
    async verify(commit) {
      await requireTree(await openPrivately(), commit);
    },
    async add({ tip, kept, isOpen, leftOut }) {
      if (kept === null) return { tree: await treeOfCommit(tip), stays: leftOut, left: null };
      const privately = await openPrivately();
      const difference = await compareTrees(privately, tip, kept);
      const { lands, left, stays } = divided(difference, { isOpen, leftOut });
      const filtered = await underOwn(lands.keys());
      if (filtered.length > 0) return { kind: 'filtered', paths: filtered.map(asText) };
      const tree = await addEntries(privately, lands);
      // Git cannot tell what it would store for these files: their filter, which does not run, decides.
      for (const name of await underOwn(left.keys())) left.delete(name);
      if (left.size === 0) return { tree, stays, left: null };
      const names = new Set(left.keys());
      return { tree, stays, left: { names, tree: await addEntries(privately, left) } };
    },
    async missingIn(tree, { stays, left }) {
      if (left === null) return stays;
      const apart = await changesBetween(await safely(), tree, left.tree);
      return new Map([...stays].filter(([name]) => !left.names.has(name) || apart.has(name)));
    },
    async remove() {
      await removeCheckout({ ...own, git: gitToEnd });
      try {
        rmdirSync(parent);
      } catch {
        // The folder is not empty: it may also hold the work trees of tasks.
      }
    },
  };
}

type Entries = ReadonlyMap<TreePath, TreeEntry>;

/** Divides the differences between the newest tree of a task and its branch into what lands and what does not. */
function divided(
  difference: TreeDifference,
  { isOpen, leftOut }: Pick<TaskWork, 'isOpen' | 'leftOut'>,
) {
  const stays = new Map<TreePath, StaysReason>();
  const lands = new Map<TreePath, TreeEntry>();
  const left = new Map<TreePath, TreeEntry>();
  for (const [name, { from, to }] of difference) {
    const isNewRepository = isRepository(to) && !isRepository(from);
    const why = isOpen && from === null && looksSecret(name) ? 'secret' : leftOut.get(name);
    if (isOpen && isNewRepository) stays.set(name, 'repository');
    else if (why !== undefined) stays.set(name, why);
    if (stays.has(name) && stays.get(name) !== 'uncommitted-inside') left.set(name, to);
    else if (isOpen) lands.set(name, to);
  }
  return { lands, left, stays: new Map([...leftOut, ...stays]) };
}

/** The limit for one call of git that writes or reads a whole work tree, in ms. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * How far ahead the index's time is set, in ms. Git reads a file again unless it is older than the index. The file
 * would then count as changed if a filter or a rule for line ends has applied to it only since its commit.
 */
const LATER_MS = 60_000;

/** Settings that keep git from cleaning up in the user's repository, and from remembering how conflicts were solved. */
const QUIETLY: readonly GitSetting[] = [
  { name: 'gc.auto', value: '0' },
  { name: 'maintenance.auto', value: 'false' },
  { name: 'rerere.enabled', value: 'false' },
  { name: 'i18n.commitEncoding', value: 'UTF-8' },
];
