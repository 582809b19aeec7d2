import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { messageOf } from '../../errors.ts';
import { errorCode } from '../files/write-file.ts';
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
  /** Whether what the path holds now may go, since a snapshot holds it; nothing else is overwritten. */
  readonly mayReplace: (name: TreePath) => boolean;
}

/** Paths that stay as they are, and why. */
export type Blocked = ReadonlyMap<TreePath, BlockedReason>;

export type BlockedReason =
  /** Something that is in no snapshot stands there, or was written a moment ago. */
  | { readonly kind: 'in-the-way' }
  /** A repository inside the work tree: its files are in no snapshot. */
  | { readonly kind: 'repository'; readonly commit: string | null }
  /** The submodule's own repository is gone, or its commit, or git could not check it out. */
  | { readonly kind: 'no-submodule' }
  /** `why` is the system's error. */
  | { readonly kind: 'failed'; readonly why: string };

export interface Restored {
  readonly restored: readonly TreePath[];
  readonly blocked: Blocked;
}

const SUBMODULE = /^160000 /;

/** Whether an entry is a submodule or another repository inside the work tree. */
export function isRepository(entry: TreeEntry): boolean {
  return entry !== null && SUBMODULE.test(entry);
}

/**
 * Brings paths of the work tree back. Null if git fails before anything was changed. A path that cannot be
 * brought back costs only itself.
 */
export async function restoreFiles({
  git,
  entries,
  mayReplace,
}: RestoreRequest): Promise<Restored | null> {
  const { root } = git.repository;
  const store = path.join(git.folder, 'restore');
  rmSync(store, { recursive: true, force: true });
  const wanted = [...entries].filter(([, entry]) => entry !== null && !isRepository(entry));
  if (!(await writeInto(store, git, wanted))) {
    rmSync(store, { recursive: true, force: true });
    return null;
  }
  const restored: TreePath[] = [];
  const blocked = new Map<TreePath, BlockedReason>();
  // What goes makes room for what comes back: a file for a folder of the same name.
  for (const [name, entry] of [...entries].sort(([, one], [, other]) => rank(one) - rank(other))) {
    const why = tried(() =>
      entry === null
        ? removePath(root, name, mayReplace)
        : isRepository(entry)
          ? placeRepository(root, name, entry)
          : placeFile(root, name, treePlace(store, name), mayReplace),
    );
    if (why === null) restored.push(name);
    else blocked.set(name, why);
  }
  rmSync(store, { recursive: true, force: true });
  return { restored, blocked };
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

/** Has git write the files below a folder, with the modes and links of the tree. */
async function writeInto(
  store: string,
  git: PrivateGit,
  wanted: readonly (readonly [TreePath, TreeEntry])[],
): Promise<boolean> {
  mkdirSync(store, { recursive: true, mode: 0o700 });
  if (wanted.length === 0) return true;
  const index = path.join(git.folder, 'index-to-restore');
  for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  const lines = wanted.map(([name, entry]) => {
    const [mode = '', id = ''] = (entry ?? '').split(' ');
    return `${mode} ${id} 0\t${name}\0`;
  });
  const input = Buffer.from(lines.join(''), 'latin1');
  const added = await git.run(['update-index', '-z', '--index-info'], { input, index });
  if (added.exitCode !== 0) return false;
  const env = { GIT_WORK_TREE: store } as const;
  const written = await git.run(['checkout-index', '--all', '--force'], { index, env });
  rmSync(index, { force: true });
  return written.exitCode === 0;
}

/** Removes a path and the folders it leaves empty. */
function removePath(root: string, name: TreePath, mayReplace: MayReplace): BlockedReason | null {
  if (isBehindLink(root, name)) return null;
  const place = treePlace(root, name);
  const stats = statsOf(place);
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

/** Leaves a repository in the work tree to itself; one that lost its files is filled afterwards. */
function placeRepository(root: string, name: TreePath, entry: TreeEntry): BlockedReason | null {
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats === null || (stats.isDirectory() && isEmptyFolder(place))) return null;
  return stats.isDirectory()
    ? { kind: 'repository', commit: entry?.replace(SUBMODULE, '') ?? null }
    : IN_THE_WAY;
}

/** Moves a file to its place. */
function placeFile(
  root: string,
  name: TreePath,
  from: Buffer,
  mayReplace: MayReplace,
): BlockedReason | null {
  if (!makeFolders(root, parentOf(name), mayReplace)) return IN_THE_WAY;
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats?.isDirectory() === true) {
    if (!isEmptyFolder(place)) return IN_THE_WAY;
    rmdirSync(place);
  } else if (stats !== null && !mayReplace(name)) return IN_THE_WAY;
  if (stats?.isFile() === true) keepPrivate(from, stats);
  moveFile(from, place);
  return null;
}

/** A file that others could not read never comes back readable by them. */
function keepPrivate(from: Buffer, { mode }: Stats): void {
  const stats = lstatSync(from);
  if (stats.isFile()) chmodSync(from, stats.mode & (mode | 0o700) & 0o777);
}

function moveFile(from: Buffer, to: Buffer): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // The state folder is on another file system: copy beside the place, and rename there.
    const beside = Buffer.concat([to, Buffer.from(`.${randomUUID()}.tmp`)]);
    try {
      copyEntry(from, beside);
      renameSync(beside, to);
    } finally {
      rmSync(beside, { force: true });
    }
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

/** Makes the folders that a path needs; replaces a link or a file in the way if it may go. */
function makeFolders(root: string, name: TreePath, mayReplace: MayReplace): boolean {
  if (name === '') return true;
  if (!makeFolders(root, parentOf(name), mayReplace)) return false;
  const place = treePlace(root, name);
  const stats = statsOf(place);
  if (stats?.isDirectory() === true) return true;
  if (stats !== null) {
    if (!mayReplace(name)) return false;
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
