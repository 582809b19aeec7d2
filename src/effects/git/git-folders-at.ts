import path from 'node:path';
import { KB, tryReadText } from '../files/bounded-read.ts';
import { statOf } from '../files/file-kinds.ts';

/** A path and nothing else: git takes a line break in the middle for a part of the path. */
const LINK = /^gitdir: ([^\r\n]+)[\r\n]*$/;
const SHARED = /^([^\r\n]+)[\r\n]*$/;

/**
 * Returns the folder of git to which a `.git` leads, whether it is that folder or a file that names it, and then the
 * one that it shares with other work trees, if there is one. Null if that cannot be told for sure.
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

/** Not normalized: of `link/..` only the system knows what it means, and git asks the system. */
function named(folder: string, file: string, form: RegExp): string | null {
  const target = form.exec(tryReadText(file, 64 * KB) ?? '')?.[1];
  if (target === undefined) return null;
  return path.isAbsolute(target) ? target : `${folder}/${target}`;
}
