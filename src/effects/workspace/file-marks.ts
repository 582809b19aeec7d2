import type { Stats } from 'node:fs';
import path from 'node:path';
import { hashOfFile } from '../files/file-hash.ts';
import { lstatOf } from '../files/file-kinds.ts';

/** The fingerprint of a regular file. */
export interface FileMark {
  readonly size: number;
  /** Change time in ms, for comparison only. Empty if the file was so new that it could change again in the same clock step. */
  readonly changedAt: string;
  /** Null if the file could not be read. */
  readonly sha256: string | null;
}

/** Fingerprints by absolute path. */
export type FileMarks = Readonly<Record<string, FileMark>>;

/** Takes the fingerprints of matching files; returns `earlier` itself, and reads no file, if nothing has changed. */
export async function markFiles(
  globs: readonly string[],
  options: GlobOptions,
  earlier: FileMarks = {},
): Promise<FileMarks> {
  const files = await filesThatMatch(globs, options);
  /** New fingerprints by file; null if the file was deleted after the search. */
  const changes = new Map<string, FileMark | null>();
  for (const file of files) {
    const before = earlier[file];
    const stats = statsOf(file);
    if (stats !== null && before !== undefined && isAsMarked(stats, before)) continue;
    changes.set(file, stats === null ? null : await newMark(file, stats));
  }
  if (changes.size === 0 && files.length === Object.keys(earlier).length) return earlier;
  const marks: Record<string, FileMark> = {};
  for (const file of files) {
    const mark = changes.has(file) ? changes.get(file) : earlier[file];
    if (mark) marks[file] = mark;
  }
  return marks;
}

export interface GlobOptions {
  readonly cwd: string;
  /** Whether ralph itself writes this file while the task runs; such files never match. */
  readonly isOwn: (file: string) => boolean;
  /** Whether `*` matches a leading dot too. */
  readonly dot?: boolean;
}

/** Returns the absolute paths of matching regular files, unsorted. Symbolic links do not match: they lead anywhere. */
export async function filesThatMatch(
  globs: readonly string[],
  { cwd, isOwn, dot = false }: GlobOptions,
): Promise<readonly string[]> {
  if (globs.length === 0) return [];
  const { default: fastGlob } = await import('fast-glob');
  const found = await fastGlob([...globs], {
    cwd,
    // Duplicates are removed below.
    unique: false,
    onlyFiles: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    dot,
  });
  // A pattern can also be the name of a file: as a pattern, `a (1).txt` does not match `a (1).txt`.
  const literal = globs.map((glob) => path.resolve(cwd, glob)).filter((file) => statsOf(file));
  const files = found.map((file) => path.resolve(cwd, file));
  return [...new Set([...files, ...literal])].filter((file) => !isOwn(file));
}

/** Whether the file exists, is regular and differs in content from the fingerprint `mark`. */
export async function differs(file: string, mark: FileMark | undefined): Promise<boolean> {
  const stats = statsOf(file);
  if (stats === null) return false;
  if (mark === undefined || stats.size !== mark.size) return true;
  const now = await markFile(file, mark);
  return now !== null && isOther(now, mark);
}

/** Whether a file's current fingerprint shows other content than its earlier fingerprint `mark`. */
export function isOther(now: FileMark, mark: FileMark | undefined): boolean {
  if (now === mark) return false;
  if (mark === undefined || now.size !== mark.size) return true;
  // A file that could not be read does not count as different.
  return now.sha256 !== null && mark.sha256 !== null && now.sha256 !== mark.sha256;
}

/**
 * Returns the current fingerprint of a regular file; null for anything else. Returns `earlier` itself if its change
 * time is still the same: the kernel updates the change time on every write, and no program can set it back.
 */
export async function markFile(file: string, earlier?: FileMark): Promise<FileMark | null> {
  const stats = statsOf(file);
  if (stats === null) return null;
  return earlier !== undefined && isAsMarked(stats, earlier) ? earlier : newMark(file, stats);
}

function isAsMarked(stats: Stats, mark: FileMark): boolean {
  return stats.size === mark.size && String(stats.ctimeMs) === mark.changedAt;
}

/** In ms; well above 10 ms, the longest step of the clock from which the kernel takes change times. */
export const CLOCK_STEP_MS = 50;

async function newMark(file: string, { size, ctimeMs }: Stats): Promise<FileMark> {
  const isSettled = Date.now() - ctimeMs > CLOCK_STEP_MS;
  return {
    size,
    changedAt: isSettled ? String(ctimeMs) : '',
    sha256: await hashOfFile(file, size),
  };
}

/** Returns the stats of a regular file; null for anything else. Synchronous, because ten thousand promises cost more. */
function statsOf(file: string): Stats | null {
  const stats = lstatOf(file);
  return stats?.isFile() === true ? stats : null;
}
