import { createHash } from 'node:crypto';
import { constants, fstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { messageOf, UsageError } from '../../errors.ts';
import { withRegularFile } from '../files/bounded-read.ts';
import { statOf } from '../files/file-kinds.ts';
import { namesIn } from '../files/folder.ts';
import { homeFolder } from '../files/home-folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { makePrivateFolder, removeFile, writeFileAtomic } from '../files/write-file.ts';
import { distrust } from '../trust/owner.ts';
import type { ConfigText } from './config-search.ts';

/*
 * The store has one note for each configuration that the user trusts. The note's name is a hash of
 * the configuration's path and content, so that a copy elsewhere or an edited file is not trusted.
 * The note contains the path.
 *
 *   ~/.config/ralph/trusted/<sha256 of path, NUL, content>
 */

/** Whether a configuration is trusted; `unsafe` if other users could have written the notes. */
export type TrustStanding =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'untrusted' }
  | { readonly kind: 'unsafe'; readonly why: string };

/** Returns whether a configuration with this path and content is trusted. Never throws. */
export function trustStanding(config: ConfigText, env: NodeJS.ProcessEnv): TrustStanding {
  const folder = trustFolder(env);
  if (folder === null) return { kind: 'untrusted' };
  const why = unsafeStore(folder);
  if (why !== null) return { kind: 'unsafe', why };
  return { kind: isNote(path.join(folder, noteName(config))) ? 'trusted' : 'untrusted' };
}

/** Returns the first of these paths for which there is a note, for any content; null if there is none. Never throws. */
export function trustedAmong(places: Iterable<string>, env: NodeJS.ProcessEnv): string | null {
  const folder = trustFolder(env);
  if (folder === null || unsafeStore(folder) !== null) return null;
  const trusted = new Set(ifPossible(() => notesIn(folder))?.map(({ place }) => place));
  // Most users trust no configuration: then no path needs to be resolved.
  if (trusted.size === 0) return null;
  for (const each of places) if (trusted.has(placeOf(each))) return each;
  return null;
}

/** Returns every note in the folder with the path that it contains. Throws the system's error. */
function notesIn(folder: string): readonly { readonly note: string; readonly place: string }[] {
  return namesIn(folder)
    .map((name) => path.join(folder, name))
    .filter(isNote)
    .map((note) => ({ note, place: readFileSync(note, 'utf8').replace(/\n$/, '') }));
}

/** Records that a configuration with this path and content is trusted. Rejects with a `UsageError` if it cannot. */
export async function noteTrust(config: ConfigText, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = neededFolder(env);
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw new UsageError([`Cannot record trust in ${folder}: ${messageOf(error)}.`]);
  }
  refuseUnsafe(folder);
  try {
    const note = path.join(folder, noteName(config));
    await writeFileAtomic(note, `${placeOf(config.file)}\n`);
  } catch (error) {
    throw new UsageError([`Cannot record trust in ${folder}: ${messageOf(error)}.`]);
  }
}

/** Removes all notes for a configuration's path. Returns whether there were any. Throws a `UsageError` if it cannot. */
export function revokeTrust(file: string, env: NodeJS.ProcessEnv): boolean {
  const folder = neededFolder(env);
  refuseUnsafe(folder);
  const revoked = placeOf(file);
  try {
    const notes = notesIn(folder).filter(({ place }) => place === revoked);
    for (const { note } of notes) removeFile(note);
    return notes.length > 0;
  } catch (error) {
    throw new UsageError([`Cannot revoke trust in ${folder}: ${messageOf(error)}.`]);
  }
}

/** Returns the folder of the notes; null without a home folder. XDG requires that a relative path be ignored. */
export function trustFolder(env: NodeJS.ProcessEnv): string | null {
  const own = env.XDG_CONFIG_HOME ?? '';
  const home = homeFolder(env);
  if (path.isAbsolute(own)) return path.join(own, 'ralph', 'trusted');
  return home === null ? null : path.join(home, '.config', 'ralph', 'trusted');
}

function neededFolder(env: NodeJS.ProcessEnv): string {
  const folder = trustFolder(env);
  if (folder !== null) return folder;
  throw new UsageError([
    'Trust is recorded in the home folder, and there is none; set HOME or XDG_CONFIG_HOME.',
  ]);
}

function noteName(config: ConfigText): string {
  return createHash('sha256')
    .update(`${placeOf(config.file)}\0${config.text}`)
    .digest('hex');
}

/** Returns the path that identifies a configuration. A symbolic link to the file needs a trust of its own. */
function placeOf(file: string): string {
  const absolute = path.resolve(file);
  const folder = ifPossible(() => realpathSync(path.dirname(absolute)));
  return folder === null ? absolute : path.join(folder, path.basename(absolute));
}

function refuseUnsafe(folder: string): void {
  const why = unsafeStore(folder);
  if (why !== null) throw new UsageError([`Cannot record trust where others could write: ${why}.`]);
}

/** Returns why other users could have written notes, as a clause; null if they could not, or if there are none yet. */
function unsafeStore(folder: string): string | null {
  for (const each of [path.dirname(folder), folder]) {
    const stats = statOf(each);
    if (stats === null) return null;
    const why = stats.isDirectory() ? distrust(stats) : 'it is not a folder';
    if (why !== null) return `${each}: ${why}`;
  }
  return null;
}

/** Whether the file is regular, not a symbolic link, and only this user or root could have written it. */
function isNote(file: string): boolean {
  const isSafe = (opened: number): boolean => distrust(fstatSync(opened)) === null;
  return ifPossible(() => withRegularFile(file, constants.O_NOFOLLOW, isSafe)) ?? false;
}
