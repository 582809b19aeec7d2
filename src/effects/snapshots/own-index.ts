import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../files/file-kinds.ts';
import { withIndex } from '../git/git.ts';
import { asEntry, type StagedEntry } from '../git/listings.ts';
import { FEW_PATHS, onlyFew, type Pathspecs } from '../git/pathspecs.ts';
import { inNewIndex, type PrivateGit } from '../git/private-git.ts';
import {
  indexEntries,
  indexNames,
  readIntoIndex,
  refreshIndex,
  setEntries,
  writeTree,
} from '../git/questions/index-files.ts';
import { settingNow } from '../git/questions/settings.ts';
import { timeOf } from '../git/repository.ts';
import { type TreePath, treePlace } from '../git/tree-path.ts';
import { createFilteredFiles } from './filtered-files.ts';

/*
 * Ralph's own index says what the newest snapshot holds. It lasts as long as the task, so that snapshots go on keeping
 * each file that they once kept. Whenever the user's index has changed, its new paths are added to ralph's.
 */

export interface OwnIndex {
  /** The paths in the user's index. */
  readonly tracked: Pick<ReadonlySet<TreePath>, 'has'>;
  /** Paths that a sparse checkout may leave out of the work tree. */
  readonly mayBeMissing: ReadonlySet<TreePath>;
  /** Paths under filters whose entries stay as in the user's index, since git finds the files unchanged. */
  readonly asIndexed: ReadonlySet<TreePath>;
  /** Repositories inside the tree that are in the user's index. */
  readonly submodules: ReadonlySet<TreePath>;
  /** The tree of the user's index; null if it has conflicts. */
  readonly userTree: string | null;
  /** Whether the user's index was written since the last `prepare`. */
  hasUserMoved(): boolean;
  /** Fills the index from `newestTree` unless it is as ralph left it, and adds what is new in the user's index. */
  prepare(newestTree: string | null): Promise<PreparedIndex>;
  /**
   * Trusts the index as it is now, until somebody else writes to it. `changed` are the paths added since the last
   * `prepare`. Where git could miss a later change to a file, it will compare the file's content the next time.
   */
  remember(changed: readonly TreePath[]): Promise<void>;
}

interface PreparedIndex {
  /** Paths that were added or replaced from the user's index. */
  readonly adopted: readonly TreePath[];
  /** Paths of the newest snapshot that are excluded from later ones: their old content must not stay in the index. */
  readonly excluded: readonly TreePath[];
}

/** New entries for paths of an index; null removes a path. */
type Entries = Iterable<readonly [TreePath, TreeEntry]>;

/** The mode of a repository inside the tree. */
const SUBMODULE = '160000';

/** In ms. A file written this shortly before git looks may be written again in the same second, unnoticed by git. */
const DOUBT_MS = 2_000;

export interface OwnIndexRequest {
  readonly git: PrivateGit;
  /** Leaves out what never belongs to a snapshot. */
  readonly pathspecs: Pathspecs;
}

/** Opens ralph's own index. */
export function createOwnIndex({ git, pathspecs }: OwnIndexRequest): OwnIndex {
  const { repository } = git;
  const own = path.join(git.folder, 'index');
  const filtered = createFilteredFiles(git);
  /** `timeOf` ralph's index when ralph last trusted the index; null in a new process, which does not trust it yet. */
  let ownSign: string | null = null;
  /** Whether ralph looks at this work tree for the first time, when no agent has worked yet. */
  let isBefore = !existsSync(own);
  /** When git began to compare the times of the files. */
  let lookedAtMs = 0;
  let isRefreshed = false;
  let hasManyDoubts = false;
  let userSign: string | null = null;
  let shared = git.shared;
  let userTree: string | null = null;
  let entries: Iterable<StagedEntry> = [];
  let tracked: OwnIndex['tracked'] = new Set();
  let mayBeMissing: ReadonlySet<TreePath> = new Set();
  let submodules: ReadonlySet<TreePath> = new Set();

  /** Fills the index from the newest snapshot, unless it still is as ralph left it. Resolves to whether a snapshot was read. */
  const restore = async (newestTree: string | null): Promise<boolean> => {
    rmSync(`${own}.lock`, { force: true });
    if (ownSign !== null && timeOf(own) === ownSign) return false;
    rmSync(own, { force: true });
    if (newestTree !== null) await readIntoIndex(git.own, newestTree);
    userSign = null;
    filtered.forget();
    return newestTree !== null;
  };

  /** Removes the paths that are excluded now and were not for an earlier process. */
  const dropExcluded = async (): Promise<readonly TreePath[]> => {
    if (pathspecs.length === 0) return [];
    const [all, included] = await Promise.all([
      indexNames(git.own),
      indexNames(git.own, pathspecs),
    ]);
    const stay = new Set(included);
    const excluded = all.filter((name) => !stay.has(name));
    await addEntries(excluded.map((name) => [name, null]));
    return excluded;
  };

  /** Adds paths that only the user's index has. Without them, no snapshot would have tracked files that git ignores. */
  const adopt = async (): Promise<readonly TreePath[]> => {
    const sign = timeOf(repository.index);
    if (sign === userSign && git.shared === shared) return [];
    shared = git.shared;
    const [listed, included, known] = await Promise.all([
      // Snapshots are made even if the user's index cannot be read.
      indexEntries(git.users).catch(() => null),
      pathspecs.length === 0 ? null : indexNames(git.users, pathspecs).catch(() => []),
      existsSync(own) ? indexNames(git.own) : [],
    ]);
    if (listed === null) {
      userTree = null;
      return [];
    }
    entries = listed;
    const ours = included === null ? null : new Set(included);
    const there = new Set(known);
    const isOurs = ({ name }: StagedEntry): boolean => ours?.has(name) !== false;
    const missing: TreePath[] = [];
    const skipped: TreePath[] = [];
    const inner = new Set<TreePath>();
    let count = 0;
    let hasConflicts = false;
    for (const entry of entries) {
      const { name, tag, mode, stage } = entry;
      count += 1;
      hasConflicts ||= stage !== '0';
      if (/s/i.test(tag)) skipped.push(name);
      if (mode === SUBMODULE) inner.add(name);
      const isNew = isOurs(entry) && !there.has(name);
      // A path that the work tree no longer has, or has as another kind of file, is not added again.
      if (isNew && (there.size === 0 || liesInTree(repository.root, entry))) missing.push(name);
    }
    // For a path in conflict any of its versions will do, since the file in the tree replaces it.
    const news = there.size === 0 ? null : new Set(missing);
    const isMissing = (entry: StagedEntry): boolean => news?.has(entry.name) ?? isOurs(entry);
    await addEntries(eachOf(entries, (entry) => isMissing(entry) && asEntry(entry)));
    tracked = namesOf(entries);
    mayBeMissing = new Set(skipped.length > 0 && (await isSparse()) ? leftOut(skipped) : []);
    submodules = inner;
    const isWhole = there.size === 0 && missing.length === count;
    userTree = hasConflicts ? null : await writeUserTree(isWhole && count > 0);
    await filtered.findAmong(
      eachOf(entries, (entry) => entry.tag === 'H' && isOurs(entry) && entry),
    );
    userSign = sign;
    return missing;
  };

  /** Without a sparse checkout, `skip-worktree` only hides a file from git: if the file is missing, it was deleted. */
  const isSparse = async (): Promise<boolean> =>
    (await settingNow(git.users, 'core.sparseCheckout', 'bool')) === 'true';

  /** Returns the files that a sparse checkout left out already before the agent began. */
  const leftOut = (skipped: readonly TreePath[]): readonly TreePath[] => {
    const noted = path.join(git.folder, 'left-out');
    if (isBefore) writeFileSync(noted, skipped.join('\0'), { encoding: 'latin1', mode: 0o600 });
    const before = new Set(existsSync(noted) ? readFileSync(noted, 'latin1').split('\0') : []);
    return skipped.filter((name) => before.has(name));
  };

  /**
   * Git compares times in whole seconds. So it would miss the later of two writes within a second if the file's old
   * time was set again. To make git read such a file, this removes the file's size from the index.
   */
  const distrust = async (changed: readonly TreePath[]): Promise<void> => {
    const isYoung = (name: TreePath): boolean =>
      (lstatOf(treePlace(repository.root, name))?.ctimeMs ?? 0) >= lookedAtMs - DOUBT_MS;
    const among = isRefreshed ? null : new Set(changed.filter(isYoung));
    // In most cases no file is that young, and git need not be asked.
    if (among?.size === 0) return;
    const young: StagedEntry[] = [];
    for (const entry of await indexEntries(git.own, onlyFew(among))) {
      const { name, mode } = entry;
      if (filtered.asIndexed.has(name) || mode === SUBMODULE) continue;
      if (among?.has(name) ?? isYoung(name)) young.push(entry);
    }
    // Git reads each file in doubt at every listing. For many, one refresh of the whole index costs less.
    hasManyDoubts = young.length > FEW_PATHS;
    await addEntries(young.map(asEntry));
  };

  const addEntries = (added: Entries): Promise<void> => setEntries(git.own, repository, added);

  /** Writes the user's index as a tree. With `isOwn`, ralph's index has just become the same, and is written instead. */
  const writeUserTree = async (isOwn: boolean): Promise<string> => {
    if (isOwn) return writeTree(git.own, repository);
    return inNewIndex(git, async (index) => {
      const users = withIndex(git.own, index);
      await setEntries(users, repository, eachOf(entries, asEntry));
      return writeTree(users, repository);
    });
  };

  return {
    get tracked() {
      return tracked;
    },
    get mayBeMissing() {
      return mayBeMissing;
    },
    get submodules() {
      return submodules;
    },
    get asIndexed() {
      return filtered.asIndexed;
    },
    get userTree() {
      return userTree;
    },
    hasUserMoved: () => timeOf(repository.index) !== userSign,
    async prepare(newestTree) {
      lookedAtMs = Date.now();
      const isRestored = await restore(newestTree);
      const excluded = isRestored ? await dropExcluded() : [];
      const adopted = await adopt();
      const asIndexed = await filtered.update((found) => addEntries(found.map(asEntry)), isBefore);
      isBefore = false;
      // Without the times of the files in the index, each listing would read all files.
      isRefreshed = isRestored || adopted.length > 0 || hasManyDoubts;
      hasManyDoubts = false;
      if (isRefreshed) await refreshIndex(git.own);
      return { adopted: [...adopted, ...asIndexed], excluded };
    },
    async remember(changed) {
      await distrust(changed);
      ownSign = timeOf(own);
    },
  };
}

/** Returns an iterable that maps the entries one by one each time it is iterated; false leaves an entry out. */
function eachOf<Made>(
  entries: Iterable<StagedEntry>,
  make: (entry: StagedEntry) => Made | false,
): Iterable<Made> {
  return {
    *[Symbol.iterator]() {
      for (const entry of entries) {
        const made = make(entry);
        if (made !== false) yield made;
      }
    },
  };
}

/** Returns the names of entries as a set that is built only when it is first asked. */
function namesOf(entries: Iterable<StagedEntry>): OwnIndex['tracked'] {
  let names: ReadonlySet<TreePath> | null = null;
  return {
    has(name) {
      names ??= new Set(eachOf(entries, (entry) => entry.name));
      return names.has(name);
    },
  };
}

/** Whether the work tree has a file or folder as the entry says, or a sparse checkout leaves it out. */
function liesInTree(root: string, { name, mode, tag }: StagedEntry): boolean {
  const stats = lstatOf(treePlace(root, name));
  if (stats === null) return /s/i.test(tag);
  return stats.isDirectory() === (mode === SUBMODULE);
}
