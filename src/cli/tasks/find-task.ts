import { rowOfState } from '../../core/task/endings.ts';
import { hasLiveDriver, type ShownState, shownState } from '../../core/task/shown-task.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import { readStateFile } from '../../effects/state/state-file.ts';
import { inHistory, type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { type Seal, type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { InsideLoopError, messageOf, StateTooNewError } from '../../errors.ts';
import { commandHere } from '../../printed-command.ts';
import { InvalidStateError, StateCorruptedError } from '../../task-errors.ts';
import type { TaskFolders } from './named-folders.ts';
import { unknownTask } from './unknown-task.ts';

/** The state of a task as commands see it: `live` if it has a live driver, otherwise the shown state. */
export type Standing = 'live' | ShownState;

/** A task that a command names. */
export interface FoundTask {
  readonly state: TaskState;
  readonly paths: TaskPaths;
  readonly isInHistory: boolean;
  /** Whether this user's ralph wrote the state here. If not, commands must not act on the task. */
  readonly isOwn: boolean;
  readonly standing: Standing;
}

/**
 * Finds a task by its id, also in the history; returns null if there is none. Throws `StateTooNewError`
 * or `StateCorruptedError` for a state that cannot be read.
 */
export function findTask(taskId: string, place: SealedPlace): FoundTask | null {
  if (!isTaskId(taskId)) return null;
  const seal = sealAt(place);
  const paths = taskPaths(place.stateDir, taskId);
  const lookIn = (where: TaskPaths, isInHistory: boolean): FoundTask | null => {
    const found = readState(taskId, where.stateFile, seal);
    return found && { ...found, paths: where, isInHistory, standing: standingOf(found.state) };
  };
  // A completed task moves into the history, so looking there last never misses it.
  return lookIn(paths, false) ?? lookIn(inHistory(paths, taskId), true);
}

/**
 * Finds a task that can be steered. Throws `TaskNotFoundError`, `InvalidStateError` for a task that is
 * completed or in the history, and the errors of `findTask`.
 */
export function findOpenTask(taskId: string, place: TaskFolders): FoundTask {
  const found = findTask(taskId, place);
  if (found === null) throw unknownTask(taskId, place.stateDir);
  if (found.isInHistory || found.standing === 'completed') {
    throw new InvalidStateError(taskId, found.standing, 'it has ended');
  }
  return found;
}

function readState(
  taskId: string,
  stateFile: string,
  seal: Seal,
): Pick<FoundTask, 'state' | 'isOwn'> | null {
  const file = readOr(taskId, stateFile, seal);
  switch (file.kind) {
    case 'task':
      return file;
    case 'none':
      return null;
    case 'too-new':
      throw new StateTooNewError(stateFile, file.version);
    case 'corrupt':
      throw new StateCorruptedError(taskId, stateFile, 'not a ralph state file');
  }
}

function readOr(taskId: string, stateFile: string, seal: Seal): ReturnType<typeof readStateFile> {
  try {
    return readStateFile(stateFile, seal);
  } catch (error) {
    throw new StateCorruptedError(taskId, stateFile, messageOf(error));
  }
}

/** Returns the state of a task as commands see it now. */
export function standingOf(task: TaskState): Standing {
  const here = thisPlace(new Date().toISOString());
  return hasLiveDriver(task, here) ? 'live' : shownState(task, here);
}

/** Returns the command that resumes a task, with a flag that raises a used-up limit. */
export function resumeCommandHere({
  state,
  standing,
}: Pick<FoundTask, 'state' | 'standing'>): string {
  const { task_id, exit_reason, accepting = [] } = state;
  const { more = [] } = rowOfState(standing, exit_reason) ?? {};
  return commandHere('resume', task_id, [more, accepting].flat());
}

/** Returns the error for steering a task without a live driver. */
export function notLive(found: FoundTask): InvalidStateError {
  const { state, standing } = found;
  return new InvalidStateError(
    state.task_id,
    standing,
    null,
    `to continue: ${resumeCommandHere(found)}`,
  );
}

/**
 * Throws `InsideLoopError` if the agent of a loop acts on that loop's own task. This stops mistakes,
 * not an agent that changes its environment.
 */
export function refuseInsideOwnLoop(
  command: string,
  taskId: string,
  stateFile: string,
  env: NodeJS.ProcessEnv,
): void {
  if (!env.RALPH_RUN_ID) return;
  const isOwn = env.RALPH_STATE_FILE
    ? realPath(env.RALPH_STATE_FILE) === realPath(stateFile)
    : env.RALPH_TASK_ID === taskId;
  if (isOwn) throw new InsideLoopError(command, taskId);
}
