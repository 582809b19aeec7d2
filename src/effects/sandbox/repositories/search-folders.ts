import { type Dirent, opendirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { holdsSuchNames, runsByItself } from '../../../core/sandbox/fixed-names.ts';
import { isAtOrBelow } from '../../../core/sandbox/places.ts';
import { signOfContent } from '../../files/file-hash.ts';
import { errorCode } from '../../files/write-file.ts';
import { asText } from '../../git/tree-path.ts';

/** A `.git` or a folder of git, a file that other programs run because of its name, or an unreadable folder. */
export interface FoundPlace {
  readonly kind: 'git' | 'name' | 'unread';
  /** A text that changes when something else is at this path. */
  readonly sign: string;
}

/** What a search found, by path. */
export type FoundPlaces = ReadonlyMap<string, FoundPlace>;

/** What a search leaves out. */
export interface SearchLimits {
  /** Folders that are read-only inside the sandbox. They are not searched. */
  readonly held: ReadonlySet<string>;
  /** The known git folders. A new folder in them that `git worktree add` made is not reported. */
  readonly gitFolders: ReadonlySet<string>;
}

const TIMEOUT_MS = 60_000;
/** After this time, other work of this process has its turn. */
const TURN_MS = 20;
/** The limit for folders to search and places found together: an agent can make any number of them. */
const MOST = 1_000_000;

/**
 * Searches folders for repositories and dangerous names (those of files that programs run by themselves), even where
 * git ignores them. Follows no symbolic links, and skips missing folders. Rejects if it takes more than a minute, or
 * reaches `MOST`.
 */
export async function searchFolders(
  roots: readonly string[],
  limits: SearchLimits,
): Promise<FoundPlaces> {
  const outer = roots.filter(
    (root) => !roots.some((other) => other !== root && isAtOrBelow(root, other)),
  );
  const found = new Map<string, FoundPlace>();
  const until = performance.now() + TIMEOUT_MS;
  for (const root of new Set(outer)) {
    // One character for each byte, so that a name that is no valid UTF-8 can be opened, too.
    const waiting = [Buffer.from(root).toString('latin1')];
    let turn = performance.now();
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const now = performance.now();
      if (now > until) throw new Error('it takes more than a minute');
      if (now - turn > TURN_MS) {
        await nextTurn();
        turn = performance.now();
      }
      try {
        lookInto(folder, { waiting, found, limits });
      } catch (error) {
        if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) continue;
        if (errorCode(error) === '') throw error;
        found.set(asText(folder), { kind: 'unread', sign: 'unread' });
      }
    }
  }
  return found;
}

interface Search {
  /** Folders, with one character for each byte. */
  readonly waiting: string[];
  readonly found: Map<string, FoundPlace>;
  readonly limits: SearchLimits;
}

function lookInto(folder: string, { waiting, found, limits }: Search): void {
  const parts = new Set<string>();
  // The files in a folder with a dangerous name may be run as well, whatever their own names are.
  const isNamed = found.get(asText(folder))?.kind === 'name';
  const parent = path.basename(folder);
  const note = (entry: Dirent, kind: FoundPlace['kind'], sign: string): void => {
    found.set(asText(`${folder}/${entry.name}`), { kind, sign });
  };
  const listing = opendirSync(Buffer.from(folder, 'latin1'), {
    encoding: 'latin1',
    bufferSize: 1_024,
  });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
      const { name } = entry;
      if (PARTS_OF_GIT.includes(name)) parts.add(name);
      // Some file systems do not distinguish capitals from small letters.
      if (name.toLowerCase() === '.git') note(entry, 'git', entry.isDirectory() ? '' : 'no folder');
      const place = `${folder}/${name}`;
      if (!isOfPackages(folder) && (isNamed || isDangerous(entry, parent))) {
        note(entry, 'name', signOf(entry, place));
      }
      if (entry.isDirectory() && !limits.held.has(asText(place))) waiting.push(place);
      if (waiting.length + found.size > MOST) throw new Error('it has too many folders');
    }
  } finally {
    listing.closeSync();
  }
  noteRepository(asText(folder), parts, found, limits);
}

/** Names by which git recognises a repository, whether they are files, folders or links. */
export const PARTS_OF_GIT: readonly string[] = ['HEAD', 'objects', 'refs', 'commondir'];

function noteRepository(
  folder: string,
  parts: ReadonlySet<string>,
  found: Map<string, FoundPlace>,
  { gitFolders }: SearchLimits,
): void {
  if (path.basename(folder).toLowerCase() === '.git') {
    // If one of these is missing, git looks for a repository further up. The sandbox itself makes a `commondir`.
    const sign = PARTS_OF_GIT.slice(0, 3).filter((name) => parts.has(name));
    found.set(folder, { kind: 'git', sign: sign.join(' ') });
  } else if (isRepository(parts)) {
    const parent = path.dirname(folder);
    const isKnown = path.basename(parent) === 'worktrees' && gitFolders.has(path.dirname(parent));
    if (!isKnown) found.set(folder, { kind: 'git', sign: 'repository' });
  }
}

/** Whether git takes a folder for a repository. It does not take a `logs` folder, which has only `HEAD` and `refs`. */
function isRepository(parts: ReadonlySet<string>): boolean {
  const isWhole = parts.has('objects') && parts.has('refs');
  return parts.has('HEAD') && (isWhole || parts.has('commondir'));
}

/** Whether an entry may be run because of its name. A link counts if its name is one for a folder of such files. */
function isDangerous(entry: Dirent, parent: string): boolean {
  const { name } = entry;
  return runsByItself(name, parent) || (entry.isSymbolicLink() && holdsSuchNames(name));
}

/** Returns a text that changes when a program would run something else at this path. */
function signOf(entry: Dirent, latin1: string): string {
  const place = Buffer.from(latin1, 'latin1');
  try {
    if (entry.isSymbolicLink()) return `link ${readlinkSync(place, 'latin1')} ${signOfFile(place)}`;
    if (!entry.isFile()) return entry.isDirectory() ? 'folder' : 'other';
    return signOfFile(place);
  } catch {
    return 'unread';
  }
}

/** Returns a text for a file's content and right to be run; '' if there is no file. Follows a link, as programs do. */
function signOfFile(place: Buffer): string {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return '';
  return `${(stats.mode & 0o111) !== 0} ${signOfContent(place)}`;
}

/** Whether a folder is in an installed package: many have dangerous names, but nobody opens them as projects. */
function isOfPackages(folder: string): boolean {
  return folder.includes('/node_modules/') || folder.endsWith('/node_modules');
}
