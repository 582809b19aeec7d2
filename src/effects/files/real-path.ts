import { realpathSync } from 'node:fs';
import path from 'node:path';

/** Resolves the links in a path, as far as it exists. */
export function realPath(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    const parent = path.dirname(place);
    return parent === place ? place : path.join(realPath(parent), path.basename(place));
  }
}

/** Whether a folder of the vault is a link out of it; ralph writes nothing through one. */
export function leadsOut(folder: string, vault: string): boolean {
  try {
    const root = realpathSync(vault);
    const real = realpathSync(folder);
    return real !== root && !real.startsWith(`${root}${path.sep}`);
  } catch {
    // It does not exist yet, and will be created as a folder.
    return false;
  }
}

/** Returns a path as it is saved: relative if it lies in the folder, so that the folder may be moved. */
export function nameInside(folder: string, place: string): string {
  return isInside(folder, place) ? path.relative(folder, place) : place;
}

/** Whether a place is in a folder, and not the folder itself. */
export function isInside(folder: string, place: string): boolean {
  const name = path.relative(folder, place);
  return !['', '..'].includes(name) && !name.startsWith(`..${path.sep}`) && !path.isAbsolute(name);
}
