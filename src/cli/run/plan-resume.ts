import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  type AllowedByPass,
  type PlannedResume,
  planResume as planOpenTask,
} from '../../compose/resume/plan-resume.ts';
import { type Layer, textOf } from '../../core/settings/setting-source.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import { configPlaces, findConfig } from '../../effects/plan/config-search.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import type { ReadFlags } from '../flags/flags.ts';
import { collectSettings } from '../settings/collect.ts';
import type { Ask } from '../settings/found-config.ts';
import { refuseInsideOwnLoop } from '../tasks/find-task.ts';
import { startFolder, type TaskFolders } from '../tasks/named-folders.ts';
import { unknownTask } from '../tasks/unknown-task.ts';

/** The flags of `ralph resume`. */
export interface ResumeFlags extends ReadFlags {
  /** Whether `--trust` was given: a person has reviewed somebody else's task and trusts it. */
  readonly isTrusted: boolean;
  /** Whether this command has already read the configuration file. */
  readonly hasReadConfig?: boolean;
}

interface ResumeBounds {
  /** Asks a person whether to trust the configuration; null if nobody can be asked. */
  readonly ask?: Ask | null;
  /** What a pass of `ralph rescue` or `ralph watch` allows its tasks; null outside a pass. */
  readonly allowed?: AllowedByPass | null;
}

/**
 * Plans the resume of a task as the command line asks for it. Resolves to null if no open task has this id. Rejects
 * with `TaskNotFoundError` for an invalid id, `InsideLoopError`, or for the reasons of the planning itself.
 */
export async function planAskedResume(
  taskId: string,
  place: TaskFolders,
  { layer, passthrough, problems, isTrusted, hasReadConfig = false }: ResumeFlags,
  { ask = null, allowed = null }: ResumeBounds = {},
): Promise<PlannedResume | null> {
  if (!isTaskId(taskId)) throw unknownTask(taskId, place.stateDir);
  const { env } = process;
  refuseInsideOwnLoop('resume', taskId, taskPaths(place.stateDir, taskId).stateFile, env);
  const startDir = startFolder();
  // `ralph rescue` and `ralph watch` have already read the configuration for all their tasks.
  const isRead = hasReadConfig || allowed !== null || env.RALPH_CONFIG !== undefined;
  return planOpenTask({
    ...{ taskId, place, passthrough, problems, isTrusted, env, startDir, allowed },
    ...(isRead ? { layer, configProblems: [] } : withFoundConfig(layer, env, startDir)),
    collect: (flags) => collectSettings({ flags, env, startDir, ask }),
  });
}

/** Returns the problems of the configuration file that is found here, unless `--config` names that very file. */
function withFoundConfig(
  layer: Layer,
  env: NodeJS.ProcessEnv,
  startDir: string,
): { readonly layer: Layer; readonly configProblems: readonly string[] } {
  const { problems } = findConfig(startDir, env);
  const { config, ...others } = layer;
  if (problems.length === 0 || config === undefined) return { layer, configProblems: problems };
  const found = [...configPlaces(startDir, env)].find((each) => existsSync(each));
  const isNamed = path.resolve(startDir, textOf(config) ?? '') === found;
  return isNamed ? { layer: others, configProblems: [] } : { layer, configProblems: problems };
}
