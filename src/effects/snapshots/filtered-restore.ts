import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withGitSettings, withIndex, withTree } from '../git/git.ts';
import { complaintOf } from '../git/git-error.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import type { PrivateGit } from '../git/private-git.ts';
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
 * Restores, below the folder `store`, the files whose entries snapshots took from the user's index, by the user's own
 * filters. Resolves to their paths, each with whether its filter brought it back. A filter that only the repository's
 * configuration defines does not run.
 */
export async function restoreFiltered(
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
  // Ralph's own git folder sees the user's configuration, and none of the repository's.
  const programs = await Promise.all(
    ['smudge', 'process'].map((what) => settingNow(git.own, `${name}.${what}`)),
  );
  const settings = await withoutOwnFilters(git.repository.root, git.users);
  if (settings === null || programs.every((set) => set === null)) return async () => false;
  return async (files) => {
    mkdirSync(store, { recursive: true, mode: 0o700 });
    const index = await indexOf(git, files).catch(() => null);
    if (index === null) return false;
    const attributes = path.join(git.folder, 'attributes-to-restore');
    writeFileSync(attributes, `* -text -ident -working-tree-encoding filter=${filter}\n`);
    // Uses the user's repository, where LFS and git-crypt look for contents and keys.
    const required = [...settings, { name: `${name}.required`, value: 'true' }];
    const inStore = withIndex(withTree(withGitSettings(git.users, required), store), index);
    const complaint = await complaintOf(writeFiles(inStore, { attributes }));
    for (const file of [index, attributes]) rmSync(file, { force: true });
    return complaint === null && files.every(({ name }) => existsSync(treePlace(store, name)));
  };
}

/** Writes an index of just these files; resolves to its path. Rejects with a `GitError`. */
export async function indexOf(git: PrivateGit, files: readonly WantedFile[]): Promise<string> {
  const index = path.join(git.folder, 'index-to-restore');
  for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  const entries = files.map(({ name, entry }) => [name, entry] as const);
  const inIndex = withIndex(git.own, index);
  await setEntries(inIndex, git.repository, entries, 'git cannot write an index of files');
  return index;
}
