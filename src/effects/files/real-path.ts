import { realpathSync } from 'node:fs';
import path from 'node:path';
import { ifPossible } from './if-possible.ts';

/** Returns a path with its symbolic links resolved, as far as the path exists. */
export function realPath(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    const parent = path.dirname(place);
    return parent === place ? place : path.join(realPath(parent), path.basename(place));
  }
}

/** Whether both paths lead to the same file or folder; false if one does not exist. */
export function isSamePlace(one: string, other: string): boolean {
  return ifPossible(() => realpathSync(one) === realpathSync(other)) ?? false;
}

/** Whether `folder`, whose path is below the folder `vault`, leads out of it by a symbolic link; false if missing. */
export function leadsOut(folder: string, vault: string): boolean {
  try {
    const root = realpathSync(vault);
    const real = realpathSync(folder);
    return real !== root && !real.startsWith(`${root}${path.sep}`);
  } catch {
    // The folder does not exist yet, and will be created as a real one.
    return false;
  }
}

/** Returns a path as it is stored: relative if it lies in the folder, so that the folder can be moved. */
export function nameInside(folder: string, place: string): string {
  return isInside(folder, place) ? path.relative(folder, place) : place;
}

/** Whether a path lies in a folder; false for the folder itself. */
export function isInside(folder: string, place: string): boolean {
  const name = path.relative(folder, place);
  return !['', '..'].includes(name) && !name.startsWith(`..${path.sep}`) && !path.isAbsolute(name);
}
