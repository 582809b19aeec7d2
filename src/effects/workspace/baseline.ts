import { statSync } from 'node:fs';
import path from 'node:path';
import {
  type FileMark,
  type FileMarks,
  filesThatMatch,
  type GlobOptions,
  markFile,
  markFiles,
} from './file-marks.ts';

/** The files at the task's start. */
export interface Baseline {
  readonly watched: FileMarks;
  readonly done: FileMark | null;
  readonly protected: FileMarks;
}

/** What a baseline depends on. */
export interface BaselineRequest {
  readonly cwd: string;
  readonly globs: readonly string[];
  /** Whether files that already match at the start count, too. */
  readonly existing: boolean;
  /** Absolute path at which the watched file completes the task; null if none is watched. */
  readonly donePath: string | null;
  readonly protect: readonly string[];
  /** Files that ralph itself writes while the task runs: they never count. */
  readonly isOwn: (file: string) => boolean;
}

/** Marks the files at the task's start. */
export async function takeBaseline(request: BaselineRequest): Promise<Baseline> {
  const { cwd, globs, existing, donePath, protect } = request;
  const protectedGlobs = protect.map((glob) => protectedGlob(cwd, glob));
  return {
    watched: existing ? {} : await markFiles(globs, request),
    done: donePath === null ? null : await markFile(donePath),
    protected: await markFiles(protectedGlobs, hiddenToo(request)),
  };
}

/** Returns the patterns of `protect` that match no file and so protect nothing. */
export async function idleProtections(request: BaselineRequest): Promise<readonly string[]> {
  const idle: string[] = [];
  for (const glob of request.protect) {
    const files = await filesThatMatch([protectedGlob(request.cwd, glob)], hiddenToo(request));
    if (files.length === 0) idle.push(glob);
  }
  return idle;
}

/** A folder stands for everything in it. */
function protectedGlob(cwd: string, glob: string): string {
  const isFolder = statSync(path.resolve(cwd, glob), { throwIfNoEntry: false })?.isDirectory();
  return isFolder === true ? `${glob.replace(/\/+$/, '')}/**` : glob;
}

/** A protected file, such as a test script, may be in a hidden folder. */
function hiddenToo({ cwd, isOwn }: BaselineRequest): GlobOptions {
  return { cwd, isOwn, dot: true };
}
