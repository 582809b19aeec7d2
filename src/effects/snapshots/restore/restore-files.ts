import {
  chmodSync,
  closeSync,
  constants,
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
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { looksSecret } from '../../../core/snapshots/secret-names.ts';
import { isRepository, type TreeEntry } from '../../../core/snapshots/undo-plan.ts';
import { messageOf } from '../../../errors.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import { errorCode } from '../../files/write-file.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { wrongObjects } from '../../git/questions/verified.ts';
import { isBehindLink, parentOf, type TreePath, treePlace } from '../../git/tree-path.ts';
import { layOut } from '../filtered-restore.ts';
import { idOf } from '../tree-files.ts';

/*
 * Git first writes the files into a folder of ralph's. Then each file is renamed to its place, so that a reader sees
 * the old file or the new one, and an interrupted undo can be repeated.
 */

export interface RestoreRequest {
  readonly git: PrivateGit;
  /** The entries to restore, by path; null removes the path. */
  readonly entries: ReadonlyMap<TreePath, TreeEntry>;
  /** Whether what is at a path now may be replaced, because a snapshot has it. Nothing else is overwritten. */
  readonly mayReplace: (name: TreePath) => boolean;
}

/** The paths that stay as they are, and why. */
export type Blocked = ReadonlyMap<TreePath, BlockedReason>;

export type BlockedReason =
  /** At this place is something that no snapshot has, or that was written a moment ago. */
  | { readonly kind: 'in-the-way' }
  /** A repository inside the work tree: its files are in no snapshot. */
  | { readonly kind: 'repository'; readonly commit: string | null }
  /** The submodule's own repository or its commit is gone, or git could not check it out. */
  | { readonly kind: 'no-submodule' }
  /** Only a filter could restore the file, and the filter failed, or is not in the user's own configuration. */
  | { readonly kind: 'no-filter' }
  /** Git's object for the file is gone, or somebody has written other content into it. */
  | { readonly kind: 'no-object' }
  /** `why` is the system's error. */
  | { readonly kind: 'failed'; readonly why: string };

const SUBMODULE = /^160000 /;

/** Restores paths. Resolves to those that stay as they are. Rejects with a `GitError` before anything was changed. */
export async function restoreFiles({ git, entries, mayReplace }: RestoreRequest): Promise<Blocked> {
  const { root } = git.repository;
  const store = path.join(git.folder, 'restore');
  rmSync(store, { recursive: true, force: true });
  const files = [...entries].flatMap(([name, entry]) =>
    entry === null || isRepository(entry) ? [] : [{ name, entry }],
  );
  const wrong = await wrongObjects(
    git.own,
    files.map(({ entry }) => idOf(entry)),
  );
  const wanted = files.filter(({ entry }) => !wrong.has(idOf(entry)));
  const blocked = new Map<TreePath, BlockedReason>();
  try {
    const filtered = await layOut(git, store, wanted, 'git cannot write the files of the snapshot');
    // Removals come first, since a file may have to make room for a folder of the same name.
    const ordered = [...entries].sort(([, one], [, other]) => rank(one) - rank(other));
    for (const [name, entry] of ordered) {
      const why = tried(() => {
        if (filtered.get(name) === false) return { kind: 'no-filter' };
        if (entry === null) return removePath(root, name, mayReplace);
        if (isRepository(entry)) return placeRepository(root, name, entry);
        if (wrong.has(idOf(entry))) return { kind: 'no-object' };
        return placeFile(root, name, treePlace(store, name), mayReplace);
      });
      if (why !== null) blocked.set(name, why);
    }
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
  return blocked;
}

function tried(step: () => BlockedReason | null): BlockedReason | null {
  try {
    return step();
  } catch (error) {
    return { kind: 'failed', why: messageOf(error) };
  }
}

const IN_THE_WAY: BlockedReason = { kind: 'in-the-way' };

type MayReplace = RestoreRequest['mayReplace'];

function rank(entry: TreeEntry): number {
  return entry === null ? 0 : 1;
}

/** Removes a path, and the folders that are then empty. */
function removePath(root: string, name: TreePath, mayReplace: MayReplace): BlockedReason | null {
  if (isBehindLink(root, name)) return null;
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  if (stats?.isDirectory() === true) {
    if (!isEmptyFolder(place)) return { kind: 'repository', commit: null };
    rmdirSync(place);
  } else if (stats !== null) {
    if (!mayReplace(name)) return IN_THE_WAY;
    unlinkSync(place);
  }
  removeEmptyFolders(root, parentOf(name));
  return null;
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

/** Leaves a repository in the work tree as it is. One that has lost its files is filled later. */
function placeRepository(root: string, name: TreePath, entry: TreeEntry): BlockedReason | null {
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  if (stats === null || (stats.isDirectory() && isEmptyFolder(place))) return null;
  return stats.isDirectory()
    ? { kind: 'repository', commit: entry?.replace(SUBMODULE, '') ?? null }
    : IN_THE_WAY;
}

function placeFile(
  root: string,
  name: TreePath,
  from: Buffer,
  mayReplace: MayReplace,
): BlockedReason | null {
  if (!makeFolders(root, parentOf(name), mayReplace)) return IN_THE_WAY;
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  if (stats?.isDirectory() === true) {
    if (!isEmptyFolder(place)) return IN_THE_WAY;
    rmdirSync(place);
  } else if (stats !== null && !mayReplace(name)) return IN_THE_WAY;
  if (stats?.isFile() === true) keepPrivate(from, stats.mode);
  else if (looksSecret(name)) keepPrivate(from, 0o600);
  moveFile(from, place);
  return null;
}

/** Takes away permissions of the group and of others that `mode` lacks. Git, and so a snapshot, does not store them. */
function keepPrivate(from: Buffer, mode: number): void {
  const stats = lstatSync(from);
  if (stats.isFile()) chmodSync(from, stats.mode & (mode | 0o700) & 0o777);
}

function moveFile(from: Buffer, to: Buffer): void {
  flush(from);
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // The state folder is on another file system, so the file is copied next to its place and renamed there.
    const beside = Buffer.concat([to, Buffer.from(`.ralph-${process.pid}.tmp`)]);
    try {
      copyEntry(from, beside);
      flush(beside);
      renameSync(beside, to);
    } finally {
      rmSync(beside, { force: true });
    }
  }
}

/** Flushes a file to the disk, so that after a power cut there is the old file or the new one, and not an empty one. */
function flush(place: Buffer): void {
  if (!lstatSync(place).isFile()) return;
  const file = openSync(place, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function copyEntry(from: Buffer, to: Buffer): void {
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from, 'buffer'), to);
  else {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    chmodSync(to, stats.mode & 0o777);
  }
}

/** Makes the folders of a path. Replaces files and symbolic links if `mayReplace` allows; otherwise returns false. */
function makeFolders(root: string, name: TreePath, mayReplace: MayReplace): boolean {
  if (name === '') return true;
  if (!makeFolders(root, parentOf(name), mayReplace)) return false;
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  if (stats?.isDirectory() === true) return true;
  if (stats !== null) {
    if (!mayReplace(name)) return false;
    unlinkSync(place);
  }
  mkdirSync(place);
  return true;
}

function isEmptyFolder(place: Buffer): boolean {
  return readdirSync(place).length === 0;
}
