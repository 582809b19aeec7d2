import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAtOrBelow, isWithinAny } from '../../core/sandbox/places.ts';
import { realPath } from '../files/real-path.ts';
import { isRunFolder, meetingPlace, otherRunFolders, type RunFolder } from './run-folder.ts';

/** Programs put their sockets no deeper, such as /tmp/podman-run-1000/podman/podman.sock. */
const LEVELS = 3;
/** How many folders below the first level are looked into: somebody may build whole projects in /tmp. */
const FOLDERS_AT_MOST = 1_000;

/**
 * Returns the sockets in the temporary folders of the system, and the folders there with sockets: behind them are
 * programs of the user such as tmux, an agent of ssh, or the proxies of another sandbox, whose folder may also be
 * elsewhere. What is `shown`, and the folder of this run, are left out; of a folder with something of these in
 * it, the sockets themselves are returned.
 */
export function socketPlaces(run: RunFolder, shown: readonly string[]): readonly string[] {
  const ofOthers = otherRunFolders(run).map(({ folder }) => folder.path);
  const open = [run.path, ...shown];
  const places = [meetingPlace(), realPath(tmpdir())].flatMap((folder) => placesIn(folder, open));
  const hidden = ofOthers.filter((place) => !open.some((each) => isAtOrBelow(each, place)));
  return [...new Set([...places, ...hidden])];
}

/** Level by level, so that the bound leaves out the deepest folders. */
function placesIn(top: string, shown: readonly string[]): readonly string[] {
  // Whoever shows all of the temporary folder means files.
  const open = shown.filter((each) => each !== top && isAtOrBelow(each, top));
  const found: string[] = [];
  let folders: readonly string[] = [top];
  let left = FOLDERS_AT_MOST;
  for (let level = 0; level <= LEVELS; level += 1) {
    const next: string[] = [];
    for (const folder of folders) {
      const entries = entriesIn(folder);
      const sockets = entries.filter((entry) => entry.isSocket());
      const isOpen = folder === top || open.some((each) => isAtOrBelow(each, folder));
      if (!isOpen && (sockets.length > 0 || isRunFolder(path.basename(folder)))) {
        found.push(folder);
        continue;
      }
      const below = entries.filter((entry) => entry.isDirectory());
      found.push(...sockets.map(({ name }) => path.join(folder, name)));
      next.push(...below.map(({ name }) => path.join(folder, name)));
    }
    const unseen = next.filter((place) => !isWithinAny(place, open));
    folders = level === 0 ? unseen : unseen.slice(0, left);
    left -= level === 0 ? 0 : folders.length;
  }
  return found.filter((place) => !isWithinAny(place, open));
}

/** Folders of other users cannot be read, from the inside as well. */
function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
