import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { accepting } from '../../core/proof/accepted.ts';
import { isInstalled } from '../../core/proof/decider-names.ts';
import type { ChangedDecider } from '../../core/proof/findings.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { isFile } from '../files/file-kinds.ts';
import { ifPossible } from '../files/if-possible.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { filesThatMatch, markFile } from '../workspace/file-marks.ts';
import { LONGEST_READ, searchAndRead } from './search-deciders.ts';

/*
 * Deciders (files and scripts that decide what checks say) of a folder outside git. Without a git tree, hashes of files
 * are compared. Files that decide only by names are not searched for: nothing says which files belong to the task.
 */

/** What the results of a folder's checks depend on; stored as JSON. */
export interface FolderDeciders {
  /**
   * The SHA-256 in hex of each file, or the target of a symbolic link, by its path in the folder. Empty for a missing
   * file, null for an unreadable one.
   */
  readonly files: Readonly<Record<string, string | null>>;
  readonly scripts: readonly {
    readonly file: string;
    readonly name: string;
    readonly line: string;
  }[];
  /** Programs that are looked for on PATH. */
  readonly programs: readonly string[];
}

export interface FolderOfChecks {
  /** Absolute path of the folder that checks run in. */
  readonly cwd: string;
  readonly checks: readonly string[];
  /** Whether ralph itself writes this file. */
  readonly isOwn: (file: string) => boolean;
}

/** Deeper folders are not searched for a `package.json`, since any folder, even a huge one, may be given. */
const PACKAGES = ['package.json', '*/package.json', '*/*/package.json', '!**/node_modules/**'];
const PACKAGE_MAX_BYTES = MB;

/** Records hashes of the files on which checks depend, or of those in `atStart`. Never rejects if one is unreadable. */
export async function markDeciders(
  { cwd, checks, isOwn }: FolderOfChecks,
  atStart: FolderDeciders | null = null,
): Promise<FolderDeciders> {
  const packageJsons = new Map<string, string>();
  for (const file of await filesThatMatch(PACKAGES, { cwd, isOwn })) {
    const name = path.relative(cwd, file);
    const text = tryReadText(file, PACKAGE_MAX_BYTES);
    if (text !== null && !isInstalled(name)) packageJsons.set(name, text);
  }
  const search = { checks, texts: packageJsons };
  const { files, scripts, programs } = await searchAndRead(search, (paths) => readIn(cwd, paths));
  const marks: Record<string, string | null> = {};
  for (const name of atStart === null
    ? [...files, ...targetsOf(files, cwd)]
    : Object.keys(atStart.files)) {
    const mark = await markFile(path.resolve(cwd, name));
    const target = mark === null ? linkAt(path.resolve(cwd, name)) : null;
    marks[name] = mark !== null ? mark.sha256 : target === null ? '' : `link to ${target}`;
  }
  return { files: marks, scripts, programs };
}

/** Reads files of a folder: '' for a file that is not text or too long, null for a missing one. */
export function readIn(cwd: string, paths: readonly string[]): ReadonlyMap<string, string | null> {
  return new Map(
    paths.map((name) => {
      const file = path.resolve(cwd, name);
      return [name, isFile(file) ? (tryReadText(file, LONGEST_READ) ?? '') : null];
    }),
  );
}

/** Returns the targets of those files that are symbolic links to places in the folder, relative to the folder. */
function targetsOf(names: readonly string[], cwd: string): readonly string[] {
  const root = realPath(cwd);
  return names.flatMap((name) => {
    const file = path.resolve(cwd, name);
    const target = linkAt(file) === null ? root : realPath(file);
    return isInside(root, target) ? [path.relative(root, target)] : [];
  });
}

/** Returns the target that a symbolic link names; null for anything else. */
function linkAt(place: string): string | null {
  return ifPossible(() => readlinkSync(place));
}

/**
 * Returns the deciders that have changed since the start; `now` is what `markDeciders` returns with `atStart`. As in a
 * git work tree, a script counts only if it existed at the start, or runs before or after one that did.
 */
export function bentInFolder(
  atStart: FolderDeciders,
  now: FolderDeciders,
  acceptChanged: readonly string[],
): readonly ChangedDecider[] {
  const isAccepted = accepting(acceptChanged);
  const files = Object.keys(atStart.files).flatMap((name): readonly ChangedDecider[] => {
    const [before = null, after = null] = [atStart.files[name], now.files[name]];
    // A file that could not be read does not count as changed.
    if (before === after || before === null || after === null || isAccepted(name)) return [];
    const change = before === '' ? 'new' : after === '' ? 'removed' : 'changed';
    return [{ kind: 'file', path: name, change }];
  });
  const lineIn = ({ scripts }: FolderDeciders, file: string, name: string) =>
    scripts.find((each) => each.file === file && each.name === name)?.line;
  const known = [...atStart.scripts, ...now.scripts];
  const scripts = known.flatMap(({ file, name }, at): readonly ChangedDecider[] => {
    const isFirst = known.findIndex((each) => each.file === file && each.name === name) === at;
    const [before, after] = [lineIn(atStart, file, name), lineIn(now, file, name)];
    const around = /^(?:pre|post)(.+)$/.exec(name)?.[1] ?? '';
    const stood = before !== undefined || lineIn(atStart, file, around) !== undefined;
    return isFirst && stood && before !== after && !isAccepted(file)
      ? [{ kind: 'script', file, name }]
      : [];
  });
  return [...files, ...scripts];
}
