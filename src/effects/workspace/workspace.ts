import { statSync } from 'node:fs';
import path from 'node:path';
import { type PlanCount, readPlan } from '../../core/completion/plan-file.ts';
import type { CommandResult, ProgressSigns } from '../../core/completion/sightings.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import type { Workspace } from '../../loop/ports.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import {
  differs,
  type FileMark,
  type FileMarks,
  filesThatMatch,
  type GlobOptions,
  isOther,
  markFile,
  markFiles,
} from './file-marks.ts';
import type { GitProgress } from './git-progress.ts';

/** The files at the task's start. */
export interface Baseline {
  readonly watched: FileMarks;
  readonly done: FileMark | null;
  readonly protected: FileMarks;
}

export interface WorkspaceRequest {
  readonly cwd: string;
  readonly globs: readonly string[];
  /** Whether files that already match at the start count, too. */
  readonly existing: boolean;
  /** Absolute path at which the watched file completes the task; null if none is watched. */
  readonly donePath: string | null;
  readonly protect: readonly string[];
  /** Files that ralph itself writes while the task runs: they never count. */
  readonly isOwn: (file: string) => boolean;
  /** Returns the names of the files that ask a person something about this task. */
  readonly requests: () => readonly string[];
  readonly describe: (request: string) => string;
  /** The last request to a person that a resumed task made. */
  readonly asked?: string | null;
  /** Called when the task is completed; moves its task file to the folder for finished ones. */
  readonly onFinished: () => Promise<void>;
  /** Absolute; null if there is none. */
  readonly planFile: string | null;
  readonly until: string | null;
  /** Whether checking the task's conditions runs a program or searches the work tree. */
  readonly isSlow: boolean;
  /** Whether the task was resumed, so that part of its first iteration may already be done. */
  readonly isResumed?: boolean;
  /** Already marked; null if git is not used. */
  readonly git: GitProgress | null;
  /** Runs one of the user's commands with this text on its standard input. */
  readonly run: (command: string, input: string) => Promise<CommandResult>;
  /** Called if the `--after` command fails, since its result decides nothing. */
  readonly onAfterFailed: (result: CommandResult) => void;
  /** Runs the command that follows the task's ending; null if there is none. */
  readonly onEnd: ((input: string) => Promise<CommandResult>) | null;
  readonly onEndFailed: (result: CommandResult) => void;
}

/** The part of the request that a baseline depends on. */
export type BaselineRequest = Pick<
  WorkspaceRequest,
  'cwd' | 'globs' | 'existing' | 'donePath' | 'protect' | 'isOwn'
>;

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

/** Compares the files, the plan and the work tree after each iteration with their state before it. */
export function createWorkspace(request: WorkspaceRequest, baseline: Baseline): Workspace {
  const { cwd, git, run } = request;
  /** Newer marks of protected files whose content is the same. */
  const unchanged = new Map<string, FileMark>();
  let before = baseline.watched;
  let planBefore: PlanCount | null = null;
  // Each iteration is compared with the state after the previous one, unless something else has run in
  // between.
  let gitIsMarked = true;
  let beforeIsNow = false;
  // A further attempt belongs to the same iteration, so the changes of earlier attempts still count.
  let filesAreMarked = false;
  // In a resumed task, a request that the last driver died without seeing counts as new.
  let requestsBefore = request
    .requests()
    .filter((name) => !request.isResumed || name === request.asked || name.startsWith('APPROVAL_'));
  let requestsAreMarked = request.isResumed === true;
  // A person is asked one thing at a time: further requests wait for the next iteration.
  let notAskedYet: readonly string[] = [];
  // After a resume, changes that the agent made before the driver died look as if they had always been
  // there. So the absence of signs proves nothing, and only positive signs count.
  let mayBeOld = request.isResumed === true;
  const knownSign = <Sign>(sign: Sign): Sign | null => (mayBeOld && !isSign(sign) ? null : sign);
  /** Runs one of the user's commands; what it changes does not count as the agent's progress. */
  const runOwn = (command: string, input: string): Promise<CommandResult> => {
    gitIsMarked = false;
    beforeIsNow = false;
    return run(command, input);
  };

  return {
    get isQuick() {
      return !request.isSlow && git?.isIdle !== false;
    },
    async mark() {
      if (!gitIsMarked) await git?.mark();
      gitIsMarked = true;
      if (filesAreMarked) return;
      filesAreMarked = true;
      if (!requestsAreMarked) {
        requestsBefore = request.requests().filter((name) => !notAskedYet.includes(name));
      }
      requestsAreMarked = false;
      if (beforeIsNow) return;
      before = await markFiles(request.globs, request, before);
      planBefore = planOf(request.planFile);
      beforeIsNow = true;
    },
    async look() {
      const now = await markFiles(request.globs, request, before);
      const plan = planOf(request.planFile);
      // Computed before `--until` runs, since its changes are not the agent's either. A resumed task may
      // begin with a look, before anything was marked to compare with.
      const progress: ProgressSigns = !filesAreMarked
        ? { git: null, watched: null }
        : {
            git: knownSign((await git?.since()) ?? null),
            watched: knownSign(watchedMoved(request, now, before, planBefore, plan)),
          };
      mayBeOld = false;
      filesAreMarked = false;
      before = now;
      planBefore = plan;
      beforeIsNow = true;
      const asked = request.requests().filter((name) => !requestsBefore.includes(name));
      notAskedYet = asked.slice(1);
      const moved =
        request.donePath !== null && (await differs(request.donePath, baseline.done ?? undefined));
      return {
        watchMatches: changed(now, baseline.watched, cwd),
        movedFile: moved ? request.donePath : null,
        until: request.until === null ? null : await runOwn(request.until, ''),
        plan,
        protectedChanged: await changedOrGone(baseline.protected, unchanged, cwd),
        approvalFile:
          asked[0] === undefined ? null : { name: asked[0], what: request.describe(asked[0]) },
        progress,
      };
    },
    verify: (command) => runOwn(command, ''),
    async after(command, event) {
      const result = await runOwn(command, `${safeJson(event)}\n`);
      if (result.exitCode !== 0) request.onAfterFailed(result);
    },
    async changes(gitBase, hurry) {
      const change = (await git?.inAll(gitBase, hurry)) ?? null;
      return change === null ? null : { commits: change.commits, files: change.filesChanged };
    },
    finished: () => request.onFinished(),
    async ended(event) {
      const result = await request.onEnd?.(`${safeJson(event)}\n`);
      if (result !== undefined && result.exitCode !== 0) request.onEndFailed(result);
    },
  };
}

function isSign(sign: unknown): boolean {
  if (typeof sign !== 'object' || sign === null) return sign === true;
  return Object.values(sign).some((count) => count > 0);
}

/** Limited, because the agent writes this file. */
const PLAN_MAX_BYTES = MB;

function planOf(planFile: string | null): PlanCount | null {
  if (planFile === null) return null;
  try {
    return readPlan(readTextWithin(planFile, PLAN_MAX_BYTES));
  } catch {
    return null;
  }
}

/** Whether a watched file or the plan advanced in this iteration; null if neither is watched. */
function watchedMoved(
  { cwd, globs, planFile }: WorkspaceRequest,
  now: FileMarks,
  before: FileMarks,
  planBefore: PlanCount | null,
  plan: PlanCount | null,
): ProgressSigns['watched'] {
  if (globs.length === 0 && planFile === null) return null;
  const advanced = (plan?.done ?? 0) > (planBefore?.done ?? 0);
  return advanced || changed(now, before, cwd).length > 0;
}

/** Returns the files that are new or differ from their marks. */
function changed(now: FileMarks, marks: FileMarks, cwd: string): readonly string[] {
  if (now === marks) return [];
  return Object.keys(now)
    .filter((file) => {
      const mark = now[file];
      return mark !== undefined && isOther(mark, marks[file]);
    })
    .sort()
    .map((file) => named(file, cwd));
}

/** Returns the protected files that were changed or deleted. */
async function changedOrGone(
  marks: FileMarks,
  unchanged: Map<string, FileMark>,
  cwd: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of Object.keys(marks).sort()) {
    const mark = unchanged.get(file) ?? marks[file];
    if (mark === undefined) continue;
    const now = await markFile(file, mark);
    if (now === null || isOther(now, mark)) found.push(named(file, cwd));
    else if (now.sha256 === mark.sha256) unchanged.set(file, now);
  }
  return found;
}

function named(file: string, cwd: string): string {
  return path.relative(cwd, file) || file;
}
