import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import type { GitFolder } from '../../../core/sandbox/default-rules.ts';
import { isAtOrBelow, isWithinAny } from '../../../core/sandbox/places.ts';
import type { SandboxRules } from '../../../core/sandbox/rules.ts';
import { ifPossible } from '../../files/if-possible.ts';
import { realPath } from '../../files/real-path.ts';
import { errorCode } from '../../files/write-file.ts';
import { asText, asTreePath } from '../../git/tree-path.ts';

/*
 * Git writes through symbolic links in its folder: if `.git/logs/HEAD` leads to `~/.bashrc`, the next commit outside
 * appends its message there. Git itself makes no links except for `HEAD`, and only if it is told to.
 */

/** The places where links are searched, as absolute paths. */
export interface GitPlaces {
  /** Folders of git that the agent may write to. */
  readonly folders: readonly string[];
  /** Places that are read-only inside the sandbox, such as the hooks. They are not searched. */
  readonly held: ReadonlySet<string>;
}

/** Returns the folders of git that the agent may write to. */
export function gitPlaces(
  folders: readonly GitFolder[],
  { allowWrite, denyWrite }: SandboxRules,
): GitPlaces {
  const writable = allowWrite.map((rule) => rule.value);
  return {
    folders: folders.map((each) => each.path).filter((place) => isWithinAny(place, writable)),
    held: new Set(denyWrite.map((rule) => rule.value)),
  };
}

/** Watches for new links in folders of git, and removes them; links that exist now stay. */
export function watchGitLinks(places: GitPlaces) {
  const known = linksIn(places, false);
  let told: string[] = [];
  const sweep = (): void => {
    for (const [place, target] of linksIn(places, true)) {
      if (known.get(place) === target || isOfOthers(place, target, places)) continue;
      const end = isRemoved(place) ? 'removed' : 'it could not be removed';
      told.push(`${asText(place)} (a link to ${asText(target)}; ${end})`);
    }
  };
  return {
    sweep,
    /** Removes new links. Returns one text for each new link since the last `take`. */
    take(): readonly string[] {
      sweep();
      const all = told;
      told = [];
      return all;
    },
  };
}

/** Returns a link, with its target, by which git would write where the agent may not; null if there is none. */
export function findLeadingOut(places: GitPlaces) {
  for (const [bytes, text] of linksIn(places, false)) {
    const place = asText(bytes);
    if (isOfOthers(bytes, text, places) || ONLY_READ.some((name) => place.endsWith(name))) continue;
    const target = realPath(path.resolve(path.dirname(place), asText(text)));
    const isWithin = isWithinAny(target, places.folders) && !isWithinAny(target, [...places.held]);
    if (!isWithin) return { place, target };
  }
  return null;
}

/** Some users link these files to another place. Git never writes to them. */
const ONLY_READ = ['/info/exclude', '/info/attributes'];

/**
 * Whether a link comes from another program: the `HEAD` of an old git, or the lock of an editor beside an open file,
 * which leads to a name that does not exist.
 */
function isOfOthers(place: string, target: string, { folders }: GitPlaces): boolean {
  const [folder, name] = [path.posix.dirname(place), path.posix.basename(place)];
  if (name === 'HEAD' && folders.some((each) => asTreePath(each) === folder)) {
    return /^refs\/heads(?:\/(?!\.)[^/\n]+)+$/.test(target);
  }
  return name.startsWith('.#') && !target.includes('/') && !isThere(`${folder}/${target}`);
}

function isThere(place: string): boolean {
  return lstatSync(toPath(place), { throwIfNoEntry: false }) !== undefined;
}

/** Returns all links with their targets. If `opens`, first restores the right to read folders that have lost it. */
function linksIn({ folders, held }: GitPlaces, opens: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const outer = folders.filter(
    (folder) => !folders.some((other) => other !== folder && isAtOrBelow(folder, other)),
  );
  const waiting = [...new Set(outer)].map(asTreePath);
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder, opens)) {
      const place = `${folder}/${entry.name}`;
      if (held.has(asText(place))) continue;
      if (entry.isSymbolicLink()) found.set(place, targetOf(place));
      else if (entry.isDirectory()) waiting.push(place);
    }
  }
  return found;
}

/** Lists a folder. If `opens`, restores the right to read it: without this right, git would still write there. */
function entriesOf(folder: string, opens: boolean): readonly Dirent[] {
  try {
    return readdirSync(toPath(folder), { withFileTypes: true, encoding: 'latin1' });
  } catch (error) {
    if (!opens || errorCode(error) !== 'EACCES' || !openUp(folder)) return [];
    return entriesOf(folder, false);
  }
}

function targetOf(place: string): string {
  return ifPossible(() => readlinkSync(toPath(place), 'latin1')) ?? '';
}

/** Removes a link, even from a folder to which its owner no longer has a right. Returns whether that worked. */
function isRemoved(place: string): boolean {
  const [folder, name] = [path.posix.dirname(place), path.posix.basename(place)];
  return withFolder(folder, (own, mode) => {
    const link = toPath(`${own}/${name}`);
    if ((mode & 0o300) !== 0o300) chmodSync(own, mode | 0o700);
    // Something else may have replaced the link meanwhile.
    if (lstatSync(link).isSymbolicLink()) unlinkSync(link);
  });
}

/** Gives the owner all rights to a folder; false if another user owns it. */
function openUp(folder: string): boolean {
  return withFolder(folder, (own, mode) => chmodSync(own, mode | 0o700));
}

/** The flag that opens a folder without the right to read it. Only Linux has it, and Node has no name for it. */
const O_PATH = 0o10000000;

/**
 * Calls `work` with a path that leads to this folder even if an agent replaces it meanwhile. Returns false if the
 * folder is gone or replaced already, or if `work` throws.
 */
function withFolder(folder: string, work: (own: string, mode: number) => void): boolean {
  let descriptor: number | null = null;
  try {
    const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    descriptor = openSync(toPath(folder), flags);
    const own = `/proc/self/fd/${descriptor}`;
    if (readlinkSync(own, 'latin1') !== folder) return false;
    work(own, fstatSync(descriptor).mode & 0o7777);
    return true;
  } catch {
    return false;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

// Paths have one character for each byte in this file: the names of branches can be in any encoding.

function toPath(bytes: string): Buffer {
  return Buffer.from(bytes, 'latin1');
}
