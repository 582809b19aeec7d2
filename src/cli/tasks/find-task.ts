import { rowOfState } from '../../core/task/endings.ts';
import { hasLiveDriver, type ShownState, shownState } from '../../core/task/shown-task.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { thisPlace } from '../../effects/lock/driver-identity.ts';
import { type TaskPaths, taskPaths } from '../../effects/state/task-folder.ts';
import { findTaskEntry, type TaskEntry } from '../../effects/state/task-list.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { InsideLoopError, StateTooNewError } from '../../errors.ts';
import { commandHere } from '../../printed-command.ts';
import { InvalidStateError, StateCorruptedError } from '../../task-errors.ts';
import type { TaskFolders } from './named-folders.ts';
import { unknownTask } from './unknown-task.ts';

/** The state of a task as commands see it: `live` if a process runs it now, otherwise as `ralph status` shows it. */
export type Standing = 'live' | ShownState;

/** A task that a command names. */
export interface FoundTask {
  readonly state: TaskState;
  readonly paths: TaskPaths;
  readonly isInHistory: boolean;
  /** Whether this user's ralph wrote the state here. If not, commands must not act on the task. */
  readonly isOwn: boolean;
  readonly standing: Standing;
  readonly vault: string;
}

type Vault = Pick<TaskFolders, 'vault'>;

/** Finds a task, even in the history. Throws `StateTooNewError` or `StateCorruptedError` for an unreadable state. */
export function findTask(taskId: string, place: SealedPlace & Vault): FoundTask | null {
  const entry = findTaskEntry(place.stateDir, taskId, sealAt(place));
  if (entry === null) return null;
  const { stateFile, folder, archived: isInHistory } = entry;
  const { state, isOwn } = requireState(entry);
  const paths = { ...taskPaths(place.stateDir, taskId), stateFile, folder };
  return { state, isOwn, paths, isInHistory, standing: standingOf(state), vault: place.vault };
}

/** Finds a task as `findTask` does. Throws `TaskNotFoundError` if there is none. */
export function existingTask(taskId: string, place: TaskFolders): FoundTask {
  const found = findTask(taskId, place);
  if (found === null) throw unknownTask(taskId, place.stateDir);
  return found;
}

/** Returns the state of a task. Throws `StateTooNewError` or `StateCorruptedError` if it cannot be read. */
export function requireState({ name, stateFile, found }: TaskEntry): KnownState {
  switch (found.kind) {
    case 'task':
      return found;
    case 'too-new':
      throw new StateTooNewError(stateFile, found.version);
    case 'corrupt':
      throw new StateCorruptedError(name, stateFile, 'not a ralph state file');
    case 'unreadable':
      throw new StateCorruptedError(name, stateFile, found.why);
  }
}

type KnownState = Extract<TaskEntry['found'], { kind: 'task' }>;

/** Finds a task that can still change. Throws what `existingTask` throws, and `InvalidStateError` if it has ended. */
export function findOpenTask(taskId: string, place: TaskFolders): FoundTask {
  const found = existingTask(taskId, place);
  if (found.isInHistory || found.standing === 'completed') {
    throw new InvalidStateError(taskId, found.standing, 'it has ended');
  }
  return found;
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

/** Returns the error for a command that needs a running task, if no live process runs the task. */
export function notLive(found: FoundTask): InvalidStateError {
  const { state, standing } = found;
  return new InvalidStateError(
    state.task_id,
    standing,
    null,
    `to continue: ${resumeCommandHere(found)}`,
  );
}

/** Throws `InsideLoopError` if an agent acts on its own task. Prevents mistakes only: an agent can change variables. */
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
