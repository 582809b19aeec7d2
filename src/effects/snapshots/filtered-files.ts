import { existsSync } from 'node:fs';
import path from 'node:path';
import { MB, readWithin, tryReadText } from '../files/bounded-read.ts';
import { writeFileAtomic } from '../files/write-file.ts';
import { orNull } from '../git/git-error.ts';
import { definedFilters, underFilters } from '../git/git-filters.ts';
import type { IndexEntry } from '../git/listings.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { filesUnlikeIndex, stagedSince } from '../git/questions/diffs.ts';
import { flagPaths, type IndexFlag, indexNames, listIndex } from '../git/questions/index-files.ts';
import { timeOf } from '../git/repository.ts';
import { type TreePath, treePlace } from '../git/tree-path.ts';
import { whereContentIsAsNamed } from './lfs-pointer.ts';

/*
 * With a filter such as that of LFS or git-crypt, git stores other content than lies in the work tree. If git finds a
 * tracked file under a filter unchanged, the snapshot takes the file's entry from the user's index, so that it needs no
 * second copy, and no decrypted one. Ralph notes which entries it took, since only the filter can bring such a file
 * back. Making a snapshot runs no filter.
 *
 * Once the agent has worked, git's word is not enough: the agent can write the index, and name any file in the
 * attributes. Then the file has to be the same one that git found unchanged before, or to have the content that its LFS
 * pointer names.
 */

export interface FilteredFiles {
  /** The paths whose entries stay as in the user's index. */
  readonly asIndexed: ReadonlySet<TreePath>;
  /** Finds out which entries of the user's index are under filters. */
  findAmong(entries: Iterable<IndexEntry>): Promise<void>;
  /**
   * Finds out which files under filters are unchanged, and passes their entries to `addEntries` unless ralph's index
   * has them. `isBefore`: no agent has worked yet. Resolves to the paths of the entries that were passed.
   */
  update(
    addEntries: (entries: readonly IndexEntry[]) => Promise<void>,
    isBefore: boolean,
  ): Promise<readonly TreePath[]>;
  forget(): void;
}

interface Filtered extends IndexEntry {
  readonly filter: string;
}

/** A file as it is in the work tree. */
interface Seen extends Filtered {
  /** A text that changes whenever the file is written: see `timeOf`. The agent cannot set all of it. */
  readonly sign: string;
}

export function createFilteredFiles(git: PrivateGit): FilteredFiles {
  const { root } = git.repository;
  let filtered: readonly Filtered[] = [];
  /** The `sign` of each file under a filter when git was last asked, in one text. */
  let signs = '';
  let asIndexed: ReadonlySet<TreePath> = new Set();

  return {
    get asIndexed() {
      return asIndexed;
    },
    async findAmong(entries) {
      signs = '';
      const found = mayHaveFilters(git, entries) ? await thoseUnderFilters(git, [...entries]) : [];
      filtered = await withoutUnshared(git, found);
    },
    async update(addEntries, isBefore) {
      if (filtered.length + asIndexed.size === 0) return [];
      const seen = filtered.map((each) => ({ ...each, sign: timeOf(treePlace(root, each.name)) }));
      const now = seen.map(({ sign }) => sign).join('\n');
      if (signs !== '' && now === signs) return [];
      const forGit = await unchangedForGit(git, seen);
      const unchanged = isBefore ? forGit : await thatAreSo(git, forGit);
      const before = asIndexed;
      asIndexed = new Set(unchanged.map(({ name }) => name));
      const fresh = signs === '' ? unchanged : unchanged.filter(({ name }) => !before.has(name));
      await noteFiltered(git, unchanged);
      await flag(
        git,
        [...before].filter((name) => !asIndexed.has(name)),
        'no-assume-unchanged',
      );
      const replaced = await notYetInIndex(git, fresh);
      await addEntries(replaced);
      // With this flag git does not compare these files: it would have to read all of them each time.
      await flag(
        git,
        fresh.map(({ name }) => name),
        'assume-unchanged',
      );
      signs = now;
      return replaced.map(({ name }) => name);
    },
    forget() {
      asIndexed = new Set();
      signs = '';
    },
  };
}

/** Whether an attribute file mentions filters at all. If not, git need not be started. */
function mayHaveFilters({ repository }: PrivateGit, entries: Iterable<IndexEntry>): boolean {
  const files: (string | Buffer)[] = [path.join(repository.commonDir, 'info', 'attributes')];
  for (const { name } of entries) {
    if (/(?:^|\/)\.gitattributes$/.test(name)) files.push(treePlace(repository.root, name));
  }
  return files.some((file) => existsSync(file) && /filter/.test(tryReadText(file, MB) ?? 'filter'));
}

async function thoseUnderFilters(
  git: PrivateGit,
  entries: readonly IndexEntry[],
): Promise<readonly Filtered[]> {
  const names = entries.map(({ name }) => name);
  const defined = [...(await definedFilters(git.users, 'clean|smudge|process'))];
  const nameable = new Set(defined.filter((filter) => NAMEABLE.test(filter)));
  const filters = await underFilters(git.users, names, nameable).catch(() => null);
  return entries.flatMap((entry) => {
    const filter = filters?.get(entry.name);
    return filter === undefined ? [] : [{ ...entry, filter }];
  });
}

/** Leaves out the LFS files that have changed since the commit `git.shared`: no other machine has their content. */
async function withoutUnshared(
  git: PrivateGit,
  filtered: readonly Filtered[],
): Promise<readonly Filtered[]> {
  const isOfStore = ({ filter }: Filtered): boolean => filter === LFS;
  if (git.shared === undefined || !filtered.some(isOfStore)) return filtered;
  // If the shared commit is gone, nothing can be compared, and all files count as shared.
  const changed = new Set(await stagedSince(git.users, git.shared));
  return filtered.filter((file) => !isOfStore(file) || !changed.has(file.name));
}

/** Matches a filter that a setting can name, and none of the words by which git says that there is no filter. */
const NAMEABLE = /^(?!(?:unspecified|unset|set)$)[^=\n]+$/;

async function unchangedForGit(
  git: PrivateGit,
  filtered: readonly Seen[],
): Promise<readonly Seen[]> {
  if (filtered.length === 0) return [];
  const filters = new Set(filtered.map(({ filter }) => filter));
  const changed = await filesUnlikeIndex(git.users, filters);
  if (changed === null) return [];
  const those = new Set(changed);
  return filtered.filter(({ name }) => !those.has(name));
}

/** Returns the files whose content surely belongs to their index entries, whatever git says. */
async function thatAreSo(git: PrivateGit, files: readonly Seen[]): Promise<readonly Seen[]> {
  const notes = readFilterNotes(git);
  const isNoted = ({ name, id, sign }: Seen): boolean =>
    notes.get(entryKey(name, id))?.sign === sign;
  const pointers = files.filter((file) => file.filter === LFS && !isNoted(file));
  const same = await whereContentIsAsNamed(git, pointers);
  return files.filter((file) => isNoted(file) || same.has(file));
}

const LFS = 'lfs';

async function notYetInIndex(
  git: PrivateGit,
  entries: readonly Filtered[],
): Promise<readonly Filtered[]> {
  if (entries.length === 0) return [];
  const held = await listIndex(git.own);
  return entries.filter(({ mode, id, name }) => held.get(name) !== `${mode} ${id}`);
}

/** Flags only paths of ralph's index: if one is missing (its folder became a symbolic link), git would flag none. */
async function flag(git: PrivateGit, names: readonly TreePath[], how: IndexFlag): Promise<void> {
  if (names.length === 0) return;
  const known = new Set(await orNull(indexNames(git.own)));
  await flagPaths(
    git.own,
    names.filter((name) => known.has(name)),
    how,
  );
}

/** What ralph notes about an entry that it took from the user's index. */
interface FilterNote {
  readonly filter: string;
  /** The `sign` of the file (see `Seen`) when its content belonged to the entry. */
  readonly sign: string;
}

/** The notes, by `entryKey`. */
export type FilterNotes = ReadonlyMap<string, FilterNote>;

/** Returns the key of an entry in the notes. */
export function entryKey(name: TreePath, id: string): string {
  return `${id} ${name}`;
}

const NOTES_MAX_BYTES = 64 * MB;

/** Reads the notes about entries that were taken from the user's index. Throws the system's error. */
export function readFilterNotes({ folder }: PrivateGit): FilterNotes {
  const file = notesFile(folder);
  const parts = existsSync(file)
    ? readWithin(file, NOTES_MAX_BYTES).toString('latin1').split('\0')
    : [];
  const notes = new Map<string, FilterNote>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [filter = '', sign = ''] = (parts[at] ?? '').split('\n');
    notes.set(parts[at + 1] ?? '', { filter, sign });
  }
  return notes;
}

/** Notes that the content of these files is what their entries say. */
async function noteFiltered(git: PrivateGit, files: readonly Seen[]): Promise<void> {
  const notes = new Map(readFilterNotes(git));
  const fresh = files.filter(({ name, id, sign }) => notes.get(entryKey(name, id))?.sign !== sign);
  if (fresh.length === 0) return;
  for (const { name, id, filter, sign } of fresh) notes.set(entryKey(name, id), { filter, sign });
  const text = [...notes].map(([key, { filter, sign }]) => `${filter}\n${sign}\0${key}\0`).join('');
  await writeFileAtomic(notesFile(git.folder), Buffer.from(text, 'latin1'));
}

function notesFile(folder: string): string {
  return path.join(folder, 'kept-as-indexed');
}
