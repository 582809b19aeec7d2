import { existsSync } from 'node:fs';
import path from 'node:path';
import { settingsIn } from '../../core/policy/policy-of.ts';
import { withNarrowerSandbox } from '../../core/rescue/narrower-sandbox.ts';
import { PERMISSIONS, programsBeyond, rightsOf } from '../../core/rescue/task-rights.ts';
import { type Layer, layerOf, withSettings } from '../../core/settings/setting-source.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { overrideSettings } from '../../core/task/override.ts';
import { hasUnannouncedEnding, type TaskState } from '../../core/task/task-state.ts';
import { inOwnTree } from '../../effects/branches/own-tree.ts';
import { homeFolder } from '../../effects/files/home-folder.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import {
  isOfRun,
  readStoredPrompt,
  readStoredRun,
  requireStoredRun,
} from '../../effects/plan/stored-settings.ts';
import { readNewestStep } from '../../effects/state/state-file.ts';
import { inHistory, type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { BeyondPassError } from '../../errors.ts';
import { takenOver } from '../../report/notices.ts';
import { UntrustedTaskError } from '../../task-errors.ts';
import type { Resume } from '../held-run.ts';
import { clearUp, doubtOf, readOpenTask } from '../open-task.ts';

/** What `ralph rescue` or `ralph watch` allows the tasks that it resumes. */
export type AllowedByPass = Pick<StoredRun, 'settings' | 'sources' | 'passthrough'>;

/** A task to resume, and the settings that this resume changes. */
export interface ResumeRequest {
  /** The task's id, already found to be valid. */
  readonly taskId: string;
  /** Absolute paths. */
  readonly place: SealedPlace & { readonly vault: string };
  /** The settings that this resume gives, as the user wrote them. */
  readonly layer: Layer;
  /** Arguments for the agent that replace the task's own; empty to keep those. */
  readonly passthrough: readonly string[];
  /** Sentences about problems in `layer`, to be reported together with those of the plan. */
  readonly problems: readonly string[];
  /** Whether a person has reviewed somebody else's task and trusts it. */
  readonly isTrusted: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
  /** What a running `ralph rescue` or `ralph watch` allows its tasks; null for `ralph resume`. */
  readonly allowed: AllowedByPass | null;
  /** Merges the settings of another program's task: those in its state, those of this resume, and the current ones. */
  readonly collect: (inState: Layer) => Promise<Collected>;
}

interface Collected extends Pick<StoredRun, 'settings' | 'sources'> {
  readonly powers: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Plans the resume of a task. Resolves to null if no open task has this id. Rejects with `UsageError`,
 * `UntrustedTaskError`, `BeyondPassError`, `StateTooNewError` or `StateCorruptedError`.
 */
export async function planResume(request: ResumeRequest): Promise<PlannedResume | null> {
  const { taskId, place, isTrusted, allowed, startDir, env } = request;
  const paths = taskPaths(place.stateDir, taskId);
  if (mayBeUntold(paths)) await clearUp(paths, taskId);
  const seal = sealAt(place);
  const file = readOpenTask(paths, taskId, seal);
  if (file === null) return null;
  // After a kill or a power cut, a later step may be saved than the one in the state file.
  const { state } = file.isOwn ? readNewestStep(paths, file.state, seal) : file;

  const doubt = doubtOf(paths, file, seal);
  if (doubt !== null && !isTrusted) {
    const shown = readStoredRun(paths.folder);
    const asks = shown === null ? [] : rightsOf(shown.settings, shown.passthrough);
    throw new UntrustedTaskError(taskId, place.stateDir, doubt, asks);
  }
  const { stored, powers, unusable } = await storedRun(state, paths.folder, request);
  const { run, problems } = overrideSettings(
    allowed === null ? stored : boundedBy(stored, state, allowed, env),
    fromHere(withoutPlace(request.layer), startDir),
    state,
  );
  const asked = {
    ...run,
    settings: {
      ...run.settings,
      taskId,
      keyFile: place.keyFile,
      vault: place.vault,
      stateDir: place.stateDir === path.join(place.vault, '.ralph_state') ? null : place.stateDir,
    },
    bad: new Set<never>(),
    passthrough: request.passthrough.length > 0 ? request.passthrough : run.passthrough,
    env,
    keptPrompt: readStoredPrompt(paths.folder, state),
    newTaskId: () => taskId,
    workTree: state.git.work_tree,
  };
  return {
    plan: await requirePlan(asked, [...request.problems, ...unusable, ...problems]),
    resume: {
      previousTimeoutMs: stored.settings.timeout,
      previousCwd: path.resolve(stored.startDir, stored.settings.cwd ?? '.'),
      isTrusted,
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
export interface PlannedResume {
  readonly plan: RunPlan;
  readonly resume: Resume;
  /** Sentences about settings that need a person's trust because they come from a configuration file that was found. */
  readonly powers: readonly string[];
  /** Whether the task has ended, but the last process died before it announced that. The announcement comes first. */
  readonly isUntold: boolean;
  /** What a person should read before somebody else's task runs, or null for the user's own task. */
  readonly takenOver: string | null;
}

/** Limits `stored` to the permissions and the sandbox of `allowed`. Throws `BeyondPassError` if programs differ. */
function boundedBy(
  stored: StoredRun,
  { task_id, git }: TaskState,
  allowed: AllowedByPass,
  env: NodeJS.ProcessEnv,
): StoredRun {
  const beyond = programsBeyond(stored.settings, allowed.settings);
  if (beyond.length > 0) throw new BeyondPassError(task_id, beyond);
  const cwd = inOwnTree(git.work_tree, path.resolve(stored.startDir, stored.settings.cwd ?? '.'));
  const home = homeFolder(env) ?? '~';
  const permitted = withNarrowerSandbox(
    withSettings(stored, allowed, PERMISSIONS),
    allowed,
    (value) => path.resolve(cwd, value.replace(/^~(?=\/|$)/, home)),
  );
  return { ...stored, ...permitted, passthrough: allowed.passthrough };
}

/** Whether a process may have died between completing a task and announcing it. */
function mayBeUntold(paths: TaskPaths): boolean {
  const moved = inHistory(paths, path.basename(paths.folder));
  return existsSync(moved.folder) && !(existsSync(paths.stateFile) && existsSync(paths.folder));
}

/**
 * Returns the settings with which a task was started. For another program's task they are those in its state and, for
 * the rest, the current ones. Rejects if the settings of a `ralph run` are lost: without them the task would have no
 * checks and count any answer as complete.
 */
async function storedRun(
  state: TaskState,
  folder: string,
  { collect, startDir }: ResumeRequest,
): Promise<{
  readonly stored: StoredRun;
  readonly powers: readonly string[];
  /** Why the current settings cannot be used, one sentence each. */
  readonly unusable: readonly string[];
}> {
  if (isOfRun(state)) {
    return { stored: requireStoredRun(folder, state), powers: [], unusable: [] };
  }
  const source = { kind: 'flag' as const, where: 'the state file' };
  const collected = await collect(layerOf(settingsIn(state), () => source));
  const stored = { ...collected, taskType: state.task_type, passthrough: [], startDir };
  return { stored, powers: collected.powers, unusable: collected.problems };
}

/** Resolves a new `cwd` from where ralph is started now. Other paths stay relative to the folder of the first start. */
function fromHere(layer: Layer, startDir: string): Layer {
  const { cwd } = layer;
  if (typeof cwd?.value !== 'string') return layer;
  return { ...layer, cwd: { ...cwd, value: path.resolve(startDir, cwd.value) } };
}

function withoutPlace({ vault, stateDir, keyFile, detach, resumeIfOpen, ...layer }: Layer): Layer {
  return { ...layer, ...(detach === undefined ? {} : { detach }) };
}
