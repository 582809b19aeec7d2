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
 * What no snapshot has is copied into the exam, so that nothing that checks write there, such as build output, lands
 * in the work tree. Copies keep their times: build tools find them older than the files of the exam, and build again.
 * What there is no room for is linked.
 */

/** All copies of an exam together. */
export const MOST_BYTES = 1024 ** 3;
/** Larger files are not searched for paths of the work tree. */
const TEXT_MAX_BYTES = 4 * 1024 ** 2;
/** Copying does not keep the rest of ralph waiting for longer than this. */
const TURN_MS = 50;

export interface ExamCopies {
  /** Brings what is at an absolute path to a free place. */
  bring(from: string, to: string): Promise<void>;
  /** What was linked for want of room, or since it cannot be read: absolute paths of the work tree. */
  readonly linked: readonly string[];
}

/** Returns what brings files into an exam. `isOwn` tells what ralph itself writes, which stays away. */
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
      // Some of it cannot be read, or is no file.
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
    // Sockets and pipes belong to programs that run.
    if (!stats.isDirectory()) return;
    if (isInstalledFolder(from)) return bringInstalled(from, to, bring);
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) {
      const place = path.join(from, name);
      // The repository of a submodule is the work tree's: git would write there.
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
    // Packages that are kept elsewhere may have links that lead back.
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

/** How many bytes are copied of a file or folder; more than `most` if it is more. */
export function sizeBelow(place: string, most: number): number {
  const stats = lstatSync(place);
  if (!stats.isDirectory()) return stats.isFile() ? stats.size : 0;
  // What is installed finds its own room, piece by piece.
  if (isInstalledFolder(place)) return 0;
  let size = 0;
  try {
    for (const name of readdirSync(place)) {
      size += sizeBelow(path.join(place, name), most - size);
      if (size > most) break;
    }
  } catch {
    // It cannot be read, and is linked.
  }
  return size;
}
