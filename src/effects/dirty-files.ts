import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { KB, readTextWithin, readWithin } from './bounded-read.ts';

/** A file that differs from what git has of it, as it was seen once. */
interface DirtyFile {
  /** All that `lstat` tells of a change. */
  readonly stats: string;
  /** What it holds; null where it was not read, since it is large or there are too many. */
  readonly content: string | null;
}

/** By path from the root, each byte of it one character. */
export type DirtyFiles = ReadonlyMap<string, DirtyFile>;

const GONE: DirtyFile = { stats: 'gone', content: 'gone' };
const READ_AT_MOST = 1024 * 1024;
const READ_AT_MOST_IN_ALL = 32 * 1024 * 1024;
/** So many files are looked at before others get their turn. */
const AT_A_TIME = 200;

/**
 * Notes the files as they are now. Synchronous in small portions: a promise for each of 100,000
 * untracked files would take seconds. What an earlier look has read, and nothing has touched since,
 * is not read again.
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

/** Whether the file holds the same; by its stats alone where it was not read. */
export function isSameFile(one: DirtyFile, other: DirtyFile): boolean {
  if (one.stats === other.stats) return true;
  return one.content !== null && one.content === other.content;
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
    const sha256 = createHash('sha256').update(readWithin(file, READ_AT_MOST)).digest('hex');
    return { stats, content: `${(found.mode & 0o100n) === 0n ? 'file' : 'program'} ${sha256}` };
  } catch {
    return { stats, content: null };
  }
}

/**
 * A repository inside the tree. Git looks at it only from outside, and so do we: its head, the
 * journal of its head and its index tell of commits and of what was staged.
 */
function markRepository(folder: Buffer): DirtyFile {
  // `latin1` would name another file; such a path is not followed further than its own entry.
  const place = folder.toString();
  const own = path.join(place, '.git');
  const gitFolder = path.resolve(place, linkedFolder(own) ?? own);
  const signs = ['HEAD', 'logs/HEAD', 'index'].map((name) => {
    const found = statsOf(path.join(gitFolder, name));
    return found === null ? 'gone' : describe(found);
  });
  return { stats: `repository ${signs.join(', ')}`, content: null };
}

/** Submodules and linked work trees have a file `.git` that names the folder. */
function linkedFolder(file: string): string | null {
  try {
    return /^gitdir: (.+)$/m.exec(readTextWithin(file, 64 * KB))?.[1] ?? null;
  } catch {
    return null;
  }
}

function statsOf(file: Buffer | string): BigIntStats | null {
  try {
    return lstatSync(file, { bigint: true });
  } catch {
    return null;
  }
}

/** The kernel moves the change time with every write, and no program can set it back. */
function describe({ ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
