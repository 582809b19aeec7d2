import {
  type AllowedByPass,
  type PlannedResume,
  planResume as planOpenTask,
} from '../../compose/resume/plan-resume.ts';
import { isTaskId } from '../../core/task/task-id.ts';
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
}

interface ResumeBounds {
  /** Asks a person whether to trust the configuration; null if nobody can be asked. */
  readonly ask?: Ask | null;
  /** What `ralph rescue` or `ralph watch` allows the tasks that it resumes; null for all other commands. */
  readonly allowed?: AllowedByPass | null;
}

/** Plans a resume as the command line asks for it; null if no open task has this id. Rejects if it is refused. */
export async function planAskedResume(
  taskId: string,
  place: TaskFolders,
  { layer, passthrough, problems, isTrusted }: ResumeFlags,
  { ask = null, allowed = null }: ResumeBounds = {},
): Promise<PlannedResume | null> {
  if (!isTaskId(taskId)) throw unknownTask(taskId, place.stateDir);
  const { env } = process;
  refuseInsideOwnLoop('resume', taskId, taskPaths(place.stateDir, taskId).stateFile, env);
  const startDir = startFolder();
  return planOpenTask({
    ...{ taskId, place, layer, passthrough, problems, isTrusted, env, startDir, allowed },
    collect: (flags) => collectSettings({ flags, env, startDir, ask }),
  });
}
