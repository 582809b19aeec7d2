import { createHash, randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, describeCompletion } from './core/completion.ts';
import { oneLine, withoutControls } from './core/material.ts';
import { describeMissing, verifyOutput } from './core/prompt.ts';
import { newTaskState, type TaskState } from './core/task-state.ts';
import { initialState } from './core/transition.ts';
import type { AgentKind } from './effects/agent-kind.ts';
import {
  type ChildOptions,
  childEnvironment,
  createAgentRunner,
  type GuardedRunner,
} from './effects/agent-runner.ts';
import { claudeAgent } from './effects/claude-agent.ts';
import { systemClock } from './effects/clock.ts';
import { commandAgent } from './effects/command-agent.ts';
import { thisDriver } from './effects/driver-identity.ts';
import { createGitProgress, type GitProgress } from './effects/git-progress.ts';
import { hintBox } from './effects/hints.ts';
import { createJournal } from './effects/journal.ts';
import { writeNote } from './effects/note-file.ts';
import { findOtherLoops } from './effects/other-loops.ts';
import { fixedPrompt, promptFile } from './effects/prompt-source.ts';
import type { RunPlan } from './effects/run-plan.ts';
import { runShellCommand, type ShellOptions } from './effects/shell-command.ts';
import { createStateStore, retirePrevious } from './effects/state-store.ts';
import { watchSignals } from './effects/stop-requests.ts';
import { type TaskPaths, taskPaths } from './effects/task-folder.ts';
import { settingsJson } from './effects/task-settings.ts';
import { leadsOut, ownFiles, VAULT_FOLDERS } from './effects/vault-folders.ts';
import { createWorkspace, idleProtections, takeBaseline } from './effects/workspace.ts';
import { messageOf, StateTooNewError } from './errors.ts';
import { exitCodeFor } from './exit-codes.ts';
import type { NoteWriter, Ports, Reporter, StopRequests } from './loop/ports.ts';
import { type RunEnd, runLoop } from './loop/run-loop.ts';
import { defaultLimitHint } from './report/default-limit.ts';
import {
  commandFailed,
  leftoverLine,
  previousRetired,
  protectsNothing,
  sayingText,
} from './report/messages.ts';
import { renderNote } from './report/note.ts';
import type { View } from './report/view.ts';

// biome-ignore lint/performance/noBarrelFile: this file is the only door to the effects
export { type ConfigText, findConfig, readNamedConfig } from './effects/config-search.ts';
export { leaveHint } from './effects/hints.ts';
export { planRun, type RunPlan } from './effects/run-plan.ts';
export { taskStatus } from './effects/task-folder.ts';

export interface RunOptions {
  readonly plan: RunPlan;
  readonly view: View;
  /** The command that takes the task up again, for notes. */
  readonly again: string;
  /** Words between the agent's program and its arguments: for a program that is a script. */
  readonly agentPrefixArgs?: readonly string[];
}

/** Binds the effects to the loop's ports and runs one task to its end. */
export async function startRun(options: RunOptions): Promise<RunEnd> {
  const { plan, view } = options;
  const { policy } = plan;
  const stops = watchSignals();
  const paths = taskPaths(plan.stateDir, plan.taskId);
  const warn = (sentence: string): void => view.notice(withoutControls(sentence));
  const journal = createJournal(paths.eventsFile);
  let runner: GuardedRunner | null = null;
  try {
    if (await retireOr(paths, warn)) warn(previousRetired(plan.taskId));
    if (policy.agent === 'claude') findOtherLoops(plan.cwd, plan.env).forEach(warn);
    const watch = {
      cwd: plan.cwd,
      globs: policy.watchGlobs,
      existing: plan.settings.watchExisting,
      donePath: plan.donePath,
      protect: policy.protect,
      isOwn: ownFiles(plan.vault, plan.stateDir),
    };
    const baseline = await takeBaseline(watch);
    for (const glob of await idleProtections(watch)) warn(protectsNothing(glob));
    const isWatched = policy.noProgressLimit > 0 || policy.sameErrorLimit > 0;
    const git = !isWatched ? null : gitProgress(plan, stops.signal);
    const gitBase = (await git?.mark()) ?? null;
    const runId = randomUUID();
    const task = newTask(plan, runId, gitBase);
    const store = await createStateStore(
      paths,
      {
        prompt: plan.prompt,
        settings: settingsJson(plan),
        baseline: `${JSON.stringify(baseline)}\n`,
      },
      warn,
    );
    const hint = defaultLimitHint(plan.sources, warn);
    const reporter: Reporter = {
      publish(event) {
        journal.append(event);
        view.event(event);
        hint(event);
      },
      agentText: (text) => view.agentText(text),
      say: (what) => warn(sayingText(what)),
    };
    const child: ChildOptions = {
      env: plan.env,
      runId,
      taskId: plan.taskId,
      maxIterations: policy.maxIterations,
      stateFile: paths.stateFile,
    };
    runner = createAgentRunner({
      kind: agentKind(plan, options.agentPrefixArgs ?? []),
      cwd: plan.cwd,
      ...child,
      logDir: paths.folder,
      iterationTimeoutMs: policy.iterationTimeoutMs,
      idleTimeoutMs: policy.idleTimeoutMs,
      guardProgram: fileURLToPath(new URL('guard-program.js', import.meta.url)),
      keepBackground: plan.settings.keepBackground,
      logLimitBytes: plan.settings.logLimit,
      onLeftovers: (what, processes) => warn(leftoverLine(what, processes)),
      warn,
    });
    const ports: Ports = {
      agent: runner,
      store,
      prompt:
        plan.promptFile === null
          ? fixedPrompt(plan.prompt)
          : promptFile(plan.promptFile, plan.prompt, warn),
      workspace: createWorkspace(
        {
          ...watch,
          planFile: policy.planFile === null ? null : path.resolve(plan.cwd, policy.planFile),
          until: policy.until,
          git,
          run: (command, input) =>
            runShellCommand(command, input, shellOptions(plan, child, stops)),
          onAfterFailed: ({ exitCode }) => warn(commandFailed('--after', exitCode)),
          onEnd: endCommand(plan, child, stops),
          onEndFailed: ({ exitCode }) => warn(commandFailed('--on-end', exitCode)),
        },
        baseline,
      ),
      requests: hintBox(paths.folder),
      notes: noteWriter(options, paths.stateFile, paths.folder, warn),
      reporter,
      clock: systemClock,
      stops,
      exitCode: exitCodeFor,
    };
    const prompt = oneLine(promptText(plan), 500);
    const started = { kind: 'started' as const, at: systemClock.now(), prompt };
    return await runLoop(ports, initialState(task), started, policy);
  } finally {
    runner?.dismissGuard();
    view.close();
    journal.close();
    stops.close();
  }
}

function gitProgress(plan: RunPlan, signal: AbortSignal): GitProgress {
  const excluded = VAULT_FOLDERS.map((name) => path.join(plan.vault, name));
  return createGitProgress({
    cwd: plan.cwd,
    excluded: [...excluded, plan.stateDir],
    env: plan.env,
    signal,
  });
}

function shellOptions(plan: RunPlan, child: ChildOptions, stops: StopRequests): ShellOptions {
  return {
    cwd: plan.cwd,
    env: childEnvironment(child, 0),
    timeoutMs: plan.policy.iterationTimeoutMs,
    stops,
  };
}

/** The last command runs also where the loop was stopped. */
function endCommand(
  plan: RunPlan,
  child: ChildOptions,
  stops: StopRequests,
): ((input: string) => Promise<CommandResult>) | null {
  const command = plan.settings.onEnd;
  if (command === null) return null;
  return (input) => {
    // A request that stopped the loop is answered already: it takes another one to end this too.
    const signal = stops.signal.aborted ? stops.hurry : stops.signal;
    const last: StopRequests = { signal, hurry: stops.hurry, cause: () => null };
    return runShellCommand(command, input, shellOptions(plan, child, last));
  };
}

/** An older task that cannot be put away must not keep a new one from running. */
async function retireOr(paths: TaskPaths, warn: (sentence: string) => void): Promise<boolean> {
  try {
    return await retirePrevious(paths);
  } catch (error) {
    if (error instanceof StateTooNewError) throw error;
    warn(`An earlier run could not be put into the history: ${messageOf(error)}`);
    return false;
  }
}

function promptText(plan: RunPlan): string {
  return new TextDecoder().decode(plan.prompt);
}

function newTask(plan: RunPlan, runId: string, gitBase: string | null): TaskState {
  const { policy } = plan;
  return newTaskState(
    {
      taskId: plan.taskId,
      promptPreview: withoutControls(promptText(plan)).slice(0, 1_000),
      promptSha256: createHash('sha256').update(plan.prompt).digest('hex'),
      taskType: plan.taskType,
      promise: policy.promise,
      match: policy.match,
      watchGlobs: policy.watchGlobs,
      watchFile: policy.watchFile,
      doneFolder: policy.doneFolder,
      maxIterations: policy.maxIterations,
      taskTimeoutMs: plan.taskTimeoutMs,
      driver: thisDriver(systemClock.now(), runId),
      gitBase,
    },
    systemClock.now(),
  );
}

/** A new kind of agent is one more line here. */
function agentKind(plan: RunPlan, prefixArgs: readonly string[]): AgentKind {
  const { settings, env, cwd, passthrough } = plan;
  if (plan.policy.agent === 'command') {
    return commandAgent({ words: plan.agentWords, passthrough, env, cwd });
  }
  return claudeAgent({
    bin: settings.claudeBin,
    prefixArgs,
    model: settings.model,
    permissionMode: settings.permissionMode,
    allowedTools: settings.allowedTools,
    skipPermissions: settings.dangerouslySkipPermissions,
    passthrough,
    env,
    cwd,
  });
}

/** How the agent would be started, and where it was looked for if it is not there. */
export function locateAgent(plan: RunPlan): {
  readonly argv: readonly string[];
  readonly missing: string | null;
} {
  const kind = agentKind(plan, []);
  const first = { resumeSession: null, budgetUsd: plan.policy.maxCostUsd };
  const found = kind.locate(first);
  if ('missing' in found) return { argv: kind.wanted(first), missing: found.missing };
  return { argv: [found.file, ...found.args], missing: null };
}

function noteWriter(
  options: RunOptions,
  stateFile: string,
  logDir: string,
  warn: (sentence: string) => void,
): NoteWriter {
  const { plan, again } = options;
  return {
    async write({ task, carry }, ending) {
      const at = systemClock.now();
      const text = renderNote({
        task,
        ending,
        agent: plan.policy.agent,
        created: at,
        stateFile,
        logDir,
        completion: describeCompletion(plan.policy),
        lastOutput: carry.output === null ? null : withoutControls(carry.output).slice(-8_000),
        missing: carry.missing.map((missing) => describeMissing(missing, plan.policy)),
        checkOutput: verifyOutput(carry),
        again,
      });
      const folder = path.join(plan.vault, 'Needs_Action');
      try {
        if (leadsOut(folder, plan.vault)) throw new Error(`${folder} leads out of the vault`);
        return await writeNote({
          folder,
          reason: ending.note ?? 'FAILED',
          taskId: task.task_id,
          at,
          text,
        });
      } catch (error) {
        const reason = messageOf(error);
        warn(`The note for a human could not be written: ${reason}`);
        return null;
      }
    },
  };
}
