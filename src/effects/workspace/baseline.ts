import { statSync } from 'node:fs';
import path from 'node:path';
import type { PlanCount } from '../../core/completion/plan-file.ts';
import {
  type FileMark,
  type FileMarks,
  filesThatMatch,
  type GlobOptions,
  markFile,
  markFiles,
} from './file-marks.ts';
import { countPlan, type PlanRequest } from './plan-count.ts';

/** The fingerprints of files at the task's start. */
export interface Baseline {
  readonly watched: FileMarks;
  readonly done: FileMark | null;
  readonly protected: FileMarks;
  /** How many checkboxes of the plan were open and ticked; null without a readable plan. */
  readonly plan: PlanCount | null;
}

/** The files that a baseline records. */
export interface BaselineRequest extends PlanRequest {
  readonly cwd: string;
  readonly globs: readonly string[];
  /** Whether files that already match `globs` at the task's start count as matches, too. */
  readonly existing: boolean;
  /** The absolute path to which the watched file is moved to complete the task; null if no file is watched. */
  readonly donePath: string | null;
  readonly protect: readonly string[];
  /** Whether ralph itself writes this file while the task runs; such files never count. */
  readonly isOwn: (file: string) => boolean;
}

/** Takes the fingerprints of all requested files. */
export async function takeBaseline(request: BaselineRequest): Promise<Baseline> {
  const { cwd, globs, existing, donePath, protect } = request;
  const protectedGlobs = protect.map((glob) => protectedGlob(cwd, glob));
  return {
    watched: existing ? {} : await markFiles(globs, request),
    done: donePath === null ? null : await markFile(donePath),
    protected: await markFiles(protectedGlobs, hiddenToo(request)),
    plan: countPlan(request),
  };
}

/** Returns the absolute paths of the files that `protect` matches. */
export async function protectedFiles(request: BaselineRequest): Promise<readonly string[]> {
  const globs = request.protect.map((glob) => protectedGlob(request.cwd, glob));
  return filesThatMatch(globs, hiddenToo(request));
}

/** Returns the patterns of `protect` that match no file and therefore protect nothing. */
export async function idleProtections(request: BaselineRequest): Promise<readonly string[]> {
  const idle: string[] = [];
  for (const glob of request.protect) {
    const files = await filesThatMatch([protectedGlob(request.cwd, glob)], hiddenToo(request));
    if (files.length === 0) idle.push(glob);
  }
  return idle;
}

/** Returns the pattern; the name of a folder becomes a pattern for everything in it. */
function protectedGlob(cwd: string, glob: string): string {
  const isFolder = statSync(path.resolve(cwd, glob), { throwIfNoEntry: false })?.isDirectory();
  return isFolder === true ? `${glob.replace(/\/+$/, '')}/**` : glob;
}

/** Includes hidden folders, because a protected file such as a test script can be in one. */
function hiddenToo({ cwd, isOwn }: BaselineRequest): GlobOptions {
  return { cwd, isOwn, dot: true };
}
