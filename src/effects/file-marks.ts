import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A regular file as it was seen once. Times in nanoseconds, as texts, since they exceed a number. */
export interface FileMark {
  readonly size: number;
  readonly changedAt: string;
  /** Null where it could not be read. */
  readonly sha256: string | null;
}

/** Files by absolute path, as they were seen once. */
export type FileMarks = Readonly<Record<string, FileMark>>;

/** Notes size and content of everything that matches now. */
export async function markFiles(
  globs: readonly string[],
  options: GlobOptions,
): Promise<FileMarks> {
  const marks: Record<string, FileMark> = {};
  for (const file of await filesThatMatch(globs, options)) {
    const mark = await markFile(file);
    if (mark !== null) marks[file] = mark;
  }
  return marks;
}

/** How files are looked for. */
export interface GlobOptions {
  readonly cwd: string;
  /** Files that never match: ralph's own, which it writes while the task runs. */
  readonly isOwn: (file: string) => boolean;
  /** Whether `*` matches a leading dot too. */
  readonly dot?: boolean;
}

/** Regular files that match, links left out: a link could point at anything. Absolute and sorted. */
export async function filesThatMatch(
  globs: readonly string[],
  { cwd, isOwn, dot = false }: GlobOptions,
): Promise<readonly string[]> {
  if (globs.length === 0) return [];
  const { default: fastGlob } = await import('fast-glob');
  const found = await fastGlob([...globs], {
    cwd,
    absolute: true,
    onlyFiles: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    dot,
  });
  // `a (1).txt` is a pattern that does not match the file of that very name.
  const literal = globs.map((glob) => path.resolve(cwd, glob)).filter((file) => statsOf(file));
  return [...new Set([...found, ...literal])].filter((file) => !isOwn(file)).sort();
}

/** Whether a regular file stands there whose content is not the marked one: size, then hash. */
export async function differs(file: string, mark: FileMark | undefined): Promise<boolean> {
  const stats = statsOf(file);
  if (stats === null) return false;
  if (mark === undefined || Number(stats.size) !== mark.size) return true;
  // The kernel moves the change time with every write, and no program can set it back.
  if (String(stats.ctimeNs) === mark.changedAt) return false;
  const sha256 = await hashOf(file, mark.size);
  // What cannot be read cannot be told to differ.
  return sha256 !== null && mark.sha256 !== null && sha256 !== mark.sha256;
}

/** A regular file's size and content now; null for anything else. */
export async function markFile(file: string): Promise<FileMark | null> {
  const stats = statsOf(file);
  if (stats === null) return null;
  const size = Number(stats.size);
  return { size, changedAt: String(stats.ctimeNs), sha256: await hashOf(file, size) };
}

/** A regular file's data; null for anything else. Synchronous: ten thousand promises cost more. */
function statsOf(file: string): BigIntStats | null {
  try {
    const stats = lstatSync(file, { bigint: true });
    return stats.isFile() ? stats : null;
  } catch {
    return null;
  }
}

/** Up to this size a file is read at one go. */
const SMALL_BYTES = 1024 * 1024;

/** SHA-256 in hex; null where the file cannot be read. */
async function hashOf(file: string, size: number): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    if (size <= SMALL_BYTES) hash.update(readFileSync(file));
    else for await (const chunk of createReadStream(file)) hash.update(chunk);
  } catch {
    return null;
  }
  return hash.digest('hex');
}
