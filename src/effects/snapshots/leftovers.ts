import { rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { tryReadText } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import type { PrivateGit } from '../git/private-git.ts';

/*
 * Removes what killed processes of git and ralph leave behind. Only the process that runs a task cleans up, and only
 * the task's own files: no other process works in the task's folder or creates its refs.
 */

/** Removes what an earlier process left. If `refs` is empty, removes no locks of refs. */
export function removeLeftovers({ folder, repository }: PrivateGit, refs: string): void {
  for (const name of namesIn(folder)) {
    if (name === 'restore' || /^index-|\.lock$/.test(name)) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }
  removeBeside(folder);
  // With an empty `refs`, this would remove git's own locks.
  if (refs !== '') removeLocks(path.join(repository.commonDir, refs));
}

/** In bytes; the longest note that is read. */
const NOTE_MAX_BYTES = 64 * 1024;

/** Returns the path of a note. The note names a file that is about to be written next to its place in the work tree. */
export function besideNote(folder: string): string {
  return path.join(folder, 'beside');
}

/** Removes the file that an undo was writing next to its place when it was cut off. */
function removeBeside(folder: string): void {
  const note = besideNote(folder);
  const noted = tryReadText(note, NOTE_MAX_BYTES);
  if (noted === null) return;
  const file = Buffer.from(noted, 'hex');
  if (BESIDE.test(file.toString('latin1'))) {
    try {
      unlinkSync(file);
    } catch {
      // The file was already moved to its place, or never written.
    }
  }
  rmSync(note, { force: true });
}

/** Matches the names that `besideName` returns. */
const BESIDE = /\.ralph-\d+\.tmp$/;

export function besideName(place: Buffer): Buffer {
  return Buffer.concat([place, Buffer.from(`.ralph-${process.pid}.tmp`)]);
}

function removeLocks(folder: string): void {
  for (const name of namesIn(folder)) {
    if (name.endsWith('.lock')) rmSync(path.join(folder, name), { force: true });
  }
}
