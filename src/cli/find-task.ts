import { realpathSync } from 'node:fs';
import path from 'node:path';
import {
  inHistory,
  readStateFile,
  type Seal,
  type SealedPlace,
  sealAt,
  type TaskPaths,
  taskPaths,
  thisPlace,
} from '../compose/tasks.ts';
import { hasLiveDriver, type ShownState, shownState } from '../core/shown-task.ts';
import { isTaskId } from '../core/task-id.ts';
import type { TaskState } from '../core/task-state.ts';
import {
  InsideOwnLoopError,
  InvalidStateError,
  messageOf,
  StateCorruptedError,
  StateTooNewError,
} from '../errors.ts';
import { moreFor } from '../report/resume-command.ts';
import type { Place } from './place.ts';
import { unknownTask } from './unknown-task.ts';

/** How a task stands: `live` where it has a driver that can be asked, and else as it is shown. */
export type Standing = 'live' | ShownState;

/** A task that a command was asked about. */
export interface FoundTask {
  readonly state: TaskState;
  /** Where it lies now. */
  readonly paths: TaskPaths;
  readonly isInHistory: boolean;
  /** This user's ralph has written it here: only then it may be acted on. */
  readonly isOwn: boolean;
  readonly standing: Standing;
}

/**
 * Finds a task by its id, a completed one in the history; null if there is none of this id. Throws
 * `StateTooNewError` and `StateCorruptedError` for what nobody can read.
 */
export function findTask(taskId: string, place: SealedPlace): FoundTask | null {
  if (!isTaskId(taskId)) return null;
  const seal = sealAt(place);
  const paths = taskPaths(place.stateDir, taskId);
  const lookIn = (where: TaskPaths, isInHistory: boolean): FoundTask | null => {
    const found = readState(taskId, where.stateFile, seal);
    return found && { ...found, paths: where, isInHistory, standing: standingOf(found.state) };
  };
  // In the order in which a completed task moves, so that it is not missed on its way.
  return lookIn(paths, false) ?? lookIn(inHistory(paths, taskId), true);
}

/**
 * Finds a task that can be steered. Throws `TaskNotFoundError`, or `InvalidStateError` for one that is
 * completed or put away, besides what `findTask` throws.
 */
export function findOpenTask(taskId: string, place: Place): FoundTask {
  const found = findTask(taskId, place);
  if (found === null) throw unknownTask(taskId, place.stateDir);
  if (found.isInHistory || found.standing === 'completed') {
    throw new InvalidStateError(taskId, found.standing, 'there is nothing left to steer');
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
      throw new StateCorruptedError(taskId, stateFile, 'it is no state of a task');
  }
}

function readOr(taskId: string, stateFile: string, seal: Seal): ReturnType<typeof readStateFile> {
  try {
    return readStateFile(stateFile, seal);
  } catch (error) {
    throw new StateCorruptedError(taskId, stateFile, messageOf(error));
  }
}

/** How a task stands now, seen from here. */
export function standingOf(task: TaskState): Standing {
  const here = thisPlace(new Date().toISOString());
  return hasLiveDriver(task, here) ? 'live' : shownState(task, here);
}

/** The command that goes on with a task, with more of what ran out. */
export function resumeCommand(taskId: string, standing: Standing): string {
  return ['ralph resume', taskId, moreFor(standing) ?? []].flat().join(' ');
}

/** The mistake of steering a task that nobody drives. */
export function notLive(taskId: string, standing: Standing): InvalidStateError {
  return new InvalidStateError(taskId, standing, `${resumeCommand(taskId, standing)} goes on`);
}

/**
 * Refuses what the agent of a loop must not do to that loop's own task. Throws `InsideOwnLoopError`.
 * It holds off a mistaken agent, not one that changes its environment.
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
  if (isOwn) throw new InsideOwnLoopError(command, taskId);
}

/** The vault may have been named through a link by one of the two. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
