import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MB, tryReadText } from './bounded-read.ts';
import { parseObject, stringAt } from './json-fields.ts';
import { realPath } from './real-path.ts';
import { upward } from './upward.ts';

/** A file of ralph itself: the bundle, or this source. */
export const OWN_FILE = realPath(fileURLToPath(import.meta.url));

/** A package that lies in a `node_modules` folder. */
export interface InstalledPackage {
  /** The path of the package in that folder; it may be a symbolic link. */
  readonly place: string;
  readonly version: string;
}

/** Looks for a package in the folders above a file, not in the current folder or NODE_PATH; null if there is none. */
export function installedPackage(name: string, from: string = OWN_FILE): InstalledPackage | null {
  for (const folder of upward(path.dirname(from))) {
    const place = path.join(folder, 'node_modules', name);
    const version = versionIn(place);
    if (version !== null) return { place, version };
  }
  return null;
}

/** Returns the nearest folder above a file that has a `package.json`. */
export function packageFolder(file: string): string {
  const folder = path.dirname(file);
  return upward(folder).find((each) => versionIn(each) !== null) ?? folder;
}

function versionIn(folder: string): string | null {
  const text = tryReadText(path.join(folder, 'package.json'), MB);
  return text === null ? null : stringAt(parseObject(text) ?? {}, 'version');
}
