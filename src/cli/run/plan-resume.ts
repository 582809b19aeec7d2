import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { clearUp, doubtOf } from '../../compose/open-task.ts';
import { permissionsOf, programsBeyond, rightsOf } from '../../core/rescue/task-rights.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import { settingNames } from '../../core/settings/settings.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import { hasUntoldEnd, lastWorkAt, msBetween, type TaskState } from '../../core/task/task-state.ts';
import { MB, tryRead } from '../../effects/files/bounded-read.ts';
import { planRun } from '../../effects/plan/run-plan.ts';
import { readStoredRun, type StoredRun } from '../../effects/plan/stored-run.ts';
import { readNewestStep, readStateFile } from '../../effects/state/state-file.ts';
import { keepAside as setAside } from '../../effects/state/state-store.ts';
import { inHistory, type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { type Seal, sealAt } from '../../effects/trust/seal.ts';
import {
  BeyondPassError,
  StateCorruptedError,
  StateTooNewError,
  UntrustedTaskError,
  UsageError,
} from '../../errors.ts';
import { takenOver } from '../../report/messages.ts';
import type { ReadFlags } from '../flags/flags.ts';
import { collectSettings } from '../settings/collect.ts';
import type { Ask } from '../settings/found-config.ts';
import { overrideSettings, type Used } from '../settings/override.ts';
import { refuseInsideOwnLoop } from '../tasks/find-task.ts';
import { type Place, startFolder } from '../tasks/place.ts';
import { unknownTask } from '../tasks/unknown-task.ts';
import type { PlannedRun } from './start-run.ts';

/** The flags of `ralph resume`. */
export interface ResumeFlags extends ReadFlags {
  /** `--trust`: the person has reviewed a task that somebody else wrote, and trusts it. */
  readonly isTrusted: boolean;
}

/** What a pass over the vault allows the tasks that it resumes. */
type AllowedByPass = Pick<StoredRun, 'settings' | 'sources' | 'passthrough'>;

interface ResumeBounds {
  /** Asks a person to trust the configuration that another program's task would need. */
  readonly ask?: Ask | null;
  /** Limits what the task may do. */
  readonly allowed?: AllowedByPass | null;
}

/**
 * Plans how a task would be resumed; returns null if it is completed. Throws a `UsageError`, an
 * `UntrustedTaskError`, a `BeyondPassError`, and the errors of `run` for a task that is missing or
 * unreadable.
 */
export async function planResume(
  taskId: string,
  place: Place,
  flags: ResumeFlags,
  { ask = null, allowed = null }: ResumeBounds = {},
): Promise<PlannedResume | null> {
  if (!isTaskId(taskId)) throw unknownTask(taskId, place.stateDir);
  const paths = taskPaths(place.stateDir, taskId);
  refuseInsideOwnLoop('resume', taskId, paths.stateFile, process.env);
  if (mayBeUntold(paths)) await clearUp(paths, taskId);
  const seal = sealAt(place);
  const file = await readOpen(taskId, paths.stateFile, seal);
  if (file === null) return null;
  // After a kill or a power cut the state file may be older than the last saved step.
  const { state } = file.isOwn ? readNewestStep(paths, file.state, seal) : file;

  const doubt = doubtOf(paths, file, seal);
  if (doubt !== null && !flags.isTrusted) {
    const shown = readStored(paths.folder);
    const asks = shown === null ? [] : rightsOf(shown.settings, shown.passthrough);
    throw new UntrustedTaskError(taskId, place.stateDir, doubt, asks);
  }
  const { stored, powers } = await storedRun(state, paths.folder, ask);
  const usedMs = stored.settings.timeout - msBetween(lastWorkAt(state), state.timeout_at);
  const used: Used = {
    iterations: state.metrics.iterations,
    costUsd: state.usage.cost_usd,
    timeMs: usedMs,
  };
  const { run, problems } = overrideSettings(
    allowed === null ? stored : boundedBy(taskId, stored, allowed),
    fromHere(withoutPlace(flags.layer)),
    used,
  );
  const planned = await planRun({
    ...run,
    settings: {
      ...run.settings,
      taskId,
      keyFile: place.keyFile,
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
  return {
    plan: planned.plan,
    resume: {
      previousTimeoutMs: stored.settings.timeout,
      previousCwd: path.resolve(stored.startDir, stored.settings.cwd ?? '.'),
      isTrusted: flags.isTrusted,
    },
    powers,
    isUntold: hasUntoldEnd(state),
    takenOver:
      doubt === null
        ? null
        : takenOver(taskId, doubt, rightsOf(stored.settings, stored.passthrough)),
  };
}

/** A task that is ready to be resumed. */
export interface PlannedResume extends Required<Pick<PlannedRun, 'plan' | 'resume' | 'powers'>> {
  /** Its last driver died before it announced how the task ended, so that has to be announced first. */
  readonly isUntold: boolean;
  /** What a person should read before somebody else's task runs, or null for the user's own task. */
  readonly takenOver: string | null;
}

/** Permissions come from the pass. Throws a `BeyondPassError` if the task would start other programs. */
function boundedBy(taskId: string, stored: StoredRun, allowed: AllowedByPass): StoredRun {
  const beyond = programsBeyond(stored.settings, allowed.settings);
  if (beyond.length > 0) throw new BeyondPassError(taskId, beyond);
  const permissions = permissionsOf(allowed.settings);
  return {
    ...stored,
    settings: { ...stored.settings, ...permissions },
    sources: {
      ...stored.sources,
      ...Object.fromEntries(
        settingNames()
          .filter((name) => name in permissions)
          .map((name) => [name, allowed.sources[name]]),
      ),
    },
    passthrough: allowed.passthrough,
  };
}

/** Whether a driver may have died between completing a task and announcing it. */
function mayBeUntold(paths: TaskPaths): boolean {
  const moved = inHistory(paths, path.basename(paths.folder));
  return existsSync(moved.folder) && !(existsSync(paths.stateFile) && existsSync(paths.folder));
}

/** Returns the state of an open task, or null if there is none. Throws if the state cannot be read. */
async function readOpen(taskId: string, stateFile: string, seal: Seal): Promise<OpenTask | null> {
  const file = readStateFile(stateFile, seal);
  switch (file.kind) {
    case 'task':
      return file;
    case 'too-new':
      throw new StateTooNewError(stateFile, file.version);
    case 'corrupt': {
      const aside = await setAside(stateFile, file.modifiedAt);
      throw new StateCorruptedError(
        taskId,
        aside,
        'not a ralph state file; it was renamed to this',
      );
    }
    case 'none':
      return null;
  }
}

type OpenTask = Extract<ReturnType<typeof readStateFile>, { kind: 'task' }>;

interface Stored {
  readonly stored: StoredRun;
  /** The settings in force from a found configuration that need trust. */
  readonly powers: readonly string[];
}

/**
 * Returns the settings with which a task was started. A task of `ralph run` has no gates without them and
 * would count any answer as complete, so this throws if they are lost.
 */
async function storedRun(state: TaskState, folder: string, ask: Ask | null): Promise<Stored> {
  if (!isOfRun(state)) return storedFrom(state, ask);
  const stored = readStored(folder);
  if (stored !== null) return { stored, powers: [] };
  const file = path.join(folder, 'settings.json');
  const why = 'it is gone or damaged, and with it what the task has to pass and may do';
  throw new StateCorruptedError(state.task_id, file, why);
}

function readStored(folder: string): StoredRun | null {
  const text = tryRead(path.join(folder, 'settings.json'), KEPT_MAX_BYTES);
  return text === null ? null : readStoredRun(text.toString());
}

/** The settings of another program's task: those in its state, and the current ones for the rest. */
async function storedFrom(state: TaskState, ask: Ask | null): Promise<Stored> {
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
  const collected = await collectSettings({ flags, env: process.env, startDir, ask });
  const stored = { ...collected, taskType: state.task_type, passthrough: [], startDir };
  return { stored, powers: collected.powers };
}

/** Whether `ralph run` started the task: only it records a checksum of the prompt. */
function isOfRun({ prompt_sha256, kept_by }: TaskState): boolean {
  return prompt_sha256 !== '' && kept_by == null;
}

/** The original prompt. The state of another program contains it in full; ours contains it if it is short. */
function readPrompt(folder: string, state: TaskState): Uint8Array {
  const kept = tryRead(path.join(folder, 'prompt.md'), KEPT_MAX_BYTES);
  const inState = new TextEncoder().encode(state.task_prompt);
  if (!isOfRun(state)) return kept ?? inState;
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

/** The settings may contain a prompt of 1 MB, which JSON escapes can make six times as long. */
const KEPT_MAX_BYTES = 8 * MB;

/** A new `cwd` is relative to where ralph starts now; other paths, to where it was first started. */
function fromHere(layer: Layer): Layer {
  const { cwd } = layer;
  if (typeof cwd?.value !== 'string') return layer;
  return { ...layer, cwd: { ...cwd, value: path.resolve(startFolder(), cwd.value) } };
}

function withoutPlace({ vault, stateDir, keyFile, detach, resumeIfOpen, ...layer }: Layer): Layer {
  return { ...layer, ...(detach === undefined ? {} : { detach }) };
}
