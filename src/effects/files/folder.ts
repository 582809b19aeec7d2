import { readdirSync } from 'node:fs';
import { ifPossible } from './if-possible.ts';

/** Returns the names in a folder, unsorted; empty if it cannot be read. Never throws. */
export function namesIn(folder: string): readonly string[] {
  return ifPossible(() => readdirSync(folder)) ?? [];
}

/** Returns the sorted names of the regular files in a folder (no symbolic links); empty if it cannot be read. */
export function fileNamesIn(folder: string): readonly string[] {
  const entries = ifPossible(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
}
