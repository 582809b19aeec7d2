import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isAtOrBelow, isWithinAny } from '../../core/sandbox/places.ts';
import type { SandboxRule } from '../../core/sandbox/rules.ts';
import { isHiddenInHome, SHOWN_IN_HOME } from '../../core/sandbox/shown-in-home.ts';
import { SECRETS_IN_HOME } from '../../core/sandbox/unreadable.ts';
import { namesIn } from '../files/folder.ts';
import { realPath } from '../files/real-path.ts';
import { errorCode } from '../files/write-file.ts';

/** Folders of the system: if a symbolic link leads into one of them, its target is not the user's. */
const OF_SYSTEM: readonly string[] = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/opt', '/nix', '/gnu', '/run'],
  ...['/proc', '/sys', '/dev', '/var/lib', '/var/cache', '/var/log'],
];

/** Shared folders: each of them belongs to the system, but what lies in them may belong to the user. */
const SHARED: readonly string[] = ['/tmp', '/var', '/var/tmp'];

/**
 * Returns the real paths to hide in a home as it is now: its hidden entries, except for the places in `shown` and links
 * to them. For a link, its target is hidden. If the home cannot be read, it is hidden as a whole.
 */
export function hiddenEntries(home: string, shown: readonly string[]): readonly string[] {
  // The places of `SHOWN_IN_HOME` are added without following links: by now, an agent may have made some of the links.
  const places = new Set([...shown, ...inHome(home, SHOWN_IN_HOME)]);
  const seen = new Set<string>();
  const hide = (place: string): readonly string[] => {
    const target = realPath(place);
    if (places.has(place) || places.has(target) || seen.has(target)) return [];
    seen.add(target);
    if (target !== place && !canBeHidden(target, home, places)) return [];
    const inside = [...places].filter((each) => isWithinAny(each, [place, target]));
    // Shown places in a hidden folder are mounted there, which is impossible for a link that leads out of the folder.
    // Then the entries of the folder are hidden one by one.
    const leadsOut = inside.some(
      (each) => existsSync(each) && !isAtOrBelow(realPath(each), target),
    );
    const names = leadsOut ? entriesOf(target) : null;
    return names?.flatMap((name) => hide(path.join(target, name))) ?? [target];
  };
  const entries = entriesOf(home)?.filter(isHiddenInHome);
  return entries?.flatMap((name) => hide(path.join(home, name))) ?? [home];
}

/** Returns the names in a folder; none if it is missing, and null if it cannot be read. */
function entriesOf(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(error)) ? [] : null;
  }
}

/** Whether the target of a link belongs to the user, is not shown, and does not contain the home. */
function canBeHidden(target: string, home: string, shown: ReadonlySet<string>): boolean {
  const isOfSystem =
    SHARED.includes(target) || (isWithinAny(target, OF_SYSTEM) && !isAtOrBelow(target, home));
  return !isOfSystem && !isAtOrBelow(home, target) && !isWithinAny(target, [...shown]);
}

/** The facts by which `shownPlaces` finds the hidden places that a run needs to read. */
export interface NeededPlaces {
  /** The home of the user; null if there is none. */
  readonly home: string | null;
  /** Hidden folders outside the home. */
  readonly hidden: readonly string[];
  /** The folders and files that the task is about, and its programs. */
  readonly places: readonly string[];
  /** The user's own files of settings for git, and the files that these name. */
  readonly ofGit: readonly string[];
  /** The PATH: a run may start programs in its folders, so these folders stay readable. */
  readonly path: string;
  /** Whether no agent can have made any part of the path. */
  readonly isOfUser: (place: string) => boolean;
}

/** Folders beside a folder `bin` that hold further parts of its programs. */
const BESIDE_BIN: readonly string[] = ['lib', 'libexec'];

/** Returns the places that a run can read although they are hidden: existing ones, as real paths. */
export function shownPlaces(needed: NeededPlaces): readonly string[] {
  const { home, hidden, places, ofGit, isOfUser } = needed;
  const secrets = inHome(home, SECRETS_IN_HOME).map(realPath);
  // A folder directly in the home holds more than programs, so PATH alone does not make it readable.
  const onPath = needed.path.split(':').filter((each) => path.dirname(realPath(each)) !== home);
  const besidePath = onPath.flatMap((each) =>
    BESIDE_BIN.map((name) => path.join(path.dirname(each), name)),
  );
  const further = [...onPath, ...besidePath, ...ofGit].filter(
    (place) => !isWithinAny(realPath(place), secrets),
  );
  const inHidden = [...places, ...further].filter(
    (place) => isWithinAny(realPath(place), hidden) || (home !== null && isInHidden(place, home)),
  );
  const all = [...inHome(home, SHOWN_IN_HOME), ...inHidden].filter(
    (place) => existsSync(place) && isOfUser(place),
  );
  return [...new Set(all.map(realPath))];
}

function isInHidden(place: string, home: string): boolean {
  const isIn = (each: string): boolean =>
    each !== home &&
    isAtOrBelow(each, home) &&
    isHiddenInHome(path.relative(home, each).split('/')[0] ?? '');
  return isIn(place) || isIn(realPath(place));
}

function inHome(home: string | null, names: readonly string[]): readonly string[] {
  return home === null ? [] : names.map((name) => path.join(home, name));
}

/** Returns the names of the entries of a home that stay readable, sorted. */
export function namesShownInHome(
  home: string,
  denyRead: readonly SandboxRule[],
): readonly string[] {
  const denied = denyRead.map(({ value }) => value);
  return namesIn(home)
    .filter((name) => !isHiddenInHome(name))
    .filter((name) => !isWithinAny(realPath(path.join(home, name)), denied))
    .sort();
}
