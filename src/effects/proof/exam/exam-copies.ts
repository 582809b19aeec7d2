import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isInside, realPath } from '../../files/real-path.ts';
import { removeTree } from '../../files/remove-tree.ts';
import { bringInstalled, isInstalledFolder } from './exam-installed.ts';
import { type ExamPlaces, linkAgain, targetInExam, textInExam } from './exam-links.ts';

/*
 * Copies what no snapshot has into the exam, a checkout for the checks, so that they write nothing into the work tree.
 * Copies keep their times, so the checkout's files are newer and tools build again. What is over the limit is linked.
 */

/** The limit for all copies of one exam together, in bytes. */
export const MOST_BYTES = 1024 ** 3;
/** In bytes. Larger files are not searched for paths of the work tree. */
const TEXT_MAX_BYTES = 4 * 1024 ** 2;
/** In ms. After this time, copying lets the rest of ralph go on. */
const TURN_MS = 50;

export interface ExamCopies {
  /** Copies what is at an absolute path to a free place, or makes a symbolic link to it. */
  bring(from: string, to: string): Promise<void>;
  /** Absolute paths of the work tree that were linked because there was no room or they could not be read. */
  readonly linked: readonly string[];
}

/** Returns the copier for an exam. `isOwn` tells which files ralph itself writes; these are not copied. */
export function examCopies(
  places: ExamPlaces,
  isOwn: (file: string) => boolean,
  mostBytes: number = MOST_BYTES,
): ExamCopies {
  const linked: string[] = [];
  let room = mostBytes;
  let turnEnds = Date.now() + TURN_MS;

  async function bring(from: string, to: string): Promise<void> {
    const size = sizeBelow(from, room);
    if (size > room) return linkWhole(from, to);
    try {
      await copy(from, to);
      room -= size;
    } catch {
      // A part of the folder cannot be read, so the whole folder is linked.
      removeTree(to);
      linkWhole(from, to);
    }
  }

  function linkWhole(from: string, to: string): void {
    symlinkSync(from, to);
    linked.push(from);
  }

  async function copy(from: string, to: string): Promise<void> {
    if (isOwn(from) || isOwn(`${from}/`)) return;
    if (Date.now() > turnEnds) {
      await setImmediate();
      turnEnds = Date.now() + TURN_MS;
    }
    const stats = lstatSync(from);
    if (stats.isSymbolicLink()) return copyLink(from, to);
    if (stats.isFile()) return copyFile(from, to, stats);
    // Sockets and pipes belong to running programs.
    if (!stats.isDirectory()) return;
    if (isInstalledFolder(from)) return bringInstalled(from, to, bring);
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) {
      const place = path.join(from, name);
      // This `.git` file would lead git to the submodule's repository in the work tree, and git would write there.
      if (name === '.git' && !lstatSync(place).isDirectory()) continue;
      await copy(place, path.join(to, name));
    }
    chmodSync(to, stats.mode | 0o700);
    utimesSync(to, stats.atime, stats.mtime);
  }

  async function copyLink(from: string, to: string): Promise<void> {
    const real = realPath(from);
    const target = targetInExam(places, from);
    const leadsOut = target !== places.folder && !isInside(places.folder, target);
    const isPackages = path.basename(from) === 'node_modules' || isInstalledFolder(real);
    // Packages that lie outside the work tree may have links that lead back to it.
    if (leadsOut && isPackages && statSync(real, { throwIfNoEntry: false })?.isDirectory()) {
      return bringInstalled(real, to, bring);
    }
    linkAgain(places, from, to);
  }

  function copyFile(from: string, to: string, stats: Stats): void {
    const text =
      stats.size > 0 && stats.size <= TEXT_MAX_BYTES
        ? textInExam(places, readFileSync(from))
        : null;
    if (text === null) {
      copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } else {
      writeFileSync(to, text, { flag: 'wx', mode: stats.mode });
    }
    utimesSync(to, stats.atime, stats.mtime);
  }

  return { bring, linked };
}

/** Returns the size of a file or folder without its installed packages; above `most`, counting stops. */
export function sizeBelow(place: string, most: number): number {
  const stats = lstatSync(place);
  if (!stats.isDirectory()) return stats.isFile() ? stats.size : 0;
  // Installed packages are measured later, piece by piece.
  if (isInstalledFolder(place)) return 0;
  let size = 0;
  try {
    for (const name of readdirSync(place)) {
      size += sizeBelow(path.join(place, name), most - size);
      if (size > most) break;
    }
  } catch {
    // A folder that cannot be read is linked later, so it takes no room.
  }
  return size;
}
