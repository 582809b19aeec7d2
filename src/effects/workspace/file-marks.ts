import { createHash } from 'node:crypto';
import { constants, createReadStream, lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { remember } from '../files/bounded-map.ts';
import { MB, openRegular, readBytes, withRegularFile } from '../files/bounded-read.ts';
import { monotonicMs } from '../time/monotonic.ts';

/** A regular file at one instant. */
export interface FileMark {
  readonly size: number;
  /**
   * Change time in ms, only for comparison, exact to a quarter of a microsecond. Empty if the file was so
   * new that it could change again within the same clock step.
   */
  readonly changedAt: string;
  /** Null if the file could not be read. */
  readonly sha256: string | null;
}

/** Marks by absolute path. */
export type FileMarks = Readonly<Record<string, FileMark>>;

/**
 * Marks size and content of all matching files. Files in `earlier` that were not written since are not
 * read again; returns `earlier` itself if nothing has changed.
 */
export async function markFiles(
  globs: readonly string[],
  options: GlobOptions,
  earlier: FileMarks = {},
): Promise<FileMarks> {
  const files = await filesThatMatch(globs, options);
  /** Null for a file that is gone by now. */
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
  /** Files that never match: those that ralph itself writes while the task runs. */
  readonly isOwn: (file: string) => boolean;
  /** Whether `*` matches a leading dot too. */
  readonly dot?: boolean;
}

/** A longer walk must not block the process, because somebody may ask it to stop. */
const SHORT_WALK_MS = 200;
/** Milliseconds the last walk took, by folder and patterns. */
const walks = new Map<string, number>();
const REMEMBERED_WALKS = 100;

/**
 * Returns the absolute paths of matching regular files, unordered. Links do not match: a link could point
 * to anything. If the last walk was short, this one runs synchronously: going to another thread for each
 * folder takes twice as long.
 */
export async function filesThatMatch(
  globs: readonly string[],
  { cwd, isOwn, dot = false }: GlobOptions,
): Promise<readonly string[]> {
  if (globs.length === 0) return [];
  const { default: fastGlob } = await import('fast-glob');
  const walk = JSON.stringify([cwd, dot, globs]);
  const startedMs = monotonicMs();
  const options = {
    cwd,
    // Duplicates are removed below.
    unique: false,
    onlyFiles: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    dot,
  };
  const isShort = (walks.get(walk) ?? SHORT_WALK_MS) < SHORT_WALK_MS;
  const found = isShort ? fastGlob.sync([...globs], options) : await fastGlob([...globs], options);
  remember(walks, walk, monotonicMs() - startedMs, REMEMBERED_WALKS);
  // As a pattern, `a (1).txt` does not match the file of that name.
  const literal = globs.map((glob) => path.resolve(cwd, glob)).filter((file) => statsOf(file));
  const files = found.map((file) => absolute(cwd, file));
  return [...new Set([...files, ...literal])].filter((file) => !isOwn(file));
}

/** A faster `path.resolve`, since there may be ten thousand names, most of them plain. */
function absolute(cwd: string, file: string): string {
  const base = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return /^\/|(?:^|\/)\.\.?(?:\/|$)/.test(file) ? path.resolve(cwd, file) : `${base}${file}`;
}

/** Whether there is a regular file whose content differs from the mark: compares size, then hash. */
export async function differs(file: string, mark: FileMark | undefined): Promise<boolean> {
  const stats = statsOf(file);
  if (stats === null) return false;
  if (mark === undefined || stats.size !== mark.size) return true;
  const now = await markFile(file, mark);
  return now !== null && isOther(now, mark);
}

/** Whether a file's current mark shows other content than its earlier one. */
export function isOther(now: FileMark, mark: FileMark | undefined): boolean {
  if (now === mark) return false;
  if (mark === undefined || now.size !== mark.size) return true;
  // A file that could not be read does not count as different.
  return now.sha256 !== null && mark.sha256 !== null && now.sha256 !== mark.sha256;
}

/**
 * Returns the current mark of a regular file; null for anything else. Returns the earlier mark itself if
 * the file was not written since: the kernel updates the change time on every write, and no program can
 * set it back.
 */
export async function markFile(file: string, earlier?: FileMark): Promise<FileMark | null> {
  const stats = statsOf(file);
  if (stats === null) return null;
  return earlier !== undefined && isAsMarked(stats, earlier) ? earlier : newMark(file, stats);
}

function isAsMarked(stats: Stats, mark: FileMark): boolean {
  return stats.size === mark.size && String(stats.ctimeMs) === mark.changedAt;
}

/** The kernel takes change times from a clock that advances in steps of up to 10 ms. */
const CLOCK_STEP_MS = 50;

async function newMark(file: string, { size, ctimeMs }: Stats): Promise<FileMark> {
  const isSettled = Date.now() - ctimeMs > CLOCK_STEP_MS;
  return { size, changedAt: isSettled ? String(ctimeMs) : '', sha256: await hashOf(file, size) };
}

/** Returns null for anything but a regular file. Synchronous: ten thousand promises cost more. */
function statsOf(file: string): Stats | null {
  try {
    const stats = lstatSync(file);
    return stats.isFile() ? stats : null;
  } catch {
    return null;
  }
}

/** Files up to this size are read at once. */
const SMALL_BYTES = MB;

/**
 * Returns the SHA-256, in hex, of the first `size` bytes, or null if they cannot be read. Reads no more,
 * because a file that is not on a disk, such as /proc/kmsg, has size 0 and may never end. A link or a
 * pipe that has replaced the file meanwhile is not read either.
 */
async function hashOf(file: string, size: number): Promise<string | null> {
  const hash = createHash('sha256');
  if (size === 0) return hash.digest('hex');
  try {
    if (size <= SMALL_BYTES) {
      hash.update(withRegularFile(file, constants.O_NOFOLLOW, (fd) => readBytes(fd, size)));
    } else {
      const { descriptor: fd } = openRegular(file, constants.O_NOFOLLOW);
      for await (const chunk of createReadStream(file, { fd, end: size - 1 })) hash.update(chunk);
    }
  } catch {
    return null;
  }
  return hash.digest('hex');
}
