import path from 'node:path';
import * as z from 'zod/mini';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { isInside, nameInside, realPath } from '../files/real-path.ts';
import { type Baseline, type BaselineRequest, takeBaseline } from './baseline.ts';
import {
  differs,
  type FileMark,
  type FileMarks,
  isOther,
  markFile,
  markFiles,
} from './file-marks.ts';
import { countPlan } from './plan-count.ts';

/**
 * A baseline as stored in `baseline.json`. Files in the working directory have relative names, so that the
 * directory can be moved; all others have absolute paths.
 */
export interface KeptBaseline extends Baseline {
  /** The request for the baseline; null if another program stored the task with ralph's library: only `done` is set. */
  readonly taken: {
    readonly cwd: string;
    readonly globs: readonly string[];
    readonly protect: readonly string[];
    readonly done_path: string | null;
  } | null;
  /** The plan, and the headings whose checkboxes were counted; null without a plan. */
  readonly plan_of: PlanOf | null;
}

interface PlanOf {
  readonly file: string;
  readonly sections: readonly string[];
}

function planOf({ cwd, planFile, planSections }: BaselineRequest): PlanOf | null {
  return planFile === null ? null : { file: nameInside(cwd, planFile), sections: planSections };
}

/** Returns the text of `baseline.json`, without the checksum that it is stored with. */
export function baselineJson(baseline: Baseline, request: BaselineRequest): string {
  const { cwd, globs, protect, donePath } = request;
  const kept: KeptBaseline = {
    taken: { cwd, globs, protect, done_path: donePath },
    watched: renamed(baseline.watched, (file) => nameInside(cwd, file)),
    done: baseline.done,
    protected: renamed(baseline.protected, (file) => nameInside(cwd, file)),
    plan: baseline.plan,
    plan_of: planOf(request),
  };
  return `${safeJson(kept)}\n`;
}

/** In bytes; enough for the fingerprints of about 300,000 files. */
export const BASELINE_MAX_BYTES = 64 * MB;

/** Reads `baseline.json` in a task's folder; returns null if it is missing or damaged. */
export function readBaseline(taskFolder: string): KeptBaseline | null {
  const text = tryReadText(path.join(taskFolder, 'baseline.json'), BASELINE_MAX_BYTES);
  const parsed = keptSchema().safeParse(parseObject(text ?? ''));
  return parsed.success ? parsed.data : null;
}

function keptSchema() {
  const mark = z.object({
    size: z.number(),
    changedAt: z.string(),
    sha256: z.nullable(z.string()),
  });
  const texts = z.array(z.string());
  const taken = z.object({
    cwd: z.string(),
    globs: texts,
    protect: texts,
    done_path: z.nullable(z.string()),
  });
  return z.object({
    taken: z.nullable(taken),
    watched: z.record(z.string(), mark),
    done: z.nullable(mark),
    protected: z.record(z.string(), mark),
    plan: z.nullable(z.object({ open: z.number(), done: z.number() })),
    plan_of: z.nullable(z.object({ file: z.string(), sections: texts })),
  });
}

/** A baseline adapted to a folder, or why it cannot be used there, as a clause. */
export type Fitted = { readonly baseline: Baseline } | { readonly misfit: string };

/**
 * Adapts a stored baseline to the folder in which the task is resumed. If that is another folder than before, every
 * file must match its fingerprint, because a file that differs could be the agent's work or have differed from the
 * start. With `isCarried`, the work itself was moved to the new folder, and no file has to match.
 */
export async function fitBaseline(
  kept: KeptBaseline,
  request: BaselineRequest,
  isCarried = false,
): Promise<Fitted> {
  const { cwd, donePath } = request;
  const { taken } = kept;
  const from = taken?.cwd ?? cwd;
  const patterns = [request, ...(taken === null ? [] : [taken])].flatMap(({ globs, protect }) => [
    ...globs,
    ...protect,
  ]);
  const reachesOut = patterns.find(reachesOutside);
  const placed: Baseline = {
    watched: renamed(kept.watched, (name) => fileIn(cwd, from, name)),
    done: kept.done,
    protected: renamed(kept.protected, (name) => fileIn(cwd, from, name)),
    plan: isSamePlan(kept.plan_of, planOf(request)) ? kept.plan : countPlan(request),
  };
  if (realPath(from) !== realPath(cwd)) {
    if (reachesOut !== undefined) {
      return { misfit: `${reachesOut} reaches out of the folder, and was noted for ${from}` };
    }
    const changed = isCarried ? null : await firstChange(placed, request);
    if (changed !== null) return { misfit: `${changed} is not as it was noted in ${from}` };
  }
  if (!isCarried && taken !== null && donePath !== null && donePath !== taken.done_path) {
    const now = await markFile(donePath);
    const isAsNoted =
      now === null || kept.done === null ? now === kept.done : !isOther(now, kept.done);
    if (!isAsNoted) return { misfit: `${donePath} is not as ${taken.done_path ?? 'it'} was noted` };
  }
  return { baseline: await withNewPatterns(placed, taken, request) };
}

/** Whether the plan and its headings are those that were counted, or either is unknown. If not, ralph counts again. */
function isSamePlan(before: PlanOf | null, now: PlanOf | null): boolean {
  return before === null || now === null || JSON.stringify(before) === JSON.stringify(now);
}

/** Returns the first file that is missing or changed, or matches a pattern but has no fingerprint; otherwise null. */
async function firstChange(placed: Baseline, request: BaselineRequest): Promise<string | null> {
  for (const [file, mark] of Object.entries({ ...placed.protected, ...placed.watched })) {
    if ((await markFile(file)) === null || (await differs(file, mark))) return file;
  }
  if (request.existing) return null;
  const now = await markFiles(request.globs, request, placed.watched);
  return Object.keys(now).find((file) => placed.watched[file] === undefined) ?? null;
}

/** Adds the current fingerprints of newly matching files if the resume changed the patterns. */
async function withNewPatterns(
  placed: Baseline,
  taken: KeptBaseline['taken'],
  request: BaselineRequest,
): Promise<Baseline> {
  if (taken === null) return placed;
  const isSame = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((pattern) => other.includes(pattern));
  const hasNewGlobs = !isSame(taken.globs, request.globs);
  const hasNewProtect = !isSame(taken.protect, request.protect);
  if (!hasNewGlobs && !hasNewProtect) return placed;
  const fresh = await takeBaseline(request);
  const keepsAll = taken.protect.every((pattern) => request.protect.includes(pattern));
  const stillProtected: Record<string, FileMark> = {};
  for (const [file, mark] of Object.entries(placed.protected)) {
    const matches = keepsAll || fresh.protected[file] !== undefined;
    if (matches || (await mayMatchGone(file, mark, request))) stillProtected[file] = mark;
  }
  // Once no pattern reaches out of the folder, files outside it are dropped: they would make the next resume
  // fail.
  const reachesOut = request.globs.some(reachesOutside);
  const stillWatched = Object.fromEntries(
    Object.entries(placed.watched).filter(([file]) => reachesOut || isInside(request.cwd, file)),
  );
  return {
    watched: hasNewGlobs ? { ...fresh.watched, ...stillWatched } : placed.watched,
    done: placed.done,
    protected: hasNewProtect ? { ...fresh.protected, ...stillProtected } : placed.protected,
    plan: placed.plan,
  };
}

/**
 * Whether a protected file is missing and one of the new patterns may have matched it. No search can find
 * the file any more, so the part of a pattern before its first special character decides.
 */
async function mayMatchGone(
  file: string,
  mark: FileMark,
  { cwd, protect }: BaselineRequest,
): Promise<boolean> {
  if ((await markFile(file, mark)) !== null) return false;
  return protect.some((pattern) => {
    const beginning = path.resolve(cwd, pattern.replace(/[^/]*[*?[\](){}!@+|\\].*$/s, ''));
    return file === beginning || isInside(beginning, file);
  });
}

/** Returns the absolute path in `cwd` of a file that had this name when the task ran in `from`. */
function fileIn(cwd: string, from: string, name: string): string {
  return path.resolve(cwd, nameInside(from, path.resolve(from, name)));
}

/** Whether a pattern can match files outside the folder in which the search begins. */
function reachesOutside(pattern: string): boolean {
  return /(?:^|[!({,|])\/|(?:^|[!({,|/])\.\.(?:$|[/},)|])/.test(pattern);
}

function renamed(marks: FileMarks, rename: (name: string) => string): FileMarks {
  return Object.fromEntries(Object.entries(marks).map(([name, mark]) => [rename(name), mark]));
}
