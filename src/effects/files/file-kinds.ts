import { lstatSync, type PathLike, type Stats, statSync } from 'node:fs';
import { ifPossible } from './if-possible.ts';

/** Returns the facts about what a path leads to; null if there is nothing, or if it cannot be examined. */
export function statOf(place: PathLike): Stats | null {
  return ifPossible(() => statSync(place));
}

/** Returns the facts about the path itself, even if it is a symbolic link; null as for `statOf`. */
export function lstatOf(place: PathLike): Stats | null {
  return ifPossible(() => lstatSync(place));
}

/** Whether a path leads to a regular file; false if it cannot be examined. */
export function isFile(place: PathLike): boolean {
  return statOf(place)?.isFile() ?? false;
}

/** Whether a path leads to a folder; false if it cannot be examined. */
export function isFolder(place: PathLike): boolean {
  return statOf(place)?.isDirectory() ?? false;
}

/** Whether something has this path, even a dangling symbolic link. Throws the system's error if this is unknown. */
export function isThere(place: PathLike): boolean {
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
}
