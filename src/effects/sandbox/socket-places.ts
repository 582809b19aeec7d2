import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAtOrBelow, isWithinAny } from '../../core/sandbox/places.ts';
import { realPath } from '../files/real-path.ts';
import { isRunFolder, meetingPlace, otherRunFolders, type RunFolder } from './run-folder.ts';

/** Programs put their sockets no deeper, such as /tmp/podman-run-1000/podman/podman.sock. */
const LEVELS = 3;
/** How many folders below each folder of the first level are looked into: somebody may build projects in /tmp. */
const FOLDERS_IN_EACH = 100;

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

function placesIn(top: string, shown: readonly string[]): readonly string[] {
  // Whoever shows all of the temporary folder means files.
  const open = shown.filter((each) => each !== top && isAtOrBelow(each, top));
  const isOpen = (place: string): boolean => isWithinAny(place, open);
  const { found, below } = lookInto(top, open, true);
  const deeper = below.filter((each) => !isOpen(each)).flatMap((each) => placesBelow(each, open));
  return [...found, ...deeper].filter((place) => !isOpen(place));
}

/** Level by level, so that the bound leaves out the deepest folders. */
function placesBelow(first: string, open: readonly string[]): readonly string[] {
  const places: string[] = [];
  let folders: readonly string[] = [first];
  let left = FOLDERS_IN_EACH;
  for (let level = 1; level <= LEVELS; level += 1) {
    const seen = folders.map((folder) => lookInto(folder, open, false));
    places.push(...seen.flatMap(({ found }) => found));
    const next = seen.flatMap(({ below }) => below).filter((each) => !isWithinAny(each, open));
    folders = next.slice(0, left);
    left -= folders.length;
  }
  return places;
}

/** What one folder holds: `found` is the folder itself if all of it may be hidden, and then nothing is below. */
function lookInto(
  folder: string,
  open: readonly string[],
  isTop: boolean,
): { readonly found: readonly string[]; readonly below: readonly string[] } {
  const entries = entriesIn(folder);
  const sockets = entries.filter((entry) => entry.isSocket());
  const mayHide = !isTop && !open.some((each) => isAtOrBelow(each, folder));
  if (mayHide && (sockets.length > 0 || isRunFolder(path.basename(folder)))) {
    return { found: [folder], below: [] };
  }
  const pathOf = ({ name }: { readonly name: string }): string => path.join(folder, name);
  return {
    found: sockets.map(pathOf),
    below: entries.filter((entry) => entry.isDirectory()).map(pathOf),
  };
}

/** Folders of other users cannot be read, from the inside as well. */
function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
