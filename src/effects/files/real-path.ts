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
