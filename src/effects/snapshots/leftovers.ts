import { rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { tryReadText } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import type { PrivateGit } from '../git/private-git.ts';

/*
 * What a git or a ralph that was killed in the middle of its work leaves behind. Only the driver of a
 * task cleans up, and only what is its own: nobody else works in its folder or creates its refs.
 */

/** Removes what an earlier process left; without a name for the refs, no lock of a ref. */
export function removeLeftovers({ folder, repository }: PrivateGit, refs: string): void {
  for (const name of namesIn(folder)) {
    if (name === 'restore' || /^index-|\.lock$/.test(name)) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }
  removeBeside(folder);
  // Without a name it would be git's own locks.
  if (refs !== '') removeLocks(path.join(repository.commonDir, refs));
}

/** The longest path that is noted. */
const NOTE_MAX_BYTES = 64 * 1024;

/** Where the name of a file is noted that is about to be written beside its place in the work tree. */
export function besideNote(folder: string): string {
  return path.join(folder, 'beside');
}

/** Removes the file that an undo wrote beside its place when it was cut off. */
function removeBeside(folder: string): void {
  const note = besideNote(folder);
  const noted = tryReadText(note, NOTE_MAX_BYTES);
  if (noted === null) return;
  const file = Buffer.from(noted, 'hex');
  if (BESIDE.test(file.toString('latin1'))) {
    try {
      unlinkSync(file);
    } catch {
      // It was renamed to its place, or never written.
    }
  }
  rmSync(note, { force: true });
}

/** How such a file is called. */
const BESIDE = /\.ralph-\d+\.tmp$/;

export function besideName(place: Buffer): Buffer {
  return Buffer.concat([place, Buffer.from(`.ralph-${process.pid}.tmp`)]);
}

function removeLocks(folder: string): void {
  for (const name of namesIn(folder)) {
    if (name.endsWith('.lock')) rmSync(path.join(folder, name), { force: true });
  }
}
