import { createHash } from 'node:crypto';
import { constants, fstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, UsageError } from '../../errors.ts';
import { withRegularFile } from '../bounded-read.ts';
import type { ConfigText } from '../config-search.ts';
import { homeFolder } from '../home-folder.ts';
import { namesIn } from '../names-in.ts';
import { errorCode, makePrivateFolder, removeFile, writeFileAtomic } from '../write-file.ts';
import { distrust } from './owner.ts';

/*
 * What a person has said of configurations that were found: one file for each that is trusted. Its name
 * is a hash of the place and the content of the configuration, so that neither another place nor another
 * content is trusted with it; in it stands the place, for whoever looks.
 *
 *   ~/.config/ralph/trusted/<sha256 of place, NUL, content>
 */

/** Whether a configuration is trusted; `unsafe` where others could have noted that. */
export type TrustStanding =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'untrusted' }
  | { readonly kind: 'unsafe'; readonly why: string };

/** How a configuration of this very place and content stands. Never throws. */
export function trustStanding(config: ConfigText, env: NodeJS.ProcessEnv): TrustStanding {
  const folder = trustFolder(env);
  if (folder === null) return { kind: 'untrusted' };
  const why = unsafeStore(folder);
  if (why !== null) return { kind: 'unsafe', why };
  return { kind: isNote(path.join(folder, noteName(config))) ? 'trusted' : 'untrusted' };
}

/** The first of these places where any content is trusted; null where none is. Never throws. */
export function trustedAmong(places: Iterable<string>, env: NodeJS.ProcessEnv): string | null {
  const folder = trustFolder(env);
  if (folder === null || unsafeStore(folder) !== null) return null;
  try {
    const trusted = new Set(notesIn(folder).map(({ place }) => place));
    // Most users have trusted nothing: then no place is looked at.
    if (trusted.size === 0) return null;
    for (const each of places) if (trusted.has(placeOf(each))) return each;
    return null;
  } catch {
    return null;
  }
}

/** Every note in the folder, and the place that it is about. Throws the system's error. */
function notesIn(folder: string): readonly { readonly note: string; readonly place: string }[] {
  return namesIn(folder)
    .map((name) => path.join(folder, name))
    .filter(isNote)
    .map((note) => ({ note, place: readFileSync(note, 'utf8').replace(/\n$/, '') }));
}

/**
 * Notes that a configuration of this very place and content is trusted. Rejects with a `UsageError` where
 * that cannot be written down, or others could change it.
 */
export async function noteTrust(config: ConfigText, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = neededFolder(env);
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw new UsageError([`Trust cannot be noted in ${folder}: ${messageOf(error)}.`]);
  }
  refuseUnsafe(folder);
  try {
    const note = path.join(folder, noteName(config));
    await writeFileAtomic(note, `${placeOf(config.file)}\n`);
  } catch (error) {
    throw new UsageError([`Trust cannot be noted in ${folder}: ${messageOf(error)}.`]);
  }
}

/**
 * Takes back every trust in the configuration at a place, whatever its content was. Whether there was
 * any. Throws a `UsageError` where it cannot be taken back.
 */
export function revokeTrust(file: string, env: NodeJS.ProcessEnv): boolean {
  const folder = neededFolder(env);
  refuseUnsafe(folder);
  const revoked = placeOf(file);
  try {
    const notes = notesIn(folder).filter(({ place }) => place === revoked);
    for (const { note } of notes) removeFile(note);
    return notes.length > 0;
  } catch (error) {
    throw new UsageError([`Trust cannot be taken back in ${folder}: ${messageOf(error)}.`]);
  }
}

/**
 * A path that is not absolute means nothing there, as the XDG specification has it. Null for a user
 * without a home folder.
 */
function trustFolder(env: NodeJS.ProcessEnv): string | null {
  const own = env.XDG_CONFIG_HOME ?? '';
  const home = homeFolder(env);
  if (path.isAbsolute(own)) return path.join(own, 'ralph', 'trusted');
  return home === null ? null : path.join(home, '.config', 'ralph', 'trusted');
}

function neededFolder(env: NodeJS.ProcessEnv): string {
  const folder = trustFolder(env);
  if (folder !== null) return folder;
  throw new UsageError([
    'Trust is kept in the home folder, and there is none; set HOME or XDG_CONFIG_HOME.',
  ]);
}

function noteName(config: ConfigText): string {
  return createHash('sha256')
    .update(`${placeOf(config.file)}\0${config.text}`)
    .digest('hex');
}

/**
 * Where a configuration is found. A link keeps its own place: what is trusted in one folder must not be
 * in force in another that only points to it.
 */
function placeOf(file: string): string {
  const absolute = path.resolve(file);
  try {
    return path.join(realpathSync(path.dirname(absolute)), path.basename(absolute));
  } catch {
    return absolute;
  }
}

function refuseUnsafe(folder: string): void {
  const why = unsafeStore(folder);
  if (why !== null) throw new UsageError([`No trust is kept where others could write it: ${why}.`]);
}

/** Why others could have put notes into the folder, half a sentence; null where they could not. */
function unsafeStore(folder: string): string | null {
  for (const each of [path.dirname(folder), folder]) {
    const stats = statsOf(each);
    if (stats === null) return null;
    if (stats instanceof Error) return `${each} cannot be looked at (${stats.message})`;
    const why = stats.isDirectory() ? distrust(stats) : 'it is no folder';
    if (why !== null) return `${each}: ${why}`;
  }
  return null;
}

/** Null for what is not there. */
function statsOf(file: string): Stats | Error | null {
  try {
    return statSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Whether a regular file of this user's, or root's, lies there; a link is none. */
function isNote(file: string): boolean {
  try {
    return withRegularFile(
      file,
      constants.O_NOFOLLOW,
      (opened) => distrust(fstatSync(opened)) === null,
    );
  } catch {
    return false;
  }
}
