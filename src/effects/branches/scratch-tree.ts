import { createHash } from 'node:crypto';
import { rmdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import type { LandingRefusal, StaysReason } from '../../core/snapshots/landing.ts';
import { looksSecret } from '../../core/snapshots/secret-names.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { realPath } from '../files/real-path.ts';
import { openPrivateGit } from '../snapshots/private-git.ts';
import { findRepository, type Repository } from '../snapshots/repository.ts';
import { restoreFiles } from '../snapshots/restore/restore-files.ts';
import type { TreePath } from '../snapshots/tree-changes.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { asInput, asText, type GitAnswer, type GitSetting } from '../workspace/git-command.ts';
import { withoutOwnFilters, withoutOwnMergeDrivers } from '../workspace/git-filters.ts';
import {
  type AskGit,
  CheckoutError,
  type CheckoutPlace,
  listTrees,
  makeCheckout,
  reasonOf,
  removeCheckout,
  runGitOf,
} from './checkout.ts';
import type { TaskWork } from './task-work.ts';

/*
 * A work tree for one landing. All files that are written and all merges are made there, by git's own
 * rules: line ends, attributes, and the filters of the user's own configuration.
 */

/**
 * No task is called so: no two folders below that of the work trees get the same name. Several repositories
 * may have their work trees there, and each has a scratch work tree of its own.
 */
function scratchName(repository: Repository): string {
  const id = createHash('sha256').update(realPath(repository.commonDir)).digest('hex').slice(0, 12);
  return `.landing-${id}`;
}

export interface ScratchRequest {
  readonly place: Omit<CheckoutPlace, 'path'>;
  /** Git that removes it even after a stop. */
  readonly askToEnd: AskGit;
  /** The folder in which it is made. */
  readonly parent: string;
  /** The id of the commit that it begins at. */
  readonly commit: string;
  /** Ralph's own git files: those with which the task's work was found. */
  readonly gitFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whose commits it makes. */
  readonly identity: readonly GitSetting[];
}

/** Methods reject with a `CheckoutError` if git refuses, or with the system's error. */
export interface ScratchTree {
  readonly folder: string;
  /** Its own git folder, for files that go with it. */
  readonly gitDir: string;
  /** Makes a commit of a tree, without any hook and unsigned. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
  treeOf(commit: string): Promise<string>;
  /** Makes its files those of a commit, and nothing else. */
  become(commit: string): Promise<void>;
  /** Merges two commits. Resolves to the tree, or to the conflict. */
  merge(into: string, other: string): Promise<{ readonly tree: string } | LandingRefusal>;
  /** Puts what a task left uncommitted on top of its newest commit, at which the work tree has to be. */
  add(work: TaskWork): Promise<AddedWork | LandingRefusal>;
  remove(): Promise<void>;
}

interface AddedWork {
  readonly tree: string;
  readonly stays: ReadonlyMap<TreePath, StaysReason>;
}

/** Removes what landings left that were killed. Call it only while no other landing can be under way. */
export async function removeOldScratch(place: Omit<CheckoutPlace, 'path'>): Promise<void> {
  const name = scratchName(place.repository);
  for (const tree of await listTrees(place)) {
    if (path.basename(tree.path) === name) await removeCheckout({ ...place, path: tree.path });
  }
}

/** Makes the work tree. Rejects with a `CheckoutError`, or the system's error. */
export async function makeScratch(request: ScratchRequest): Promise<ScratchTree> {
  const { place, askToEnd, parent, commit, gitFolder, env, identity } = request;
  const folder = path.join(parent, scratchName(place.repository));
  // Git may have been killed before it had noted what it made.
  rmSync(folder, { recursive: true, force: true });
  const own: CheckoutPlace = { ...place, path: folder };
  const gitDir = await makeCheckout({
    ...{ ...own, commit, branch: null },
    // Git copies the rules of a sparse checkout; files of a task that lie outside of them land, too.
    async onEntered(entered) {
      rmSync(path.join(entered, 'info', 'sparse-checkout'), { force: true });
    },
  });
  const git = createGit(own, identity);

  /** Has git take the files for unchanged, even those that it would store in another way today. */
  const trustFiles = (): void => {
    const later = new Date(Date.now() + LATER_MS);
    utimesSync(path.join(gitDir, 'index'), later, later);
  };
  const become = async (commit: string): Promise<void> => {
    // Without an index, git compares no file with what was there before.
    rmSync(path.join(gitDir, 'index'), { force: true });
    await git.must(['reset', '--hard', '--quiet', commit]);
    await git.must(['clean', '-ffdxq']);
    trustFiles();
  };
  trustFiles();

  return {
    folder,
    gitDir,
    become,
    treeOf: (commit) => git.must(['rev-parse', '--verify', `${commit}^{tree}`]),
    commit: (tree, parents, message) =>
      git.must(
        [...['commit-tree', tree, ...parents.flatMap((id) => ['-p', id])], ...['-F', '-']],
        message,
      ),
    async merge(into, other) {
      await become(into);
      const answer = await git.ask([...MERGE, other]);
      if (answer.exitCode === 0) return { tree: await git.must(['write-tree']) };
      const unmerged = await git.raw(['ls-files', '-u', '-z']);
      const paths = unmerged
        .split('\0')
        .flatMap((line) => line.split('\t').slice(1).join('\t') || []);
      if (paths.length === 0) throw new CheckoutError(reasonOf(answer));
      return { kind: 'conflict', paths: [...new Set(paths.map(asText))].sort() };
    },
    async add({ tip, left, leftOut }) {
      const stays = new Map(leftOut);
      if (left === null) return { tree: await git.must(['rev-parse', `${tip}^{tree}`]), stays };
      const repository = await findRepository(folder, runGitOf(place.ask));
      if (repository === null) throw new CheckoutError(`git cannot open ${folder}`);
      const privately = openPrivateGit({
        ...{ folder: gitFolder, repository, env, timeoutMs: TIMEOUT_MS },
      });
      const difference = await compareTrees(privately, tip, left);
      if (difference === null) throw new CheckoutError('a snapshot that it needs is missing');
      const entries = new Map<TreePath, TreeEntry>();
      const submodules: string[] = [];
      for (const [name, { from, to }] of difference) {
        // What could not be kept is missing in the snapshot, and not removed.
        if (stays.has(name)) continue;
        if (from === null && looksSecret(name)) stays.set(name, 'secret');
        else if (!isRepository(to)) entries.set(name, to);
        else if (isRepository(from)) submodules.push(`${to?.replace(' ', ',')},${name}`);
        else stays.set(name, 'repository');
      }
      const filtered = await git.underOwnFilter([...entries.keys()]);
      if (filtered.length > 0) return { kind: 'filtered', paths: filtered.map(asText) };
      const restored = await restoreFiles({ git: privately, entries, mayReplace: () => true });
      if (restored === null || restored.blocked.size > 0) {
        throw new CheckoutError('git cannot write the files of the snapshot');
      }
      await git.must(['add', '--all']);
      for (const entry of submodules) {
        await git.must(['update-index', '--cacheinfo', Buffer.from(entry, 'latin1').toString()]);
      }
      return { tree: await git.must(['write-tree']), stays };
    },
    async remove() {
      await removeCheckout({ ...own, ask: askToEnd });
      try {
        rmdirSync(parent);
      } catch {
        // The work trees of tasks are in it.
      }
    },
  };
}

/** For one call of git that writes or reads a whole work tree. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Git reads a file again that was written at the same instant as its index or later. One that was committed
 * before a rule for line ends or a filter applied to it would then count as changed.
 */
const LATER_MS = 60_000;

/** Never a fast-forward, whatever `merge.ff` says, and never a commit. */
const MERGE = [
  ...['merge', '--quiet', '--no-ff', '--no-commit', '--no-edit', '--no-stat', '--no-autostash'],
  ...['--no-gpg-sign', '--no-verify-signatures', '--no-rerere-autoupdate'],
];

/** No cleaning up in the user's repository, and no memory of conflicts. */
const QUIETLY: readonly GitSetting[] = [
  { name: 'gc.auto', value: '0' },
  { name: 'maintenance.auto', value: 'false' },
  { name: 'rerere.enabled', value: 'false' },
  { name: 'i18n.commitEncoding', value: 'UTF-8' },
];

/** Git in one work tree, with none of the repository's own programs. */
function createGit({ ask: askGit, path: folder }: CheckoutPlace, identity: readonly GitSetting[]) {
  const ask = async (args: readonly string[], input?: string): Promise<GitAnswer> => {
    const settings = [...QUIETLY, ...identity, ...(await withoutOwnPrograms(folder, askGit))];
    return askGit(folder, args, { settings, ...(input === undefined ? {} : { input }) });
  };
  const raw = async (args: readonly string[], input?: string): Promise<string> => {
    const answer = await ask(args, input);
    if (answer.exitCode !== 0) throw new CheckoutError(reasonOf(answer));
    return answer.output;
  };
  return {
    ask,
    raw,
    must: async (args: readonly string[], input?: string) => (await raw(args, input)).trim(),
    /** Returns the paths whose filter is one that only the repository defines. */
    async underOwnFilter(names: readonly TreePath[]): Promise<readonly TreePath[]> {
      const off = (await withoutOwnPrograms(folder, askGit)).flatMap(({ name, value }) =>
        value === '' ? (/^filter\.(.*)\.(?:clean|process)$/s.exec(name)?.[1] ?? []) : [],
      );
      if (off.length === 0 || names.length === 0) return [];
      const answer = await askGit(folder, ['check-attr', '-z', '--stdin', 'filter'], {
        input: asInput(names),
      });
      if (answer.exitCode !== 0) throw new CheckoutError(reasonOf(answer));
      const parts = answer.output.split('\0');
      return names.filter((_, at) => off.includes(asText(parts[at * 3 + 2] ?? '')));
    },
  };
}

/** Returns settings that switch the repository's own filters and merge drivers off. */
export async function withoutOwnPrograms(
  folder: string,
  ask: AskGit,
): Promise<readonly GitSetting[]> {
  const filters = await withoutOwnFilters(folder, runGitOf(ask));
  const drivers = await withoutOwnMergeDrivers(folder, runGitOf(ask));
  if (filters === null || drivers === null) {
    throw new CheckoutError('git cannot tell which filters and merge drivers are configured');
  }
  return [...filters, ...drivers];
}

function isRepository(entry: TreeEntry): boolean {
  return entry?.startsWith('160000 ') === true;
}
