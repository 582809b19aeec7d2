import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withGitSettings, withIndex, withTree } from '../git/git.ts';
import { gitRefusal } from '../git/git-error.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { inNewIndex, type PrivateGit } from '../git/private-git.ts';
import { setEntries, writeFiles } from '../git/questions/index-files.ts';
import { settingNow } from '../git/questions/settings.ts';
import { type TreePath, treePlace } from '../git/tree-path.ts';
import { entryKey, readFilterNotes } from './filtered-files.ts';

/** A path, and the mode and id of the file that it gets back. */
export interface WantedFile {
  readonly name: TreePath;
  readonly entry: string;
}

/**
 * Writes entries of a tree below a folder, byte for byte, or by the user's own filters where snapshots took them from
 * the user's index. Resolves to the paths under filters, each with whether its filter wrote it. Rejects with a
 * `GitError` that says `why`, or git's reason.
 */
export async function layOut(
  git: PrivateGit,
  folder: string,
  wanted: readonly WantedFile[],
  why?: string,
): Promise<ReadonlyMap<TreePath, boolean>> {
  const filtered = await restoreFiltered(git, folder, wanted);
  const raw = wanted.filter(({ name }) => !filtered.has(name));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (raw.length === 0) return filtered;
  await inNewIndex(git, async (index) => {
    await putInto(index, git, raw);
    const inFolder = withIndex(withTree(git.own, folder), index);
    await writeFiles(inFolder, why === undefined ? {} : { why });
  });
  return filtered;
}

/**
 * Restores, below the folder `store`, the files whose entries snapshots took from the user's index, by the user's own
 * filters. Resolves to their paths, each with whether its filter brought it back. A filter that only the repository's
 * configuration defines does not run.
 */
async function restoreFiltered(
  git: PrivateGit,
  store: string,
  wanted: readonly WantedFile[],
): Promise<ReadonlyMap<TreePath, boolean>> {
  const notes = readFilterNotes(git);
  const filters = new Map<string, WantedFile[]>();
  for (const file of notes.size === 0 ? [] : wanted) {
    const note = notes.get(entryKey(file.name, file.entry.split(' ')[1] ?? ''));
    if (note !== undefined) filters.set(note.filter, [...(filters.get(note.filter) ?? []), file]);
  }
  const done = new Map<TreePath, boolean>();
  for (const [filter, files] of filters) {
    const write = await filterWriter(git, store, filter);
    // Git stops if the filter fails for one file. Then each file is tried by itself, so that one bad file does
    // not keep back the others.
    const areAllDone = await write(files);
    for (const file of files) done.set(file.name, areAllDone || (await write([file])));
  }
  return done;
}

/** Returns a function that writes files by a filter, and resolves to whether all were written. */
async function filterWriter(
  git: PrivateGit,
  store: string,
  filter: string,
): Promise<(files: readonly WantedFile[]) => Promise<boolean>> {
  const name = `filter.${filter}`;
  // With ralph's own git folder, git reads the user's configuration, and none of the repository's.
  const programs = await Promise.all(
    ['smudge', 'process'].map((what) => settingNow(git.own, `${name}.${what}`)),
  );
  const settings = await withoutOwnFilters(git.repository.root, git.users);
  if (settings === null || programs.every((set) => set === null)) return async () => false;
  return async (files) => {
    mkdirSync(store, { recursive: true, mode: 0o700 });
    const attributes = path.join(git.folder, 'attributes-to-restore');
    writeFileSync(attributes, `* -text -ident -working-tree-encoding filter=${filter}\n`);
    // Uses the user's repository, where LFS and git-crypt look for contents and keys.
    const required = [...settings, { name: `${name}.required`, value: 'true' }];
    const inStore = withTree(withGitSettings(git.users, required), store);
    const writing = inNewIndex(git, async (index) => {
      await putInto(index, git, files);
      await writeFiles(withIndex(inStore, index), { attributes });
    });
    const refusal = await gitRefusal(writing);
    rmSync(attributes, { force: true });
    return refusal === null && files.every(({ name }) => existsSync(treePlace(store, name)));
  };
}

/** Fills a new index with just these files. Rejects with a `GitError`. */
function putInto(index: string, git: PrivateGit, files: readonly WantedFile[]): Promise<void> {
  const entries = files.map(({ name, entry }) => [name, entry] as const);
  const inIndex = withIndex(git.own, index);
  return setEntries(inIndex, git.repository, entries, 'git cannot write an index of files');
}
