import path from 'node:path';
import type { CommandResult, MeasuredResult } from '../../core/completion/command-result.ts';
import { commandsOf } from '../../core/completion/conditions/conditions.ts';
import type { PlanCount } from '../../core/completion/plan-file.ts';
import type { ProgressSigns, Sightings } from '../../core/completion/sightings.ts';
import type { Policy } from '../../core/task/policy.ts';
import type { Observer } from '../../loop/ports.ts';
import { realPath } from '../files/real-path.ts';
import type { Baseline, BaselineRequest } from './baseline.ts';
import {
  differs,
  type FileMark,
  type FileMarks,
  isOther,
  markFile,
  markFiles,
} from './file-marks.ts';
import type { GitChange, GitProgress } from './git-progress.ts';
import { countPlan, lookAtPlan } from './plan-count.ts';

/** The files and commands that a task observes. */
export interface Watch extends BaselineRequest {
  /** The file that lists this task and others. A change of this file is no progress. Absent if there is no list. */
  readonly list?: string;
  /** The shell commands to run for each observation, by the kind of the completion condition that needs the command. */
  readonly commands: Readonly<Record<string, string>>;
}

/** Returns the files and commands that a task with this policy observes. */
export function watchOf(
  policy: Policy,
  place: Pick<Watch, 'cwd' | 'existing' | 'donePath' | 'isOwn'>,
): Watch {
  const { watchGlobs: globs, protect, planFile, planSection: planSections, list } = policy;
  const plan = planFile === null ? null : path.resolve(place.cwd, planFile);
  return {
    ...place,
    ...{ globs, protect, planSections, planFile: plan },
    ...(list === undefined ? {} : { list }),
    commands: commandsOf(policy),
  };
}

/** Runs one of the user's shell commands with the text `input` on its standard input. */
export type RunCommand = (command: string, input: string) => Promise<CommandResult>;

export interface ObserverRequest extends Watch {
  readonly run: RunCommand;
  /** Runs the command of a completion condition, and reads its whole output. */
  readonly measure: (command: string) => Promise<MeasuredResult>;
  /** Whether the task was resumed, so that part of its first iteration may already be done. */
  readonly isResumed?: boolean;
  /** Finds progress in git; its `mark` has already been called. Null or absent if git is not used. */
  readonly git?: GitProgress | null;
  /** Finds the approval request that the agent has made since `mark`. Absent if requests are not read. */
  readonly pending?: { mark(): void; made(): Sightings['approvalFile'] };
}

/**
 * Compares the files, the plan and the work tree after each iteration with their state before it. Changes
 * by a command that the returned `run` runs do not count as the agent's progress.
 */
export function createObserver(
  request: ObserverRequest,
  baseline: Baseline,
): Observer & {
  readonly run: RunCommand;
  /** Call this when a program starts whose changes are not the agent's. */
  readonly disturb: () => void;
  /** Call this after a program has run before the first iteration: what it wrote does not complete the task. */
  readonly beginAgain: () => Promise<void>;
} {
  const { cwd, git, pending } = request;
  /** Newer fingerprints of protected files whose content is the same. */
  const unchanged = new Map<string, FileMark>();
  let atStart = baseline.watched;
  let before = atStart;
  let planBefore: PlanCount | null = null;
  // The state after an iteration is the state before the next one, unless a command runs in between.
  let gitIsMarked = true;
  let beforeIsNow = false;
  // A second attempt belongs to the same iteration, so changes by the first attempt still count.
  let filesAreMarked = false;
  // After a resume, changes that the agent made before the earlier process was killed cannot be seen. So the
  // first observation shows whether there was progress only if it finds some.
  let mayBeOld = request.isResumed === true;
  const knownSign = <Sign>(sign: Sign): Sign | null => (mayBeOld && !isSign(sign) ? null : sign);
  const disturb = (): void => {
    gitIsMarked = false;
    beforeIsNow = false;
  };
  const run: RunCommand = (command, input) => {
    disturb();
    return request.run(command, input);
  };

  const runAll = async (commands: Watch['commands']): Promise<Sightings['commands'] & object> => {
    const results: Record<string, MeasuredResult> = {};
    for (const [kind, command] of Object.entries(commands)) {
      disturb();
      results[kind] = await request.measure(command);
    }
    return results;
  };

  return {
    run,
    disturb,
    async beginAgain() {
      if (request.globs.length === 0 || request.existing) return;
      atStart = await markFiles(request.globs, request, atStart);
      before = atStart;
    },
    get usesGit() {
      return git?.isIdle === false;
    },
    async mark() {
      if (!gitIsMarked) await git?.mark();
      gitIsMarked = true;
      if (filesAreMarked) return;
      filesAreMarked = true;
      pending?.mark();
      if (beforeIsNow) return;
      before = await markFiles(request.globs, request, before);
      planBefore = countPlan(request);
      beforeIsNow = true;
    },
    async look() {
      const now = await markFiles(request.globs, request, before);
      const plan = countPlan(request);
      // Computed before the commands run, since their changes are not the agent's. A resumed task can begin
      // with an observation, when there is no earlier state to compare with.
      const progress: ProgressSigns = !filesAreMarked
        ? { git: null, watched: null }
        : {
            git: knownSign(signOf((await git?.since()) ?? null, request)),
            watched: knownSign(watchedMoved(request, now, before, planBefore, plan)),
          };
      mayBeOld = false;
      filesAreMarked = false;
      before = now;
      planBefore = plan;
      beforeIsNow = true;
      const approvalFile = pending?.made() ?? null;
      const moved =
        request.donePath !== null && (await differs(request.donePath, baseline.done ?? undefined));
      return {
        watchMatches: changed(now, atStart, cwd),
        movedFile: moved ? request.donePath : null,
        commands: await runAll(request.commands),
        plan,
        planAtStart: baseline.plan,
        protectedChanged: await changedOrGone(baseline.protected, unchanged, cwd),
        approvalFile,
        progress,
      };
    },
    async changes({ base, branches }, hurry) {
      const change = (await git?.inAll(base, hurry, branches)) ?? null;
      if (change === null) return null;
      const { commits, filesChanged: files, names, lines = null } = change;
      return { commits, files, ...(names === undefined ? {} : { names }), lines };
    },
    plan: () => lookAtPlan(request, (file) => named(file, cwd)),
  };
}

function signOf(
  change: GitChange | null,
  { planFile, list }: Pick<ObserverRequest, 'planFile' | 'list'>,
): ProgressSigns['git'] {
  if (change === null) return null;
  const { commits, filesChanged, onlyFile = null } = change;
  const isOnly = (file: string | null | undefined): boolean =>
    onlyFile !== null && typeof file === 'string' && realPath(onlyFile) === realPath(file);
  if (isOnly(list)) return { commits: 0, filesChanged: 0 };
  const isPlan = isOnly(planFile);
  return { commits, filesChanged, ...(isPlan ? { onlyPlan: true } : {}) };
}

function isSign(sign: unknown): boolean {
  if (typeof sign !== 'object' || sign === null) return sign === true;
  return Object.values(sign).some((count) => typeof count === 'number' && count > 0);
}

/** Whether a watched file changed or the plan has more done steps; null if the task has neither. */
function watchedMoved(
  { cwd, globs, planFile }: ObserverRequest,
  now: FileMarks,
  before: FileMarks,
  planBefore: PlanCount | null,
  plan: PlanCount | null,
): ProgressSigns['watched'] {
  if (globs.length === 0 && planFile === null) return null;
  const advanced = (plan?.done ?? 0) > (planBefore?.done ?? 0);
  return advanced || changed(now, before, cwd).length > 0;
}

/** Returns the files that are new or differ from their fingerprints, relative to `cwd`. */
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

/** Returns the protected files that were changed or deleted, relative to `cwd`. */
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
