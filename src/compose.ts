import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentKind } from './compose/agent-kind.ts';
import { noteWriter } from './compose/note-writer.ts';
import { clearUp, doubtOf, holdTask, makeRoom, takeUp } from './compose/open-task.ts';
import { endCommand, userCommands } from './compose/user-commands.ts';
import { approvalDesk, putAway } from './compose/vault-work.ts';
import type { LoopEvent, LoopState } from './core/machine.ts';
import { oneLine, withoutControls } from './core/material.ts';
import { maskSecrets } from './core/secrets.ts';
import { lastWorkAt, msBetween, type NewTask, newTaskState } from './core/task-state.ts';
import { initialState } from './core/transition.ts';
import {
  type ChildOptions,
  createAgentRunner,
  type GuardedRunner,
} from './effects/agent-runner.ts';
import { systemClock } from './effects/clock.ts';
import { thisDriver } from './effects/driver-identity.ts';
import { createGitProgress, type GitProgress } from './effects/git-progress.ts';
import { createJournal } from './effects/journal.ts';
import { readMemory } from './effects/loop-memory.ts';
import { findOtherLoops } from './effects/other-loops.ts';
import { describeRequest, requestsNaming } from './effects/pending-requests.ts';
import { fixedPrompt, promptFile } from './effects/prompt-source.ts';
import { watchRequests } from './effects/requests.ts';
import type { RunPlan } from './effects/run-plan.ts';
import { preventSleep, type SleepInhibitor } from './effects/sleep-inhibitor.ts';
import { createStateStore } from './effects/state-store.ts';
import { type SignalWatch, watchSignals } from './effects/stop-requests.ts';
import { takeIntoWork } from './effects/task-file.ts';
import { type TaskPaths, taskPaths } from './effects/task-folder.ts';
import { settingsJson } from './effects/task-settings.ts';
import { openSeal, type Seal } from './effects/trust/seal.ts';
import { ownFiles, VAULT_FOLDERS } from './effects/vault-folders.ts';
import {
  type Baseline,
  type BaselineRequest,
  createWorkspace,
  idleProtections,
  readBaseline,
  takeBaseline,
} from './effects/workspace.ts';
import { TaskAlreadyActiveError } from './errors.ts';
import { exitCodeFor } from './exit-codes.ts';
import type { Ports, Reporter } from './loop/ports.ts';
import { type RunEnd, runLoop } from './loop/run-loop.ts';
import { defaultLimitHint } from './report/default-limit.ts';
import {
  baselineLost,
  commandFailed,
  leftoverLine,
  protectsNothing,
  sayingText,
} from './report/messages.ts';
import type { View } from './report/view.ts';

// biome-ignore lint/performance/noBarrelFile: this file is a door to the effects
export { locateAgent } from './compose/agent-kind.ts';
export { planRun, type RunPlan } from './effects/run-plan.ts';
export { keepAside as setAside } from './effects/state-store.ts';
export { watchAbort } from './effects/stop-requests.ts';
export { makePrivateFolder } from './effects/write-file.ts';
export { clearUp, doubtOf };

export interface RunOptions {
  readonly plan: RunPlan;
  readonly view: View;
  /** Said once the task is this process's to drive. */
  readonly announcements?: readonly string[];
  /** Given how it ended, before what is needed to go on with it is put away: whoever dies before has told nobody. */
  readonly tell?: (fields: RunEnd['fields']) => void;
  /** Given where a task is gone on with. */
  readonly resume?: Resume;
  /** Who may ask the loop to stop; signals, if nobody is named. */
  readonly stops?: SignalWatch;
  /** Aborts, with the error, where something is thrown that nobody waits for. */
  readonly bugs?: AbortSignal;
  /** Whether somebody sits at a terminal and watches: then the machine is kept awake where that works. */
  readonly isAttended?: boolean;
  /** Told how many bytes the agent has just said. */
  readonly onOutput?: (bytes: number) => void;
  /** Words between the agent's program and its arguments: for a program that is a script. */
  readonly agentPrefixArgs?: readonly string[];
}

/** What is known of a task that is gone on with, beside its plan. */
export interface Resume {
  /** How long its whole time was before. */
  readonly previousTimeoutMs: number;
  /** A person has looked at what somebody else has written, and takes it over. */
  readonly isTrusted: boolean;
}

/**
 * Binds the effects to the loop's ports and runs one task to its end, from its beginning or from where
 * it stood. Rejects with `TaskAlreadyActiveError`, and for what stands in the way of a resume with
 * `TaskNotFoundError`, `StateTooNewError` or `StateCorruptedError`.
 */
export async function startRun(options: RunOptions): Promise<RunEnd> {
  const { plan, view } = options;
  const paths = taskPaths(plan.stateDir, plan.taskId);
  const warn = (sentence: string): void => view.notice(withoutControls(sentence));
  const driver = thisDriver(systemClock.now(), randomUUID());
  const stops = options.stops ?? watchSignals();
  try {
    const hold = await holdTask(paths, plan.taskId, driver);
    try {
      options.announcements?.forEach(warn);
      const awake = keepAwake(options);
      const run = { ...options, paths, warn, driver, hold, stops, seal: sealOf(plan, warn) };
      const end = await runHeld(run).finally(awake.close);
      if (hold.isLost()) throw new TaskAlreadyActiveError(plan.taskId, 'it has taken over');
      return end;
    } finally {
      hold.release();
    }
  } finally {
    view.close();
    stops.close();
  }
}

/** Without a key the task runs all the same; only to go on with it a person has to vouch for it. */
function sealOf({ stateDir, keyFile }: RunPlan, warn: (sentence: string) => void): Seal {
  const seal = openSeal({ stateDir, keyFile, env: process.env, create: true });
  if (seal.problem !== null) {
    warn(`This task cannot be signed, so that going on with it takes --trust: ${seal.problem}`);
  }
  return seal;
}

function keepAwake({ plan, isAttended = false }: RunOptions): SleepInhibitor {
  const { settings, taskId, env } = plan;
  const isWanted = settings.preventSleep ?? isAttended;
  return isWanted
    ? preventSleep({ taskId, env, isAsked: settings.preventSleep === true })
    : { close() {} };
}

interface HeldRun extends RunOptions {
  readonly paths: TaskPaths;
  readonly warn: (sentence: string) => void;
  readonly driver: NonNullable<NewTask['driver']>;
  readonly hold: Awaited<ReturnType<typeof holdTask>>;
  readonly stops: SignalWatch;
  readonly seal: Seal;
}

async function runHeld(run: HeldRun): Promise<RunEnd> {
  const { plan, view, paths, warn, stops } = run;
  const { policy } = plan;
  const watch = watchOf(plan);
  const git = gitProgress(plan, stops.signal);
  const start =
    run.resume === undefined ? await begin(run, watch, git) : await goOn(run, watch, git);
  if (policy.agent === 'claude') findOtherLoops(plan.cwd, plan.env).forEach(warn);

  const journal = createJournal(paths.eventsFile, warn);
  const requests = watchRequests(paths.folder, run.seal);
  requests.stop.addEventListener('abort', () => stops.request('request'));
  stops.signal.addEventListener('abort', () => view.doing?.({ kind: 'stop' }));
  let runner: GuardedRunner | null = null;
  try {
    const store = await createStateStore({
      paths,
      seal: run.seal,
      task: start.state.task,
      files: {
        prompt: plan.prompt,
        settings: settingsJson(plan),
        baseline: `${JSON.stringify(start.baseline)}\n`,
      },
      warn,
    });
    run.hold.keep(store, stops);
    const hint = defaultLimitHint(plan.sources, warn);
    const reporter: Reporter = {
      publish(event) {
        journal.append(event);
        view.event(event);
        hint(event);
      },
      wants: (what) =>
        what === 'agent-text' ? view.showsText : view.showsActivity || journal.hasRoom(what),
      agentText: (text) => view.agentText(text),
      say: (what) => warn(sayingText(what)),
      doing: (what) => view.doing?.(what),
    };
    const child: ChildOptions = {
      env: plan.env,
      runId: run.driver.run_id,
      taskId: plan.taskId,
      maxIterations: policy.maxIterations,
      stateFile: paths.stateFile,
    };
    runner = agentRunner(run, child);
    let iteration = start.state.task.current_iteration;
    const agent = runner;
    const ports: Ports = {
      agent: {
        run(request) {
          iteration = request.iteration;
          return agent.run(request);
        },
        close: (hurry) => agent.close(hurry),
      },
      store,
      prompt:
        plan.promptFile === null
          ? fixedPrompt(plan.prompt)
          : promptFile(plan.promptFile, plan.prompt, warn),
      workspace: createWorkspace(
        {
          ...watch,
          isResumed: run.resume !== undefined,
          requests: () => requestsNaming(plan.vault, plan.taskId),
          describe: (request) => describeRequest(plan.vault, request),
          asked: start.state.task.approval?.file ?? null,
          onFinished: () => putAway(start.state.task, plan, warn),
          planFile: policy.planFile === null ? null : path.resolve(plan.cwd, policy.planFile),
          until: policy.until,
          git,
          run: userCommands(plan, child, stops, () => iteration),
          onAfterFailed: ({ exitCode }) => warn(commandFailed('--after', exitCode)),
          onEnd: endCommand(plan, child, stops, () => iteration),
          onEndFailed: ({ exitCode }) => warn(commandFailed('--on-end', exitCode)),
        },
        start.baseline,
      ),
      requests,
      approvals: approvalDesk(plan, paths, warn),
      notes: noteWriter(plan, paths, warn),
      reporter,
      clock: systemClock,
      stops,
      bugs: run.bugs ?? new AbortController().signal,
      abandon: () => stops.request('request'),
      exitCode: exitCodeFor,
    };
    const end = await runLoop(ports, start.state, start.event, policy);
    view.close();
    run.tell?.(end.fields);
    await store.told();
    return end;
  } finally {
    runner?.dismissGuard();
    requests.close();
    journal.close();
  }
}

/** Where a run begins: the loop's state, its first event, and how the files stood at the task's start. */
interface Start {
  readonly state: LoopState;
  readonly event: LoopEvent;
  readonly baseline: Baseline;
}

/** A new task. */
async function begin(
  { plan, paths, warn, driver, seal }: HeldRun,
  watch: BaselineRequest,
  git: GitProgress | null,
): Promise<Start> {
  await makeRoom(paths, plan.taskId, seal, warn);
  // First of all: where it is moved to is no sign of anything.
  const taskFile = plan.taskFile === null ? null : await takeIntoWork(plan.vault, plan.taskFile);
  const baseline = await takeBaseline(watch);
  for (const glob of await idleProtections(watch)) warn(protectsNothing(glob));
  const gitBase = (await git?.mark()) ?? null;
  const at = systemClock.now();
  const task = {
    ...newTaskState({ ...taskFacts(plan), driver, gitBase }, at),
    task_file: taskFile === null ? null : path.relative(plan.vault, taskFile),
  };
  const prompt = oneLine(maskSecrets(promptText(plan)), 500);
  return { state: initialState(task), event: { kind: 'started', at, prompt }, baseline };
}

/** A task that was begun before: its state, what the loop remembers, and the time that is left. */
async function goOn(
  { plan, paths, warn, driver, resume, seal }: HeldRun,
  watch: BaselineRequest,
  git: GitProgress | null,
): Promise<Start> {
  const believed = resume?.isTrusted === true ? null : seal;
  const task = await takeUp(paths, plan.taskId, believed, warn);
  const kept = readBaseline(paths.folder);
  if (kept === null && (watch.globs.length > 0 || watch.protect.length > 0)) warn(baselineLost());
  await git?.mark();
  const facts = { ...taskFacts(plan), driver, gitBase: task.git_base };
  const settled = newTaskState(facts, task.started_at);
  const at = systemClock.now();
  const previousTimeoutMs = resume?.previousTimeoutMs ?? plan.taskTimeoutMs;
  const timeLeftMs =
    msBetween(lastWorkAt(task), task.timeout_at) + plan.taskTimeoutMs - previousTimeoutMs;
  const memory = readMemory(paths.folder, task, believed);
  const fresh = initialState(task);
  const hasEnded = task.status !== 'running' && task.status !== 'pending';
  const preview = task.iterations.at(-1)?.output_preview ?? null;
  return {
    state: {
      ...fresh,
      step: hasEnded ? { kind: 'ended' } : fresh.step,
      carry: { ...fresh.carry, output: preview },
      ...memory,
      // Settings that were given anew are in force from now on.
      task: {
        ...task,
        driver,
        task_type: settled.task_type,
        completion_promise: settled.completion_promise,
        match: settled.match,
        watch_glob: settled.watch_glob,
        watch_file: settled.watch_file,
        done_folder: settled.done_folder,
      },
    },
    event: { kind: 'resumed', at, timeLeftMs },
    baseline: kept ?? (await takeBaseline(watch)),
  };
}

function watchOf(plan: RunPlan): BaselineRequest {
  return {
    cwd: plan.cwd,
    globs: plan.policy.watchGlobs,
    existing: plan.settings.watchExisting,
    donePath: plan.donePath,
    protect: plan.policy.protect,
    isOwn: ownFiles(plan.vault, plan.stateDir),
  };
}

/** Null where no limit asks whether the work tree moved. */
function gitProgress(plan: RunPlan, signal: AbortSignal): GitProgress | null {
  if (plan.policy.noProgressLimit === 0 && plan.policy.sameErrorLimit === 0) return null;
  const excluded = VAULT_FOLDERS.map((name) => path.join(plan.vault, name));
  return createGitProgress({
    cwd: plan.cwd,
    excluded: [...excluded, plan.stateDir],
    env: plan.env,
    signal,
  });
}

function agentRunner(run: HeldRun, child: ChildOptions): GuardedRunner {
  const { plan, paths, warn } = run;
  return createAgentRunner({
    kind: agentKind(plan, run.agentPrefixArgs ?? []),
    cwd: plan.cwd,
    ...child,
    logDir: paths.folder,
    iterationTimeoutMs: plan.policy.iterationTimeoutMs,
    idleTimeoutMs: plan.policy.idleTimeoutMs,
    guardProgram: fileURLToPath(new URL('guard-program.js', import.meta.url)),
    keepBackground: plan.settings.keepBackground,
    logLimitBytes: plan.settings.logLimit,
    onLeftovers: (what, processes) => warn(leftoverLine(what, processes)),
    onOutput: run.onOutput,
    warn,
  });
}

function promptText(plan: RunPlan): string {
  return new TextDecoder().decode(plan.prompt);
}

/** What the state says of a plan. */
function taskFacts(plan: RunPlan): Omit<NewTask, 'driver' | 'gitBase'> {
  const { policy } = plan;
  return {
    taskId: plan.taskId,
    promptPreview: maskSecrets(withoutControls(promptText(plan))).slice(0, 1_000),
    promptSha256: createHash('sha256').update(plan.prompt).digest('hex'),
    taskType: plan.taskType,
    promise: policy.promise,
    match: policy.match,
    watchGlobs: policy.watchGlobs,
    watchFile: policy.watchFile,
    doneFolder: policy.doneFolder,
    maxIterations: policy.maxIterations,
    taskTimeoutMs: plan.taskTimeoutMs,
  };
}
