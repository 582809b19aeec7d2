import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fastGlob from 'fast-glob';
import type { Sightings } from '../core/completion.ts';
import type { Workspace } from '../loop/ports.ts';

/** A regular file as it was seen once. Times in nanoseconds, as texts, since they exceed a number. */
interface FileMark {
  readonly size: number;
  readonly changedAt: string;
  /** Null where it could not be read. */
  readonly sha256: string | null;
}

/** What stood where at the task's start, by absolute path. */
export interface Baseline {
  readonly watched: Readonly<Record<string, FileMark>>;
  readonly done: FileMark | null;
}

export interface WatchRequest {
  readonly cwd: string;
  readonly globs: readonly string[];
  /** Whether files that matched at the start count as they are. */
  readonly existing: boolean;
  /** Absolute path at which the watched file completes the task; null when none is watched. */
  readonly donePath: string | null;
}

/** Notes size and content of everything that matches at the task's start. */
export async function takeBaseline(request: WatchRequest): Promise<Baseline> {
  const watched: Record<string, FileMark> = {};
  if (!request.existing) {
    for (const file of await matches(request)) {
      const mark = await markOf(file);
      if (mark !== null) watched[file] = mark;
    }
  }
  return { watched, done: request.donePath === null ? null : await markOf(request.donePath) };
}

/** Looks whether a watched file is new or changed since the baseline. */
export function createWorkspace(request: WatchRequest, baseline: Baseline): Workspace {
  return {
    async look(): Promise<Sightings> {
      const watchMatches: string[] = [];
      for (const file of await matches(request)) {
        if (await differs(file, baseline.watched[file])) {
          watchMatches.push(path.relative(request.cwd, file) || file);
        }
      }
      const { donePath } = request;
      const moved = donePath !== null && (await differs(donePath, baseline.done ?? undefined));
      return { watchMatches, movedFile: moved ? donePath : null };
    },
  };
}

/** Regular files that match, links left out: a link could point at anything. */
async function matches({ cwd, globs }: WatchRequest): Promise<readonly string[]> {
  if (globs.length === 0) return [];
  const found = await fastGlob([...globs], {
    cwd,
    absolute: true,
    onlyFiles: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    dot: false,
  });
  // `a (1).txt` is a pattern that does not match the file of that very name.
  const literal = globs.map((glob) => path.resolve(cwd, glob)).filter((file) => statsOf(file));
  return [...new Set([...found, ...literal])].sort();
}

/** Whether a regular file stands there whose content is not the marked one: size, then hash. */
async function differs(file: string, mark: FileMark | undefined): Promise<boolean> {
  const stats = statsOf(file);
  if (stats === null) return false;
  if (mark === undefined || Number(stats.size) !== mark.size) return true;
  // The kernel moves the change time with every write, and no program can set it back.
  if (String(stats.ctimeNs) === mark.changedAt) return false;
  const sha256 = await hashOf(file, mark.size);
  // What cannot be read cannot be told to differ.
  return sha256 !== null && mark.sha256 !== null && sha256 !== mark.sha256;
}

async function markOf(file: string): Promise<FileMark | null> {
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
