import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  inHistory,
  MB,
  openTaskIds,
  readStateFile,
  readWithin,
  type TaskPaths,
  taskPaths,
  tryReadStateFile,
} from '../../compose/tasks.ts';
import { clearUp, planRun, setAside } from '../../compose.ts';
import type { Layer, Written } from '../../core/setting-source.ts';
import { isTaskId } from '../../core/task-id.ts';
import { lastWorkAt, msBetween, type TaskState } from '../../core/task-state.ts';
import { StateCorruptedError, StateTooNewError, UsageError } from '../../errors.ts';
import { findTask, refuseInsideOwnLoop, standingOf } from '../find-task.ts';
import { type Place, placeOf, startFolder } from '../place.ts';
import { collectSettings } from '../settings/collect.ts';
import { type ReadFlags, readFlags } from '../settings/flags.ts';
import { overrideSettings, type Used } from '../settings/override.ts';
import { readStoredRun, type StoredRun } from '../settings/stored.ts';
import { unknownTask } from '../unknown-task.ts';
import { type PlannedRun, runPlan } from './run.ts';

/** `ralph resume [ID]`: goes on with a task that is not completed and has no live driver. */
export async function resumeCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const flags = readFlags(argv, 'resume');
  if (flags.wantsHelp) return help();
  const place = placeOf(textsOf(flags.layer));
  // With an id all mistakes are told at once; without one there may be no task to tell them of.
  if (flags.taskId === null && flags.problems.length > 0) throw new UsageError(flags.problems);
  return resumeTask(flags.taskId ?? onlyCandidate(place), place, flags, argv);
}

/** Goes on with a task; the flags override what it was started with. Resolves to the exit code. */
export async function resumeTask(
  taskId: string,
  place: Place,
  flags: ReadFlags,
  argv: readonly string[],
): Promise<number> {
  const planned = await planResume(taskId, place, flags);
  if (planned === null) return tellCompleted(taskId, place);
  return runPlan({ ...planned, notices: [], again: ['resume', ...argv] });
}

/**
 * How a task would be gone on with; null where it is completed. Throws a `UsageError`, and what `run`
 * throws for a task that is not there or cannot be read.
 */
export async function planResume(
  taskId: string,
  place: Place,
  flags: ReadFlags,
): Promise<Required<Pick<PlannedRun, 'plan' | 'resume'>> | null> {
  if (!isTaskId(taskId)) throw unknownTask(taskId, place.stateDir);
  const paths = taskPaths(place.stateDir, taskId);
  refuseInsideOwnLoop('resume', taskId, paths.stateFile, process.env);
  if (mayBeUntold(paths)) await clearUp(paths, taskId);
  const state = await readOpen(taskId, paths.stateFile);
  if (state === null) return null;

  const stored = readStored(paths.folder) ?? (await storedFrom(state, paths.folder));
  const usedMs = stored.settings.timeout - msBetween(lastWorkAt(state), state.timeout_at);
  const used: Used = {
    iterations: state.metrics.iterations,
    costUsd: state.usage.cost_usd,
    timeMs: usedMs,
  };
  const { run, problems } = overrideSettings(stored, withoutPlace(flags.layer), used);
  const planned = await planRun({
    ...run,
    settings: {
      ...run.settings,
      taskId,
      vault: place.vault,
      stateDir: place.stateDir === path.join(place.vault, '.ralph_state') ? null : place.stateDir,
    },
    bad: new Set(),
    passthrough: flags.passthrough.length > 0 ? flags.passthrough : run.passthrough,
    env: process.env,
    readStdin: async () => new Uint8Array(),
    keptPrompt: readPrompt(paths.folder, state),
    newTaskId: () => taskId,
  });
  const all = [...flags.problems, ...problems, ...('problems' in planned ? planned.problems : [])];
  if ('problems' in planned || all.length > 0) throw new UsageError(all);
  return { plan: planned.plan, resume: { previousTimeoutMs: stored.settings.timeout } };
}

/** Whether a driver may have died between completing a task and saying so. */
function mayBeUntold(paths: TaskPaths): boolean {
  const moved = inHistory(paths, path.basename(paths.folder));
  return existsSync(moved.folder) && !(existsSync(paths.stateFile) && existsSync(paths.folder));
}

/** The state of a task that is not completed; null for one that is. Throws for what cannot be read. */
async function readOpen(taskId: string, stateFile: string): Promise<TaskState | null> {
  const file = readStateFile(stateFile);
  switch (file.kind) {
    case 'task':
      return file.state;
    case 'too-new':
      throw new StateTooNewError(stateFile, file.version);
    case 'corrupt': {
      const aside = await setAside(stateFile, file.modifiedAt);
      throw new StateCorruptedError(taskId, aside, 'it is no state of a task, and was set aside');
    }
    case 'none':
      return null;
  }
}

function tellCompleted(taskId: string, place: Place): number {
  if (findTask(taskId, place.stateDir) === null) {
    throw unknownTask(taskId, place.stateDir);
  }
  process.stderr.write(`ralph: ${taskId} is completed already; there is nothing to go on with\n`);
  return 0;
}

/** Without an id: the one task that can be gone on with, or a list of them to choose from. */
function onlyCandidate(place: Place): string {
  const candidates = openTaskIds(place.stateDir).filter((taskId) => {
    const file = tryReadStateFile(taskPaths(place.stateDir, taskId).stateFile);
    if (file.kind !== 'task') return false;
    return !['live', 'completed'].includes(standingOf(file.state));
  });
  const [only, ...others] = candidates;
  if (only === undefined) {
    throw new UsageError([
      `ralph resume expects a task that is not completed and that nobody drives; there is none in ${place.stateDir}. Look with ralph status, or name another --vault.`,
    ]);
  }
  if (others.length > 0) {
    throw new UsageError([
      `ralph resume expects the id of a task, since there are several to go on with: ${candidates.join(', ')}.`,
    ]);
  }
  return only;
}

function readStored(folder: string): StoredRun | null {
  const text = readText(path.join(folder, 'settings.json'));
  return text === null ? null : readStoredRun(text.toString());
}

/**
 * The settings of a task of another program's: what its state says, and today's for the rest. A task of
 * ralph's own without its settings has lost its gates: to go on would mean to take anything for done.
 */
async function storedFrom(state: TaskState, folder: string): Promise<StoredRun> {
  if (isOwn(state)) {
    const file = path.join(folder, 'settings.json');
    const why = 'it is gone or damaged, and with it what the task has to pass and may do';
    throw new StateCorruptedError(state.task_id, file, why);
  }
  const startDir = startFolder();
  const source = { kind: 'flag' as const, where: 'the state file' };
  const written = (value: unknown): Written => ({ value, source });
  const flags: Layer = {
    maxIterations: written(state.max_iterations),
    ...(state.completion_promise === null ? {} : { promise: written(state.completion_promise) }),
    ...(state.watch_glob.length === 0 ? {} : { watchGlob: written(state.watch_glob) }),
    ...(state.watch_file === null
      ? {}
      : { watchFile: written(state.watch_file), doneFolder: written(state.done_folder) }),
    match: written(state.match),
  };
  const collected = await collectSettings({ flags, env: process.env, startDir });
  return { ...collected, taskType: state.task_type, passthrough: [], startDir };
}

/** Whether ralph itself has started the task: it has noted what the prompt was. */
function isOwn({ prompt_sha256, kept_by }: TaskState): boolean {
  return prompt_sha256 !== '' && kept_by == null;
}

/**
 * The prompt as it was given; a state of another program's has it in full in itself, and a short one
 * stands in the state too.
 */
function readPrompt(folder: string, state: TaskState): Uint8Array {
  const kept = readText(path.join(folder, 'prompt.md'));
  const inState = new TextEncoder().encode(state.task_prompt);
  if (!isOwn(state)) return kept ?? inState;
  const whole = [kept, inState].find(
    (text) => text !== null && sha256(text) === state.prompt_sha256,
  );
  if (whole != null) return whole;
  const file = path.join(folder, 'prompt.md');
  throw new StateCorruptedError(state.task_id, file, 'it is not what the task was started with');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A prompt of 1 MB may stand in the settings, of which an escape may make six times as much. */
const KEPT_MAX_BYTES = 8 * MB;

function readText(file: string): Buffer | null {
  try {
    return readWithin(file, KEPT_MAX_BYTES);
  } catch {
    return null;
  }
}

function textsOf(layer: Layer): { vault?: string; stateDir?: string } {
  const text = (written: Written | undefined): string | undefined =>
    typeof written?.value === 'string' ? written.value : undefined;
  const [vault, stateDir] = [text(layer.vault), text(layer.stateDir)];
  return {
    ...(vault === undefined ? {} : { vault }),
    ...(stateDir === undefined ? {} : { stateDir }),
  };
}

function withoutPlace({ vault, stateDir, detach, resumeIfOpen, ...layer }: Layer): Layer {
  return { ...layer, ...(detach === undefined ? {} : { detach }) };
}
