import { lstatSync, type PathLike, type Stats, statSync } from 'node:fs';
import { ifPossible } from './if-possible.ts';

/** Returns what the system says of what a path leads to; null if that is not there, or cannot be looked at. */
export function statOf(place: PathLike): Stats | null {
  return ifPossible(() => statSync(place));
}

/** The same of the path itself, also if it is a link. */
export function lstatOf(place: PathLike): Stats | null {
  return ifPossible(() => lstatSync(place));
}

/** Whether a path leads to a regular file; no, if it cannot be looked at. */
export function isFile(place: PathLike): boolean {
  return statOf(place)?.isFile() ?? false;
}

/** Whether a path leads to a folder; no, if it cannot be looked at. */
export function isFolder(place: PathLike): boolean {
  return statOf(place)?.isDirectory() ?? false;
}

/** Whether something has this path, be it a link that leads nowhere. Throws the system's error if that is hidden. */
export function isThere(place: PathLike): boolean {
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}
