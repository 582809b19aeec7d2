import { promises } from 'node:fs';
import path from 'node:path';
import { makePrivateFolder, retryBusy, writeFileAtomic } from '../files/write-file.ts';

export interface NoteFile {
  readonly folder: string;
  readonly reason: string;
  readonly taskId: string;
  /** ISO instant. */
  readonly at: string;
  readonly text: string;
}

/** Matches the end of a note's name, or of the temporary file that a killed driver left of a note. */
const REST = /^\d{8}T\d{6}Z\.md(?:\.\d+-[0-9a-f]{8}\.tmp)?$/;

/**
 * Writes `RALPH_<reason>_<task_id>_<timestamp>.md` and removes all other notes of the same task and
 * reason. Resolves to the path of the note. Rejects with the system's error.
 */
export async function writeNote(note: NoteFile): Promise<string> {
  const prefix = `RALPH_${note.reason}_${note.taskId}_`;
  const stamp = note.at.replace(/\.\d+/, '').replace(/[^0-9TZ]/g, '');
  const file = path.join(note.folder, `${prefix}${stamp}.md`);
  await retryBusy(async () => makePrivateFolder(note.folder));
  await writeFileAtomic(file, note.text);
  for (const name of await promises.readdir(note.folder)) {
    const isOlder = name.startsWith(prefix) && REST.test(name.slice(prefix.length));
    if (isOlder && name !== path.basename(file)) {
      await promises.rm(path.join(note.folder, name), { force: true }).catch(() => undefined);
    }
  }
  return file;
}
