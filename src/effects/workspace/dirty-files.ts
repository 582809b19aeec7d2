import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { KB, readWithin, tryReadText } from '../files/bounded-read.ts';

/** A changed or untracked file at one instant. */
interface DirtyFile {
  /** All values from `lstat` that a change would alter. */
  readonly stats: string;
  /** The content's hash; null if it was not read: too large, or too many files. */
  readonly content: string | null;
}

/** Keyed by the path from the root, one character per byte. */
export type DirtyFiles = ReadonlyMap<string, DirtyFile>;

const GONE: DirtyFile = { stats: 'gone', content: 'gone' };
const READ_AT_MOST = 1024 * 1024;
const READ_AT_MOST_IN_ALL = 32 * 1024 * 1024;
/** Yield to the event loop after this many files. */
const AT_A_TIME = 200;

/**
 * Records the files as they are now. Synchronous in small batches: a promise for each of 100,000
 * untracked files would take seconds. Files that `earlier` has read and that have not changed since
 * are not read again.
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

/** Whether two records have the same content; compares only the stats if it was not read. */
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
 * A repository inside the tree. Git looks at it only from outside, and so does ralph: HEAD, its
 * reflog and the index show commits and staged changes.
 */
function markRepository(folder: Buffer): DirtyFile {
  // `latin1` would name another file; other paths are not followed beyond their own entry.
  const place = folder.toString();
  const own = path.join(place, '.git');
  const gitFolder = path.resolve(place, linkedFolder(own) ?? own);
  const signs = ['HEAD', 'logs/HEAD', 'index'].map((name) => {
    const found = statsOf(path.join(gitFolder, name));
    return found === null ? 'gone' : describe(found);
  });
  return { stats: `repository ${signs.join(', ')}`, content: null };
}

/** Submodules and linked work trees have a `.git` file that names the folder. */
function linkedFolder(file: string): string | null {
  return /^gitdir: (.+)$/m.exec(tryReadText(file, 64 * KB) ?? '')?.[1] ?? null;
}

function statsOf(file: Buffer | string): BigIntStats | null {
  try {
    return lstatSync(file, { bigint: true });
  } catch {
    return null;
  }
}

/** The kernel updates the change time on every write, and no program can set it back. */
function describe({ ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
