// Reads files and runs commands for `ralph check`, which checks a task that another process works on.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { type CheckResult, judgeCheck } from '../core/completion/check-result.ts';
import type { Sightings } from '../core/completion/sightings.ts';
import { withoutFleet } from '../core/settings/environment.ts';
import type { StoredRun } from '../core/settings/stored-run.ts';
import type { Policy } from '../core/task/policy.ts';
import type { TaskState } from '../core/task/task-state.ts';
import { inOwnTree } from '../effects/branches/own-tree.ts';
import { MB, tryReadText } from '../effects/files/bounded-read.ts';
import { runShellCommand, type ShellOptions } from '../effects/processes/shell-command.ts';
import { watchSignals } from '../effects/processes/signals.ts';
import { readNamedStep } from '../effects/state/saved-step.ts';
import { ownFiles } from '../effects/vault/vault-folders.ts';
import { takeBaseline } from '../effects/workspace/baseline.ts';
import { fitBaseline, readBaseline } from '../effects/workspace/kept-baseline.ts';
import { createObserver, watchOf } from '../effects/workspace/observer.ts';

import { runCheck, runMeasured } from './proof/checks.ts';
import { confinedTo } from './sandbox/confined-to.ts';
import type { LaterSandbox } from './sandbox/run-sandbox.ts';
import { laterSandbox } from './sandbox/sandbox-of-run.ts';

/** A task to check, and its folders. */
export interface StopScene {
  readonly task: TaskState;
  readonly policy: Policy;
  /** The task's settings, or null if they are lost. */
  readonly stored: StoredRun | null;
  /** The folder of the task's files inside `stateDir`. */
  readonly folder: string;
  readonly vault: string;
  readonly stateDir: string;
  /** The key that the user named; null for the default one. */
  readonly keyFile: string | null;
  readonly warn: (sentence: string) => void;
}

interface OpenScene extends StopScene {
  readonly sandbox: LaterSandbox;
  readonly runId: string;
}

/** Calls a function with an open scene, in which commands can run, and closes the sandbox afterwards. */
export async function inStopScene<Result>(
  scene: StopScene,
  act: (open: OpenScene) => Promise<Result>,
): Promise<Result> {
  const { task: state, stored, vault, stateDir, keyFile, warn } = scene;
  const runId = randomUUID();
  const more = { state, vault, stateDir, keyFile, warn, runId, env: process.env };
  const sandbox = await laterSandbox(stored === null ? null : { ...more, stored });
  try {
    return await act({ ...scene, sandbox, runId });
  } finally {
    await sandbox.close();
  }
}

function workFolder({ task, stored, vault }: StopScene): string {
  const folder = path.resolve(stored?.startDir ?? vault, stored?.settings.cwd ?? '.');
  return inOwnTree(task.git.work_tree, folder);
}

/** Observes the files on which a task's end depends. Runs the commands of its conditions only if `mayRun` is true. */
export async function observeTask(scene: OpenScene, mayRun: boolean): Promise<Sightings> {
  const { task, policy, stored, folder, vault, stateDir } = scene;
  const { watchFile } = policy;
  const doneFolder = path.resolve(vault, task.done_folder === '' ? 'Done' : task.done_folder);
  const watch = watchOf(policy, {
    cwd: workFolder(scene),
    existing: stored?.settings.watchExisting ?? false,
    donePath: watchFile === null ? null : path.join(doneFolder, path.basename(watchFile)),
    isOwn: ownFiles(vault, stateDir),
  });
  // Without the baseline from the start, no change can be detected.
  const kept = readBaseline(folder);
  const fitted = kept === null ? null : await fitBaseline(kept, watch);
  const asItIs = { ...watch, protect: [] };
  const baseline =
    fitted === null
      ? { ...(await takeBaseline(asItIs)), done: null }
      : 'baseline' in fitted
        ? fitted.baseline
        : await takeBaseline(asItIs);
  const commands = mayRun ? watch.commands : {};
  const measure = (command: string) => inScene(scene, (options) => runMeasured(command, options));
  const run = (command: string, input: string) =>
    inScene(scene, (options) => runShellCommand(command, input, options));
  return createObserver({ ...watch, commands, run, measure }, baseline).look();
}

/** Runs all checks of a task, in its sandbox if checks run there, and judges their results. */
export async function runTaskChecks(scene: OpenScene): Promise<readonly CheckResult[]> {
  const atStart = readNamedStep(scene.folder, scene.task)?.memory.checksAtStart ?? null;
  return inScene(scene, async (options) => {
    const results: CheckResult[] = [];
    for (const check of scene.policy.verify) {
      results.push(judgeCheck(await runCheck(check, options), atStart, scene.policy));
    }
    return results;
  });
}

/** Runs commands in the agent's folder, each with the time limit of one iteration. */
async function inScene<Result>(
  scene: OpenScene,
  run: (options: ShellOptions) => Promise<Result>,
): Promise<Result> {
  const cwd = workFolder(scene);
  const sandbox = await scene.sandbox.open(cwd);
  const stops = watchSignals();
  try {
    return await run({
      cwd,
      ...confinedTo(sandbox),
      env: {
        ...withoutFleet(process.env),
        RALPH_TASK_ID: scene.task.task_id,
        // By this variable ralph finds the processes that the command has started, as in a run.
        RALPH_RUN_ID: scene.runId,
      },
      timeoutMs: scene.policy.iterationTimeoutMs,
      stops,
    });
  } finally {
    stops.close();
  }
}

/** Returns what the next prompt will say of the last iteration, or else the start of its output; null without both. */
export function keptContext({ task, folder }: StopScene): string | null {
  const context = tryReadText(path.join(folder, 'context.md'), CONTEXT_MAX_BYTES);
  return context ?? task.iterations.at(-1)?.output_preview ?? null;
}

/** The limit for reading `context.md`, in bytes: ralph writes no file as large as this. */
const CONTEXT_MAX_BYTES = 16 * MB;
