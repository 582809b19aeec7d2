import path from 'node:path';
import { tryReadText } from '../../files/bounded-read.ts';
import { removeFile, writeFileAtomic } from '../../files/write-file.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { SnapshotStore } from '../snapshot-store.ts';

/*
 * A note says that an undo is under way, and which snapshot was the newest before it. The note is removed once all of
 * the undo is done: later changes are the user's, even if they restore what was there before the undo.
 */

type Newest = SnapshotStore['newest'];

const NOTE_MAX_BYTES = 1_000;

function noteIn({ folder }: PrivateGit): string {
  return path.join(folder, 'undo-begun');
}

/** Notes that an undo begins. `newest` is the snapshot before it. Rejects with the system's error. */
export async function noteUndo(git: PrivateGit, newest: Newest): Promise<void> {
  // If an earlier undo was cut off, its note stays until the new undo has made its snapshot.
  if (isUndoCutOff(git, newest)) return;
  await writeFileAtomic(noteIn(git), newest?.commit ?? '');
}

/** Whether the undo that made the snapshot `newest` may have been cut off. */
export function isUndoCutOff(git: PrivateGit, newest: Pick<NonNullable<Newest>, 'commit'> | null) {
  const noted = tryReadText(noteIn(git), NOTE_MAX_BYTES);
  // Before an undo has made its snapshot, it has changed nothing.
  return noted !== null && noted !== newest?.commit;
}

/** Removes the note, since nothing of the undo is left to do. */
export function endUndo(git: PrivateGit): void {
  removeFile(noteIn(git));
}
