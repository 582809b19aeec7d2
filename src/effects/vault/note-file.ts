import { existsSync, promises } from 'node:fs';
import path from 'node:path';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { sha256Of } from '../files/file-hash.ts';
import { isSamePlace } from '../files/real-path.ts';
import { makePrivateFolder, retryBusy, tryToRemove, writeFileAtomic } from '../files/write-file.ts';
import { readFrontMatterFields } from './front-matter-fields.ts';
import { openNotes } from './open-notes.ts';
import { splitFrontMatter } from './task-file.ts';

export interface NoteFile {
  readonly folder: string;
  readonly reason: string;
  readonly taskId: string;
  /** The time of the note, as an ISO instant. */
  readonly at: string;
  readonly text: string;
}

/** Matches the end of the name of a note, or of a note's temporary file that a killed process left. */
const REST = /^\d{8}T\d{6}Z\.md(?:\.\d+-[0-9a-f]{8}\.tmp)?$/;

/**
 * Writes `RALPH_<reason>_<task_id>_<timestamp>.md` and removes the other notes of the same task and
 * reason, except those that a person has changed. Resolves to the path of the note. Rejects with the system's error.
 */
export async function writeNote(note: NoteFile): Promise<string> {
  const prefix = `RALPH_${note.reason}_${note.taskId}_`;
  const stamp = note.at.replace(/\.\d+/, '').replace(/[^0-9TZ]/g, '');
  const file = path.join(note.folder, `${prefix}${stamp}.md`);
  await retryBusy(async () => makePrivateFolder(note.folder));
  await writeFileAtomic(file, withSum(note.text));
  for (const name of await promises.readdir(note.folder)) {
    const isOlder = name.startsWith(prefix) && REST.test(name.slice(prefix.length));
    const older = path.join(note.folder, name);
    if (isOlder && older !== file && !isChanged(older)) tryToRemove(older);
  }
  return file;
}

/** A task whose notes are to be removed. */
interface NotedTask {
  readonly vault: string;
  readonly taskId: string;
  /** The path of the task's state file while the task is open. */
  readonly stateFile: string;
}

/**
 * Removes the notes of a task, except those that a person has changed. Ignores errors: a remaining note does no harm.
 */
export function removeNotesOf({ vault, taskId, stateFile }: NotedTask): void {
  for (const note of openNotes(vault)) {
    if (note.taskId !== taskId || note.reason === 'BLOCKED') continue;
    const text = tryReadText(note.file, MB);
    if (text !== null && isUnchanged(text) && isAbout(text, stateFile)) tryToRemove(note.file);
  }
}

/** Whether a note is about the task of this state file. A note's state folder may be gone, if the vault has moved. */
function isAbout(text: string, stateFile: string): boolean {
  const front = readFrontMatterFields(splitFrontMatter(text).frontMatter ?? '');
  const fields = new Map('fields' in front ? front.fields : []);
  const { base, name, dir } = path.parse(stateFile);
  const folder = fields.get('state_dir');
  const place = folder === undefined ? fields.get('state_file') : path.join(String(folder), base);
  if (typeof place !== 'string') return false;
  const placeDir = path.dirname(place);
  return (
    fields.get('task_id') === name &&
    path.basename(place) === base &&
    (isSamePlace(placeDir, dir) || !existsSync(placeDir))
  );
}

/** The last line of the front matter: the hash of the note without this line. */
const SUM = /^sum: "([0-9a-f]{64})"\n(?=---$)/m;

/** Returns a note with a checksum, which shows whether the note was changed later. */
function withSum(text: string): string {
  const { frontMatter } = splitFrontMatter(text);
  if (frontMatter === null) return text;
  return text.replace(/\n(?=---$)/m, () => `\nsum: "${sha256Of(text)}"\n`);
}

/** Whether a person may have changed a note, which includes an unreadable one. A half-written note is ralph's own. */
function isChanged(file: string): boolean {
  if (file.endsWith('.tmp')) return false;
  const text = tryReadText(file, MB);
  return text === null || !isUnchanged(text);
}

function isUnchanged(text: string): boolean {
  return SUM.exec(text)?.[1] === sha256Of(text.replace(SUM, ''));
}

/** Returns a note without the parts that differ each time it is written. */
export function noteContent(text: string): string {
  return text.replace(SUM, '').replace(/^created: .*$/m, '');
}
