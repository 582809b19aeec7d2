import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { errorCode } from '../files/write-file.ts';
import { indexOf, restoreFiltered, type WantedFile } from './filtered-restore.ts';
import { besideName, besideNote } from './leftovers.ts';
import type { PrivateGit } from './private-git.ts';
import { statsOf, type TreePath, treePlace } from './tree-changes.ts';

/*
 * Git writes the files into a folder of ralph's first. Only then each is renamed to its place, so
 * that a reader sees the old file or the new one, and an interrupted undo can be done again.
 */

export interface RestoreRequest {
  readonly git: PrivateGit;
  /** Paths and what they get back; null removes the path. */
  readonly entries: ReadonlyMap<TreePath, TreeEntry>;
  /** Whether a snapshot holds what the path holds now; nothing else is ever overwritten. */
  readonly isKept: (name: TreePath) => boolean;
}

export interface Restored {
  readonly restored: readonly TreePath[];
  /** Paths that stay as they are, because something that is in no snapshot stands in the way. */
  readonly blocked: readonly TreePath[];
  /**
   * Paths that stay as they are, because only a filter can bring them back, and it failed or the user's own
   * configuration does not define it.
   */
  readonly unfiltered: readonly TreePath[];
}

/** A link or a file as a mode of git says it; a submodule is left to its own repository. */
const SUBMODULE = /^160000 /;

/**
 * Brings paths of the work tree back. Null if git fails before anything was changed. Throws the
 * system's error if a file cannot be written; the same call finishes the rest.
 */
export async function restoreFiles({
  git,
  entries,
  isKept,
}: RestoreRequest): Promise<Restored | null> {
  const { root } = git.repository;
  const store = path.join(git.folder, 'restore');
  rmSync(store, { recursive: true, force: true });
  const wanted = [...entries].flatMap(([name, entry]) =>
    entry === null || SUBMODULE.test(entry) ? [] : [{ name, entry }],
  );
  const filtered = await restoreFiltered(git, store, wanted);
  const raw = wanted.filter(({ name }) => !filtered.has(name));
  if (!(await writeInto(store, git, raw))) return null;
  const unfiltered = [...filtered].flatMap(([name, isDone]) => (isDone ? [] : [name]));
  const restored: TreePath[] = [];
  const blocked: TreePath[] = [];
  // What goes makes room for what comes back: a file for a folder of the same name.
  for (const [name, entry] of [...entries].sort(([, one], [, other]) => rank(one) - rank(other))) {
    if (filtered.get(name) === false) continue;
    const isDone =
      entry === null
        ? removePath(root, name, isKept)
        : SUBMODULE.test(entry) || placeFile(git, name, treePlace(store, name), isKept);
    (isDone ? restored : blocked).push(name);
  }
  rmSync(store, { recursive: true, force: true });
  return { restored, blocked, unfiltered };
}

function rank(entry: TreeEntry): number {
  return entry === null ? 0 : 1;
}

/** Has git write the files below a folder, with the modes and links of the tree. */
async function writeInto(
  store: string,
  git: PrivateGit,
  wanted: readonly WantedFile[],
): Promise<boolean> {
  mkdirSync(store, { recursive: true, mode: 0o700 });
  if (wanted.length === 0) return true;
  const index = await indexOf(git, wanted);
  if (index === null) return false;
  const env = { GIT_WORK_TREE: store } as const;
  const written = await git.run(['checkout-index', '--all', '--force'], { index, env });
  rmSync(index, { force: true });
  return written.exitCode === 0;
}

/** Removes a path and the folders it leaves empty; false if it is in no snapshot. */
function removePath(root: string, name: TreePath, isKept: (name: TreePath) => boolean): boolean {
  if (isBehindLink(root, name)) return true;
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats !== null) {
    if (stats.isDirectory() || !isKept(name)) return stats.isDirectory();
    unlinkSync(place);
  }
  removeEmptyFolders(root, parentOf(name));
  return true;
}

function removeEmptyFolders(root: string, name: TreePath): void {
  for (let folder = name; folder !== ''; folder = parentOf(folder)) {
    try {
      rmdirSync(treePlace(root, folder));
    } catch {
      return;
    }
  }
}

/** Moves a file to its place; false if something that is in no snapshot stands there. */
function placeFile(
  { folder, repository: { root } }: PrivateGit,
  name: TreePath,
  from: Buffer,
  isKept: (name: TreePath) => boolean,
): boolean {
  if (!makeFolders(root, parentOf(name), isKept)) return false;
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats?.isDirectory() === true) {
    if (!isEmptyFolder(place)) return false;
    rmdirSync(place);
  } else if (stats !== null && !isKept(name)) return false;
  if (stats?.isFile() === true) keepPrivate(from, stats);
  moveFile(folder, from, place);
  return true;
}

/** A file that others could not read never comes back readable by them. */
function keepPrivate(from: Buffer, { mode }: Stats): void {
  const stats = lstatSync(from);
  if (stats.isFile()) chmodSync(from, stats.mode & (mode | 0o700) & 0o777);
}

function moveFile(folder: string, from: Buffer, to: Buffer): void {
  flush(from);
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // The state folder is on another file system: copy beside the place, and rename there.
    const beside = besideName(to);
    writeFileSync(besideNote(folder), beside.toString('hex'), { mode: 0o600 });
    rmSync(beside, { force: true });
    const stats = lstatSync(from);
    if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from, 'buffer'), beside);
    else {
      copyFileSync(from, beside);
      chmodSync(beside, stats.mode & 0o777);
    }
    flush(beside);
    renameSync(beside, to);
    rmSync(besideNote(folder), { force: true });
  }
}

/** After a power cut a file is the old one or the new one, and not an empty one. */
function flush(place: Buffer): void {
  if (!lstatSync(place).isFile()) return;
  const file = openSync(place, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the folders that a path needs; replaces a link or a file in the way if a snapshot holds it. */
function makeFolders(root: string, name: TreePath, isKept: (name: TreePath) => boolean): boolean {
  if (name === '') return true;
  if (!makeFolders(root, parentOf(name), isKept)) return false;
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats?.isDirectory() === true) return true;
  if (stats !== null) {
    if (!isKept(name)) return false;
    unlinkSync(place);
  }
  mkdirSync(place);
  return true;
}

/** Whether one of the path's folders is now a link: then the path itself is not in this tree. */
function isBehindLink(root: string, name: TreePath): boolean {
  for (let folder = parentOf(name); folder !== ''; folder = parentOf(folder)) {
    if (statsOf(treePlace(root, folder))?.isSymbolicLink() === true) return true;
  }
  return false;
}

function isEmptyFolder(place: Buffer): boolean {
  return readdirSync(place).length === 0;
}

function parentOf(name: TreePath): TreePath {
  const end = name.lastIndexOf('/');
  return end === -1 ? '' : name.slice(0, end);
}
