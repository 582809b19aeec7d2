import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KB, tryReadText } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { realPath } from '../files/real-path.ts';
import { removeTree } from '../files/remove-tree.ts';
import { tryToRemove } from '../files/write-file.ts';
import { isAlive, type ProcessIdentity, readProcess } from '../processes/process-table.ts';

/*
 * Each run with a sandbox has a folder:
 *
 *   ralph-sandbox-XXXXXX/
 *     tmp/        the agent's TMPDIR and its caches
 *     check-XXXXXX/  the TMPDIR and the caches of one check, while it runs
 *     outside/    never writable in the sandbox
 *       owner     PID:START of ralph's process: other runs remove the folder once it is dead
 *       made      its placeholders: files and folders made only so that a mount can protect their paths
 *       filter    a filter of system calls: what the kernel refuses to do for the command (Linux)
 *       sockets/  the TMPDIR of the helper, the process that holds the proxies
 *       empty/    the helper's current folder
 *
 * If TMPDIR is not /tmp, a symbolic link in /tmp leads to the folder, so that all runs see each other: a run that
 * missed another one would remove the placeholders that the other's mounts need.
 */

/** The folder of one run with a sandbox. */
export interface RunFolder {
  readonly path: string;
  readonly tmp: string;
  readonly outside: string;
  readonly sockets: string;
  readonly empty: string;
}

const PREFIX = 'ralph-sandbox-';
const NAME = /^ralph-sandbox-\w{6}$/;
/** The longest base folder in bytes: the path of a socket has at most 107 bytes, and 65 of them come after the base. */
const LONGEST_BASE = 40;

/** Makes the folder of a run. Throws the system's error. */
export function makeRunFolder(): RunFolder {
  const folder = foldersIn(mkdtempSync(path.join(base(), PREFIX)));
  const entry = entryOf(folder);
  if (entry !== folder.path) symlinkSync(folder.path, entry);
  for (const each of [folder.tmp, folder.outside, folder.sockets]) mkdirSync(each, { mode: 0o700 });
  // Read-only: the sandbox package looks for files to protect in its current folder, and would put stubs there.
  mkdirSync(folder.empty, { mode: 0o500 });
  return folder;
}

/** Returns a run's future temporary folder, with `XXXXXX` for the part that is chosen at its start. */
export function futureTemporaryFolder(): string {
  return foldersIn(path.join(base(), `${PREFIX}XXXXXX`)).tmp;
}

/** Returns the path of the file that names the process of the run. */
export function ownerFile(folder: RunFolder): string {
  return path.join(folder.outside, 'owner');
}

/** Returns the path of the file with the filter for the kernel. */
export function filterFile(folder: RunFolder): string {
  return path.join(folder.outside, 'filter');
}

/** Returns the text of the owner file for this process. */
export function ownerText(): string {
  const own = readProcess(process.pid);
  return own === null ? '' : `${own.pid}:${own.startedAt}\n`;
}

/** Returns the folders of other runs, and whether the process of each run is alive. */
export function otherRunFolders(
  own: RunFolder,
): readonly { readonly folder: RunFolder; readonly isAlive: boolean }[] {
  return namesIn(meetingPlace())
    .filter((name) => NAME.test(name))
    .map((name) => folderAt(path.join(meetingPlace(), name)))
    .filter((folder) => folder !== null)
    .filter((folder) => folder.path !== own.path)
    .flatMap((folder) => {
      const owner = identityIn(tryReadText(ownerFile(folder), KB) ?? '');
      // A folder without an owner is being made right now.
      return owner === null ? [] : [{ folder, isAlive: isAlive(owner) }];
    });
}

/** Makes a temporary folder for one check, without anything of the agent's. Throws the system's error. */
export function makeCheckFolder(run: RunFolder): string {
  return mkdtempSync(path.join(run.path, 'check-'));
}

/** Removes the folder of a run. What cannot be removed stays: it is in the system's temporary folder. */
export async function removeRunFolder(run: RunFolder): Promise<void> {
  tryToRemove(entryOf(run));
  await removeCheckFolder(run.path);
}

/** Removes the folder of a check, which may hold caches of gigabytes. What cannot be removed stays. */
export async function removeCheckFolder(folder: string): Promise<void> {
  // Package caches make their folders read-only.
  const ofCaches = (): unknown => ifPossible(() => removeTree(folder));
  await rm(folder, { recursive: true, force: true }).catch(ofCaches);
}

function base(): string {
  const folder = realPath(tmpdir());
  return Buffer.byteLength(folder) > LONGEST_BASE ? realPath('/tmp') : folder;
}

/** Returns the folders in which the user's programs have their sockets, such as those of tmux or ssh-agent. */
export function temporaryFolders(): readonly string[] {
  return [...new Set([meetingPlace(), realPath(tmpdir())])];
}

/** Returns the folder in which runs find each other, whichever temporary folder each of them has. */
export function meetingPlace(): string {
  return realPath('/tmp');
}

/** Returns the path by which other runs find this run: its folder or, outside /tmp, a link to it. */
function entryOf({ path: folder }: RunFolder): string {
  return path.join(meetingPlace(), path.basename(folder));
}

function foldersIn(folder: string): RunFolder {
  const outside = path.join(folder, 'outside');
  return {
    path: folder,
    tmp: path.join(folder, 'tmp'),
    outside,
    sockets: path.join(outside, 'sockets'),
    empty: path.join(outside, 'empty'),
  };
}

/**
 * Returns the run folder to which an entry leads; null unless this user owns both. A run folder is removed once its
 * process is dead, so no other user may be able to choose what is removed.
 */
function folderAt(entry: string): RunFolder | null {
  const place = isOwn(entry, 'link') ? readlinkSync(entry) : entry;
  const isNamedAlike = path.basename(place) === path.basename(entry);
  return isNamedAlike && isOwn(place, 'folder') && realPath(place) === place
    ? foldersIn(place)
    : null;
}

function isOwn(place: string, kind: 'folder' | 'link'): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const user = process.getuid?.();
  const isKind = kind === 'link' ? stats.isSymbolicLink() : stats.isDirectory();
  return isKind && (user === undefined || stats.uid === user);
}

function identityIn(text: string): ProcessIdentity | null {
  const [, pid, startedAt] = /^(\d+):(\d+)\n$/.exec(text) ?? [];
  return pid === undefined || startedAt === undefined ? null : { pid: Number(pid), startedAt };
}
