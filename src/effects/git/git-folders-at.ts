import path from 'node:path';
import { KB, tryReadText } from '../files/bounded-read.ts';
import { statOf } from '../files/file-kinds.ts';

/** Matches a file with a single path. Git would take a line break in the middle for a part of the path. */
const LINK = /^gitdir: ([^\r\n]+)[\r\n]*$/;
const SHARED = /^([^\r\n]+)[\r\n]*$/;

/**
 * Returns the git folder to which a `.git` leads: the `.git` itself, or the folder that it names if it is a file. In a
 * linked work tree, the git folder that all work trees of the repository share comes second. Null if the folders cannot
 * be told for sure.
 */
export function gitFoldersAt(place: string): readonly string[] | null {
  const stats = statOf(place);
  if (stats === null) return null;
  const own = stats.isDirectory() ? place : named(path.dirname(place), place, LINK);
  if (own === null || statOf(own)?.isDirectory() !== true) return null;
  const note = `${own}/commondir`;
  if (statOf(note) === null) return [own];
  const shared = named(own, note, SHARED);
  return shared === null ? null : [own, shared];
}

/** Returns the path that a file names. It is not normalized: only the system knows where `link/..` leads. */
function named(folder: string, file: string, form: RegExp): string | null {
  const target = form.exec(tryReadText(file, 64 * KB) ?? '')?.[1];
  if (target === undefined) return null;
  return path.isAbsolute(target) ? target : `${folder}/${target}`;
}
