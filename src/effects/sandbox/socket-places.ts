import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAtOrBelow } from '../../core/sandbox/places.ts';
import { realPath } from '../files/real-path.ts';
import { isRunFolder, meetingPlace, type RunFolder } from './run-folder.ts';

/**
 * Returns the sockets in the temporary folders of the system, and the folders there with sockets: behind them are
 * programs of the user such as tmux, an agent of ssh, or the proxies of another sandbox. Those with something in
 * `shown`, and the folder of this run, are left out.
 */
export function socketPlaces(run: RunFolder, shown: readonly string[]): readonly string[] {
  const folders = [...new Set([meetingPlace(), realPath(tmpdir())])];
  return folders
    .flatMap((folder) => placesIn(folder))
    .filter((place) => ![run.path, ...shown].some((each) => isAtOrBelow(each, place)));
}

function placesIn(folder: string): readonly string[] {
  return entriesIn(folder)
    .filter((entry) => entry.isSocket() || (entry.isDirectory() && hasSockets(folder, entry.name)))
    .map(({ name }) => path.join(folder, name));
}

function hasSockets(folder: string, name: string): boolean {
  return isRunFolder(name) || entriesIn(path.join(folder, name)).some((entry) => entry.isSocket());
}

/** Folders of other users cannot be read, from the inside as well. */
function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
