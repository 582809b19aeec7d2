import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { ifPossible } from './if-possible.ts';

/** Returns the names in a folder, unsorted; empty if it cannot be read. Never throws. */
export function namesIn(folder: string): readonly string[] {
  return ifPossible(() => readdirSync(folder)) ?? [];
}

/** Returns the sorted names of the regular files in a folder, without links and pipes; empty if it cannot be read. */
export function fileNamesIn(folder: string): readonly string[] {
  const entries = ifPossible(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
}

/**
 * Calls `onEvent` when something changes in a folder. Returns null if the folder is missing or cannot be watched, such
 * as one on a network, so the caller has to poll as well. Does not keep the process alive.
 */
export function watchFolder(
  folder: string,
  onEvent: () => void,
  onError: () => void = () => {},
): FSWatcher | null {
  return ifPossible(() => watch(folder, { persistent: false }, onEvent).on('error', onError));
}
