import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gitFoldersAt } from '../git/git-folders-at.ts';
import { placesInside } from '../git/pathspecs.ts';
import { CLOCK_STEP_MS } from './file-marks.ts';

/** The file in a work tree's git folder that names the task for which ralph made the work tree. */
export const TASK_NOTE = 'ralph/task';

/** In ms. After this time, other work of this process gets a turn. */
const TURN_MS = 20;
/** How many folders are searched, beginning with the nearest. */
const MOST_FOLDERS = 100_000;

/** Folders that are not searched: git's own, and installed packages, which can be most of the folders of a tree. */
const NOT_SEARCHED = new Set(['.git', 'node_modules']);

/** A folder, as it was when it was last read. */
interface ReadFolder {
  readonly sign: string;
  /** The names of its subfolders that are searched, sorted. */
  readonly folders: readonly string[];
  readonly hasGit: boolean;
}

/**
 * Finds the repositories below a folder, even ignored ones, without starting git. The returned function resolves to
 * their absolute paths, the nearest first. It follows no symbolic links, and leaves out `excluded` and the work trees
 * of other tasks. A folder that has not changed since the last call is not read again.
 */
export function repositoryFinder(
  excluded: readonly string[],
): (root: string) => Promise<readonly string[]> {
  let known: ReadonlyMap<string, ReadFolder> = new Map();
  return async (root) => {
    const left = new Set(placesInside(excluded, root));
    const now = new Map<string, ReadFolder>();
    const found: string[] = [];
    const waiting = [root];
    let turn = performance.now();
    // The list grows during this loop.
    for (const folder of waiting) {
      if (performance.now() - turn > TURN_MS) {
        await nextTurn();
        turn = performance.now();
      }
      const read = readFolder(folder, known.get(folder));
      if (read === null) continue;
      now.set(folder, read);
      if (read.hasGit && folder !== root) {
        const [own] = gitFoldersAt(`${folder}/.git`) ?? [];
        if (own !== undefined && existsSync(`${own}/${TASK_NOTE}`)) continue;
        if (own !== undefined && existsSync(`${own}/HEAD`)) found.push(folder);
      }
      for (const name of read.folders) {
        const place = path.join(folder, name);
        if (!left.has(place) && waiting.length < MOST_FOLDERS) waiting.push(place);
      }
    }
    known = now;
    return found;
  };
}

/** Reads a folder, unless it is as `earlier`. Returns null if the folder is gone or cannot be read. */
function readFolder(folder: string, earlier: ReadFolder | undefined): ReadFolder | null {
  try {
    const { ino, ctimeMs } = lstatSync(folder);
    const sign = `${ino} ${ctimeMs}`;
    if (earlier?.sign === sign) return earlier;
    const entries = readdirSync(folder, { withFileTypes: true });
    const isSettled = Date.now() - ctimeMs > CLOCK_STEP_MS;
    return {
      sign: isSettled ? sign : '',
      folders: entries
        .filter((entry) => entry.isDirectory() && !NOT_SEARCHED.has(entry.name))
        .map(({ name }) => name)
        .sort(),
      hasGit: entries.some(({ name }) => name === '.git'),
    };
  } catch {
    return null;
  }
}
