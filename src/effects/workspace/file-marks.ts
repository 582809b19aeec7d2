import { createHash } from 'node:crypto';
import { constants, createReadStream, lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { remember } from '../files/bounded-map.ts';
import { MB, openRegular, readBytes, withRegularFile } from '../files/bounded-read.ts';
import { monotonicMs } from '../time/monotonic.ts';

/** A regular file as it was seen once. The time is only to be compared: to a quarter of a microsecond. */
export interface FileMark {
  readonly size: number;
  /** Empty where the file was so young that it could change again within the same instant. */
  readonly changedAt: string;
  /** Null where it could not be read. */
  readonly sha256: string | null;
}

/** Files by absolute path, as they were seen once. */
export type FileMarks = Readonly<Record<string, FileMark>>;

/**
 * Notes size and content of everything that matches now. What `earlier` has noted, and nothing has
 * written to since, is not read again; `earlier` itself where that is all.
 */
export async function markFiles(
  globs: readonly string[],
  options: GlobOptions,
  earlier: FileMarks = {},
): Promise<FileMarks> {
  const files = await filesThatMatch(globs, options);
  /** Null for what is gone by now. */
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

/** How files are looked for. */
export interface GlobOptions {
  readonly cwd: string;
  /** Files that never match: ralph's own, which it writes while the task runs. */
  readonly isOwn: (file: string) => boolean;
  /** Whether `*` matches a leading dot too. */
  readonly dot?: boolean;
}

/** Longer the process should not stand still: somebody may ask it to stop. */
const SHORT_WALK_MS = 200;
/** How long the last walk took, by where and for what. */
const walks = new Map<string, number>();
const REMEMBERED_WALKS = 100;

/**
 * Regular files that match, links left out: a link could point at anything. Absolute, in no order. Where
 * the walk before was a short one, the next stays on this thread: to go to another one for each folder
 * takes twice as long.
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
    // They are made unique below.
    unique: false,
    onlyFiles: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    dot,
  };
  const isShort = (walks.get(walk) ?? SHORT_WALK_MS) < SHORT_WALK_MS;
  const found = isShort ? fastGlob.sync([...globs], options) : await fastGlob([...globs], options);
  remember(walks, walk, monotonicMs() - startedMs, REMEMBERED_WALKS);
  // `a (1).txt` is a pattern that does not match the file of that very name.
  const literal = globs.map((glob) => path.resolve(cwd, glob)).filter((file) => statsOf(file));
  const files = found.map((file) => absolute(cwd, file));
  return [...new Set([...files, ...literal])].filter((file) => !isOwn(file));
}

/** What `path.resolve` gives; most names are plain, and there may be ten thousand. */
function absolute(cwd: string, file: string): string {
  const base = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return /^\/|(?:^|\/)\.\.?(?:\/|$)/.test(file) ? path.resolve(cwd, file) : `${base}${file}`;
}

/** Whether a regular file stands there whose content is not the marked one: size, then hash. */
export async function differs(file: string, mark: FileMark | undefined): Promise<boolean> {
  const stats = statsOf(file);
  if (stats === null) return false;
  if (mark === undefined || stats.size !== mark.size) return true;
  const now = await markFile(file, mark);
  return now !== null && isOther(now, mark);
}

/** Whether a file that is there now is not the one that was marked. */
export function isOther(now: FileMark, mark: FileMark | undefined): boolean {
  if (now === mark) return false;
  if (mark === undefined || now.size !== mark.size) return true;
  // What cannot be read cannot be told to differ.
  return now.sha256 !== null && mark.sha256 !== null && now.sha256 !== mark.sha256;
}

/**
 * A regular file's size and content now; null for anything else. The earlier mark itself where the
 * file was not written to since: the kernel moves the change time with every write, and no program
 * can set it back.
 */
export async function markFile(file: string, earlier?: FileMark): Promise<FileMark | null> {
  const stats = statsOf(file);
  if (stats === null) return null;
  return earlier !== undefined && isAsMarked(stats, earlier) ? earlier : newMark(file, stats);
}

function isAsMarked(stats: Stats, mark: FileMark): boolean {
  return stats.size === mark.size && String(stats.ctimeMs) === mark.changedAt;
}

/** The kernel takes the time of a change from a clock that moves in steps of up to 10 ms. */
const CLOCK_STEP_MS = 50;

async function newMark(file: string, { size, ctimeMs }: Stats): Promise<FileMark> {
  const isSettled = Date.now() - ctimeMs > CLOCK_STEP_MS;
  return { size, changedAt: isSettled ? String(ctimeMs) : '', sha256: await hashOf(file, size) };
}

/** A regular file's data; null for anything else. Synchronous: ten thousand promises cost more. */
function statsOf(file: string): Stats | null {
  try {
    const stats = lstatSync(file);
    return stats.isFile() ? stats : null;
  } catch {
    return null;
  }
}

/** Up to this size a file is read at one go. */
const SMALL_BYTES = MB;

/**
 * SHA-256 in hex of as many bytes as the file was said to have; null where it cannot be read. No more
 * are read: what is no file on a disk says it has none, and may never end, such as /proc/kmsg. Where a
 * link or a pipe has come into its place meanwhile, that is not read either.
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
