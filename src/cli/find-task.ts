import { realpathSync } from 'node:fs';
import path from 'node:path';
import {
  inHistory,
  readStateFile,
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
  readonly standing: Standing;
}

/**
 * Finds a task by its id, a completed one in the history; null if there is none of this id. Throws
 * `StateTooNewError` and `StateCorruptedError` for what nobody can read.
 */
export function findTask(taskId: string, stateDir: string): FoundTask | null {
  if (!isTaskId(taskId)) return null;
  const paths = taskPaths(stateDir, taskId);
  // In the order in which a completed task moves, so that it is not missed on its way.
  return lookIn(taskId, paths, false) ?? lookIn(taskId, inHistory(paths, taskId), true);
}

function lookIn(taskId: string, paths: TaskPaths, isInHistory: boolean): FoundTask | null {
  const state = readState(taskId, paths.stateFile);
  return state === null ? null : { state, paths, isInHistory, standing: standingOf(state) };
}

/**
 * Finds a task that can be steered. Throws `TaskNotFoundError`, or `InvalidStateError` for one that is
 * completed or put away, besides what `findTask` throws.
 */
export function findOpenTask(taskId: string, { stateDir }: Place): FoundTask {
  const found = findTask(taskId, stateDir);
  if (found === null) throw unknownTask(taskId, stateDir);
  if (found.isInHistory || found.standing === 'completed') {
    throw new InvalidStateError(taskId, found.standing, 'there is nothing left to steer');
  }
  return found;
}

function readState(taskId: string, stateFile: string): TaskState | null {
  const file = readOr(taskId, stateFile);
  switch (file.kind) {
    case 'task':
      return file.state;
    case 'none':
      return null;
    case 'too-new':
      throw new StateTooNewError(stateFile, file.version);
    case 'corrupt':
      throw new StateCorruptedError(taskId, stateFile, 'it is no state of a task');
  }
}

function readOr(taskId: string, stateFile: string): ReturnType<typeof readStateFile> {
  try {
    return readStateFile(stateFile);
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
