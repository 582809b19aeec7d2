import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import { readWithin } from '../files/bounded-read.ts';
import { sha256Of } from '../files/file-hash.ts';
import { ifPossible } from '../files/if-possible.ts';
import { gitFoldersAt } from '../git/git-folders-at.ts';

/** A changed or untracked file at one instant. */
interface DirtyFile {
  /** The values from `lstat` that a change would alter, as one text. */
  readonly stats: string;
  /** The file's kind and a hash; null if the file was not read (too large, too many, or an error). */
  readonly content: string | null;
}

/** Keyed by the path relative to the work tree's root, decoded as latin1. */
export type DirtyFiles = ReadonlyMap<string, DirtyFile>;

const GONE: DirtyFile = { stats: 'gone', content: 'gone' };
const READ_AT_MOST = 1024 * 1024;
const READ_AT_MOST_IN_ALL = 32 * 1024 * 1024;
/** Number of files after which `markDirtyFiles` yields to the event loop. */
const AT_A_TIME = 200;

/**
 * Takes the current fingerprints of the named files. Does not read files again that have not changed since `earlier`.
 * Works synchronously in small batches, because a promise for each of 100,000 untracked files would take seconds.
 */
export async function markDirtyFiles(
  root: string,
  names: Iterable<string>,
  earlier: DirtyFiles | null,
): Promise<DirtyFiles> {
  const marks = new Map<string, DirtyFile>();
  const budget = { bytes: READ_AT_MOST_IN_ALL };
  let looked = 0;
  for (const name of names) {
    marks.set(name, markDirtyFile(root, name, earlier?.get(name), budget));
    looked += 1;
    if (looked % AT_A_TIME === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return marks;
}

/** Whether two fingerprints have the same stats or the same content. */
export function isSameFile(one: DirtyFile, other: DirtyFile): boolean {
  if (one.stats === other.stats) return true;
  return one.content !== null && one.content === other.content;
}

/** Returns the files that differ between two looks at a tree; `further` may differ though neither look lists them. */
export async function changedFiles(
  root: string,
  before: DirtyFiles,
  now: DirtyFiles,
  further: readonly string[] = [],
): Promise<readonly string[]> {
  const gone = [...before.keys()].filter((name) => !now.has(name));
  // Files that git no longer lists were committed, reverted, deleted, or are ignored now.
  const clean = await markDirtyFiles(root, gone, before);
  return [...new Set([...now.keys(), ...gone, ...further])].filter((name) => {
    const then = before.get(name);
    const since = now.get(name) ?? clean.get(name);
    return then === undefined || since === undefined || !isSameFile(then, since);
  });
}

function markDirtyFile(
  root: string,
  name: string,
  earlier: DirtyFile | undefined,
  budget: { bytes: number },
): DirtyFile {
  const file = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
  const found = statsOf(file);
  if (found === null) return GONE;
  if (found.isDirectory()) return markRepository(file);
  const stats = describe(found);
  if (earlier?.stats === stats) return earlier;
  try {
    if (found.isSymbolicLink()) {
      return { stats, content: `link ${readlinkSync(file, 'latin1')}` };
    }
    const size = Number(found.size);
    if (!found.isFile() || size > Math.min(READ_AT_MOST, budget.bytes)) {
      return { stats, content: null };
    }
    budget.bytes -= size;
    const sha256 = sha256Of(readWithin(file, READ_AT_MOST));
    return { stats, content: `${(found.mode & 0o100n) === 0n ? 'file' : 'program'} ${sha256}` };
  } catch {
    return { stats, content: null };
  }
}

/** Returns the fingerprint of an inner repository: HEAD and its reflog, but none of the repository's files. */
function markRepository(folder: Buffer): DirtyFile {
  // A folder whose name is not UTF-8 is not found by this path.
  const own = `${folder}/.git`;
  const [gitFolder = own] = gitFoldersAt(own) ?? [];
  const signs = ['HEAD', 'logs/HEAD'].map((name) => {
    const found = statsOf(`${gitFolder}/${name}`);
    return found === null ? 'gone' : describe(found);
  });
  return { stats: `repository ${signs.join(', ')}`, content: null };
}

function statsOf(file: Buffer | string): BigIntStats | null {
  return ifPossible(() => lstatSync(file, { bigint: true }));
}

/** Includes the change time: the kernel updates it on every write, and no program can set it back. */
function describe({ ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
