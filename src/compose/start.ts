import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type AgentName, isAgentName } from '../core/agent/agents/agents.ts';
import {
  type SessionUsage,
  sessionUsageAfter,
  type Usage,
  usageOfAttempt,
} from '../core/agent/attempt.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import type { LoopEvent } from '../core/machine/loop-event.ts';
import { isAtWork, type LoopState } from '../core/machine/loop-state.ts';
import { initialState } from '../core/machine/transition.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { timeLeftMs, workedUntil } from '../core/task/clock-gap.ts';
import { newTaskState } from '../core/task/new-task.ts';
import {
  hasUnannouncedEnding,
  laterBy,
  NOTHING_IN_GIT,
  type TaskState,
} from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import type { AgentKind } from '../effects/agents/agent.ts';
import { readLostAttempt } from '../effects/agents/lost-attempt.ts';
import { type GitSetup, storedGitSetup } from '../effects/branches/commit/git-setup.ts';
import { inOwnTree } from '../effects/branches/own-tree.ts';
import { untoldEvents } from '../effects/logs/untold-events.ts';
import { requirePlanAfterSetup } from '../effects/plan/plan-left-behind.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { settingsJson } from '../effects/plan/stored-settings.ts';
import { changingFacts, promptText, taskFacts } from '../effects/plan/task-facts.ts';
import type { DecidersAtStart } from '../effects/proof/deciders-at-start.ts';
import type { LoopMemory } from '../effects/state/saved-step.ts';
import { createStateStore } from '../effects/state/state-store.ts';
import { systemClock } from '../effects/time/clock.ts';
import { intoWorkProblem, takeIntoWork } from '../effects/vault/task-file.ts';
import { IN_PROGRESS } from '../effects/vault/vault-folders.ts';
import {
  type Baseline,
  type BaselineRequest,
  idleProtections,
  takeBaseline,
} from '../effects/workspace/baseline.ts';
import { fitBaseline, readBaseline } from '../effects/workspace/kept-baseline.ts';
import { baselineLost, protectsNothing } from '../report/notices.ts';
import { BaselineMisfitError, TaskAlreadyActiveError } from '../task-errors.ts';
import { agentKind } from './agent.ts';
import { type ClaimedRun, READY, type ReadyTree } from './held-run.ts';
import { type AdoptedTask, adopt, retireEarlierTask } from './open-task.ts';
import { decidersOf } from './proof/deciders.ts';
import { type WatchedTree, watchTree } from './snapshots.ts';

/** What the loop starts with, for a new or a resumed task. */
export interface Start {
  readonly state: LoopState;
  readonly event: LoopEvent;
  /** The state of the files at the task's start. */
  readonly baseline: Baseline;
  /** Events that an earlier process saved but did not publish. */
  readonly untold: readonly RalphEvent[];
  readonly tree: WatchedTree;
  /** The hooks and settings that commits used when the task began; null if unknown. */
  readonly gitSetup: GitSetup | null;
  /** What decided the results of the checks when the task began; null without checks. */
  readonly deciders: DecidersAtStart | null;
}

/** Starts a new task: moves its file to `In_Progress`, records how the files are at the start, and makes its state. */
export async function begin(run: ClaimedRun, watch: BaselineRequest): Promise<Start> {
  const { plan, paths, warn, driver, seal } = run;
  await retireEarlierTask(paths, plan.taskId, seal, warn);
  const at = systemClock.now();
  const { note, ready } = await takeUp(run, at);
  const baseline = await takeBaseline(watch);
  for (const glob of await idleProtections(watch)) warn(protectsNothing(glob));
  const tree = await watchTree(run, {
    ...{ task_id: plan.taskId, started_at: at, status: 'pending', git: NOTHING_IN_GIT },
  });
  const snapshots = tree.keeper?.refs ?? null;
  const gitBase = (await tree.progress?.mark()) ?? null;
  const task = note ?? { ...newTaskOf(plan, at), driver };
  return {
    state: initialState({ ...task, git_base: gitBase, git: { ...task.git, snapshots } }),
    event: await startedEvent(plan, systemClock.now(), ready),
    baseline,
    untold: [],
    tree,
    gitSetup: await gitSetupOf(run, tree, true),
    deciders: await decidersOf(run, true),
  };
}

function newTaskOf(plan: RunPlan, at: string): TaskState {
  return newTaskState(taskFacts(plan), at, plan.taskTimeoutMs);
}

/** Returns the hooks and settings of commits at the task's start. Outside git, the code for commits is not loaded. */
async function gitSetupOf(
  run: ClaimedRun,
  { keeper }: WatchedTree,
  isBeginning: boolean,
): Promise<GitSetup | null> {
  if (keeper === null) return isBeginning ? null : storedGitSetup(run.paths.folder);
  const settle = await import('./settle.ts');
  if (isBeginning) return settle.gitSetupNow(run, keeper);
  await settle.followEarlier(keeper);
  return storedGitSetup(run.paths.folder);
}

/** The task's first state, null if it is not saved yet, and whether the task's own work tree is ready. */
interface TakenUp {
  readonly note: TaskState | null;
  readonly ready: ReadyTree;
}

/**
 * Saves the task's first state, so that a resume is possible after a crash; then makes the task's own work tree and
 * moves the task's file to `In_Progress`. The baseline is recorded later, so that neither step counts as a change.
 * Does nothing for a task that has neither a file nor a work tree of its own.
 */
async function takeUp(run: ClaimedRun, at: string): Promise<TakenUp> {
  const { plan, paths, warn, driver, seal, clock } = run;
  const { taskFile, workTree } = plan;
  if (taskFile === null && workTree === null) return { note: null, ready: READY };
  const noted = {
    ...newTaskOf(plan, at),
    driver,
    task_file: taskFile === null ? null : path.join(IN_PROGRESS, path.basename(taskFile)),
    git: { ...NOTHING_IN_GIT, work_tree: workTree },
  };
  const files = {
    prompt: plan.prompt,
    settings: settingsJson(plan),
    baseline: '{}\n',
    gitSetup: null,
    deciders: null,
  };
  const request = { paths, seal, clock, task: noted, files, warn };
  // Failures are not reported here, because the run's own store will report them.
  const store = await createStateStore({ ...request, onFailure() {} });
  await store.save(initialState(noted), []);
  await store.durable();
  try {
    const ready = await run.tree.ready(noted);
    if (ready.setupFailed === null) await requirePlanAfterSetup(plan);
    if (taskFile !== null) await takeIntoWork(plan.vault, taskFile);
    return { note: { ...noted, ...store.newest() }, ready };
  } catch (error) {
    // The task has not begun, so its state and folder are removed.
    await run.tree.discard();
    for (const each of [paths.stateFile, paths.folder]) {
      rmSync(each, { recursive: true, force: true });
    }
    throw error;
  }
}

interface ResumedRun extends ClaimedRun {
  readonly kindOf: (agent: AgentName) => AgentKind;
}

/** Resumes a task: restores its state, what the loop remembers, and the time that is left. */
export async function resumeRun(run: ResumedRun, watch: BaselineRequest): Promise<Start> {
  const { plan, paths, warn, driver, resume, seal } = run;
  const isTrusted = resume?.isTrusted === true;
  const { task, step } = await adopt(paths, plan.taskId, seal, isTrusted, warn);
  const tellsOnly = resume?.announcesOnly === true;
  if (tellsOnly && !hasUnannouncedEnding(task)) {
    throw new TaskAlreadyActiveError(plan.taskId, 'another one has just told how it ended');
  }
  const ready = tellsOnly ? READY : await run.tree.ready(task);
  await moveLate(task, plan);
  const kept = readBaseline(paths.folder);
  const fitted = kept === null ? null : await fitBaseline(kept, watch, run.leg !== undefined);
  if (fitted !== null && 'misfit' in fitted) {
    throw new BaselineMisfitError(plan.taskId, plan.cwd, fitted.misfit);
  }
  const isLost = kept === null && task.status !== 'pending';
  if (isLost && (watch.globs.length > 0 || watch.protect.length > 0)) warn(baselineLost());
  const tree = await watchTree(run, task);
  const snapshots = tree.keeper?.refs ?? task.git.snapshots;
  const gitBase = (await tree.progress?.mark()) ?? null;
  const at = systemClock.now();
  const newMs = plan.taskTimeoutMs;
  const limits = { oldMs: resume?.previousTimeoutMs ?? newMs, newMs };
  const lost = lostAttempt(run, task, step);
  const workedAt = workedUntil(task, lost?.lastWordAt ?? null, at);
  const leftMs = timeLeftMs(task, workedAt, limits);
  const fresh = initialState(task);
  const hasEnded = task.status !== 'running' && task.status !== 'pending';
  const preview = task.iterations.at(-1)?.output_preview ?? null;
  const state: LoopState = {
    ...fresh,
    step: hasEnded ? { kind: 'ended' } : fresh.step,
    carry: { ...fresh.carry, output: preview },
    ...(step === null ? {} : remembered(step.memory, run, task)),
    // The settings given by this resume replace those in the state.
    task: {
      ...task,
      driver,
      ...changingFacts(plan),
      git: { ...task.git, snapshots },
    },
  };
  const baseline = fitted?.baseline ?? (await takeBaseline(watch));
  // In a fleet, the worker works in a new clone, so the hooks and settings of this clone are read.
  const gitSetup = await gitSetupOf(run, tree, task.status === 'pending' || run.leg !== undefined);
  const deciders = await decidersOf(run, task.status === 'pending');
  const known = { baseline, tree, gitSetup, deciders };
  // The first process had saved the first state, but died before the task began.
  if (task.status === 'pending') {
    const max_iterations = plan.policy.maxIterations;
    const timeout_at = laterBy(systemClock.now(), leftMs);
    const begun = { ...state.task, git_base: gitBase, max_iterations, timeout_at };
    const event = await startedEvent(plan, at, ready);
    return { ...known, state: { ...state, task: begun }, event, untold: [] };
  }
  return {
    ...known,
    state,
    event: {
      ...{ kind: 'resumed', at, timeLeftMs: leftMs, lost: lost?.usage ?? null },
      lostSession: lost?.sessionUsage ?? null,
      ...(await missingJudgeOf(plan)),
      ...{ tellsOnly, setupFailed: ready.setupFailed, waitedOn: run.leg !== undefined },
    },
    untold: untoldEvents(paths.eventsFile, step?.events ?? []),
  };
}

/** Returns what the loop remembers of the last run. If the task's folders have changed, it observes the files again. */
function remembered(memory: LoopMemory, run: ResumedRun, task: TaskState): LoopMemory {
  const { step } = memory;
  const { plan, resume } = run;
  const cwd = inOwnTree(plan.workTree, resume?.previousCwd ?? plan.cwd);
  const folder = path.resolve(plan.vault, task.done_folder);
  const donePath =
    task.watch_file === null ? null : path.join(folder, path.basename(task.watch_file));
  const isElsewhere = cwd !== plan.cwd || donePath !== plan.donePath;
  const isChecking = step.kind === 'verifying' || step.kind === 'examining';
  return isChecking && isElsewhere
    ? { ...memory, step: { kind: 'looking', answer: step.answer } }
    : memory;
}

async function startedEvent(plan: RunPlan, at: string, ready: ReadyTree): Promise<LoopEvent> {
  const judgeMissing = await missingJudgeOf(plan);
  const prompt = oneLine(maskSecrets(promptText(plan)), 500);
  return { kind: 'started', at, prompt, ...ready, ...judgeMissing };
}

/** Returns in `judgeMissing` why the judge cannot be started. The code for judges is loaded only if there is one. */
async function missingJudgeOf(plan: RunPlan): Promise<{ readonly judgeMissing?: string }> {
  const { judge } = plan.policy;
  if (judge === null) return {};
  const { missingJudge } = await import('./judge/judge-kind.ts');
  const why = missingJudge(plan, judge, agentKind);
  return why === null ? {} : { judgeMissing: why };
}

/** Moves the task's file to `In_Progress` if the first process died before it could. */
async function moveLate(task: TaskState, { vault, taskFile }: RunPlan): Promise<void> {
  if (task.status !== 'pending' || task.task_file === null || taskFile === null) return;
  const isThere = existsSync(path.join(vault, task.task_file));
  // If both folders have the file, a move was interrupted, unless the file in `In_Progress` is another task's.
  if (!isThere || intoWorkProblem(vault, taskFile) === null) await takeIntoWork(vault, taskFile);
}

/** Reads from the logs the usage of the attempt that was running when the last process died. Null if none was. */
function lostAttempt(
  { kindOf, plan, paths }: ResumedRun,
  task: TaskState,
  step: AdoptedTask['step'],
): {
  readonly usage: Usage;
  readonly sessionUsage: SessionUsage | null;
  readonly lastWordAt: string | null;
} | null {
  if (step === null || !isAtWork(step.memory.step)) return null;
  const { current_iteration: iteration } = task;
  const kind = kindOf(isAgentName(task.agent) ? task.agent : plan.policy.agent);
  const { told, lastWordAt } = readLostAttempt(kind, paths.folder, iteration, step.logBytes);
  return {
    usage: usageOfAttempt(told, task.session_usage),
    sessionUsage: sessionUsageAfter(told, null),
    lastWordAt,
  };
}
