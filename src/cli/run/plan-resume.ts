import { existsSync } from 'node:fs';
import path from 'node:path';
import { clearUp, doubtOf, readOpenTask } from '../../compose/open-task.ts';
import { settingsIn } from '../../core/policy/policy-of.ts';
import { withNarrowerSandbox } from '../../core/rescue/narrower-sandbox.ts';
import { PERMISSIONS, programsBeyond, rightsOf } from '../../core/rescue/task-rights.ts';
import { type Layer, layerOf, withSettings } from '../../core/settings/setting-source.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { overrideSettings } from '../../core/task/override.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import { hasUnannouncedEnding, type TaskState } from '../../core/task/task-state.ts';
import { requirePlan } from '../../effects/plan/run-plan.ts';
import {
  isOfRun,
  readStoredPrompt,
  readStoredRun,
  requireStoredRun,
} from '../../effects/plan/stored-settings.ts';
import { readNewestStep } from '../../effects/state/state-file.ts';
import { inHistory, type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { BeyondPassError } from '../../errors.ts';
import { takenOver } from '../../report/notices.ts';
import { UntrustedTaskError } from '../../task-errors.ts';
import type { ReadFlags } from '../flags/flags.ts';
import { collectSettings } from '../settings/collect.ts';
import type { Ask } from '../settings/found-config.ts';
import { refuseInsideOwnLoop } from '../tasks/find-task.ts';
import { startFolder, type TaskFolders } from '../tasks/named-folders.ts';
import { unknownTask } from '../tasks/unknown-task.ts';
import type { PlannedRun } from './start-run.ts';

/** The flags of `ralph resume`. */
export interface ResumeFlags extends ReadFlags {
  /** Whether `--trust` was given: a person has reviewed somebody else's task and trusts it. */
  readonly isTrusted: boolean;
}

/** What a pass over the vault allows the tasks that it resumes. */
type AllowedByPass = Pick<StoredRun, 'settings' | 'sources' | 'passthrough'>;

interface ResumeBounds {
  /** Asks a person to trust the configuration for another program's task; null if nobody can be asked. */
  readonly ask?: Ask | null;
  /** Limits what the task may do; null if only its own settings do. */
  readonly allowed?: AllowedByPass | null;
}

/**
 * Plans the resume of a task. Resolves to null if the task is not open. Rejects with `UsageError`,
 * `UntrustedTaskError`, `BeyondPassError`, `TaskNotFoundError` for an invalid id, `StateTooNewError` or
 * `StateCorruptedError`.
 */
export async function planResume(
  taskId: string,
  place: TaskFolders,
  flags: ResumeFlags,
  { ask = null, allowed = null }: ResumeBounds = {},
): Promise<PlannedResume | null> {
  if (!isTaskId(taskId)) throw unknownTask(taskId, place.stateDir);
  const paths = taskPaths(place.stateDir, taskId);
  refuseInsideOwnLoop('resume', taskId, paths.stateFile, process.env);
  if (mayBeUntold(paths)) await clearUp(paths, taskId);
  const seal = sealAt(place);
  const file = readOpenTask(paths, taskId, seal);
  if (file === null) return null;
  // After a kill or a power cut the state file may be older than the last saved step.
  const { state } = file.isOwn ? readNewestStep(paths, file.state, seal) : file;

  const doubt = doubtOf(paths, file, seal);
  if (doubt !== null && !flags.isTrusted) {
    const shown = readStoredRun(paths.folder);
    const asks = shown === null ? [] : rightsOf(shown.settings, shown.passthrough);
    throw new UntrustedTaskError(taskId, place.stateDir, doubt, asks);
  }
  const { stored, powers } = await storedRun(state, paths.folder, ask);
  const { run, problems } = overrideSettings(
    allowed === null ? stored : boundedBy(taskId, stored, allowed),
    fromHere(withoutPlace(flags.layer)),
    state,
  );
  const request = {
    ...run,
    settings: {
      ...run.settings,
      taskId,
      keyFile: place.keyFile,
      vault: place.vault,
      stateDir: place.stateDir === path.join(place.vault, '.ralph_state') ? null : place.stateDir,
    },
    bad: new Set<never>(),
    passthrough: flags.passthrough.length > 0 ? flags.passthrough : run.passthrough,
    env: process.env,
    keptPrompt: readStoredPrompt(paths.folder, state),
    newTaskId: () => taskId,
    workTree: state.git.work_tree,
  };
  return {
    plan: await requirePlan(request, [...flags.problems, ...problems]),
    resume: {
      previousTimeoutMs: stored.settings.timeout,
      previousCwd: path.resolve(stored.startDir, stored.settings.cwd ?? '.'),
      isTrusted: flags.isTrusted,
      announcesOnly: false,
    },
    powers,
    isUntold: hasUnannouncedEnding(state),
    takenOver:
      doubt === null
        ? null
        : takenOver(taskId, doubt, rightsOf(stored.settings, stored.passthrough)),
  };
}

/** A task that is ready to be resumed. */
export interface PlannedResume extends Required<Pick<PlannedRun, 'plan' | 'resume' | 'powers'>> {
  /** Whether the last driver died before it announced the end, which must be announced before a resume. */
  readonly isUntold: boolean;
  /** What a person should read before somebody else's task runs, or null for the user's own task. */
  readonly takenOver: string | null;
}

/** Returns `stored` with the permissions and within the sandbox of `allowed`. Throws `BeyondPassError` if programs differ. */
function boundedBy(taskId: string, stored: StoredRun, allowed: AllowedByPass): StoredRun {
  const beyond = programsBeyond(stored.settings, allowed.settings);
  if (beyond.length > 0) throw new BeyondPassError(taskId, beyond);
  const permitted = withNarrowerSandbox(withSettings(stored, allowed, PERMISSIONS), allowed);
  return { ...stored, ...permitted, passthrough: allowed.passthrough };
}

/** Whether a driver may have died between completing a task and announcing it. */
function mayBeUntold(paths: TaskPaths): boolean {
  const moved = inHistory(paths, path.basename(paths.folder));
  return existsSync(moved.folder) && !(existsSync(paths.stateFile) && existsSync(paths.folder));
}

interface Stored {
  readonly stored: StoredRun;
  /** Sentences about the settings in force that need trust and come from a found configuration. */
  readonly powers: readonly string[];
}

/**
 * Returns the settings with which a task was started. Rejects if those of a `ralph run` are lost: without
 * them the task has no gates and would count any answer as complete.
 */
async function storedRun(state: TaskState, folder: string, ask: Ask | null): Promise<Stored> {
  if (!isOfRun(state)) return storedFrom(state, ask);
  return { stored: requireStoredRun(folder, state), powers: [] };
}

/** Returns the settings of another program's task: those in its state, and the current ones for the rest. */
async function storedFrom(state: TaskState, ask: Ask | null): Promise<Stored> {
  const startDir = startFolder();
  const source = { kind: 'flag' as const, where: 'the state file' };
  const flags = layerOf(settingsIn(state), () => source);
  const collected = await collectSettings({ flags, env: process.env, startDir, ask });
  const stored = { ...collected, taskType: state.task_type, passthrough: [], startDir };
  return { stored, powers: collected.powers };
}

/** Makes a new `cwd` relative to where ralph starts now. Other paths stay relative to the first start. */
function fromHere(layer: Layer): Layer {
  const { cwd } = layer;
  if (typeof cwd?.value !== 'string') return layer;
  return { ...layer, cwd: { ...cwd, value: path.resolve(startFolder(), cwd.value) } };
}

function withoutPlace({ vault, stateDir, keyFile, detach, resumeIfOpen, ...layer }: Layer): Layer {
  return { ...layer, ...(detach === undefined ? {} : { detach }) };
}
