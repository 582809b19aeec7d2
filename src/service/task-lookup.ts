import { isDriverAlive } from '../core/task/driver.ts';
import { isTaskId } from '../core/task/task-id.ts';
import { msBetween, type TaskState } from '../core/task/task-state.ts';
import { thisPlace } from '../effects/lock/driver-identity.ts';
import { liveClaim } from '../effects/lock/task-lock.ts';
import type { ServiceStore } from '../effects/state/service-store.ts';
import { StateTooNewError } from '../errors.ts';
import { commandHere } from '../printed-command.ts';
import {
  InvalidStateError,
  StateCorruptedError,
  TaskAlreadyActiveError,
  TaskNotFoundError,
} from '../task-errors.ts';

export type TaskLookup = ReturnType<typeof taskLookup>;

/** Returns functions that find tasks, and throw for a task in the wrong status. */
export function taskLookup(store: ServiceStore, stateDir: string) {
  /** Returns a task, open or in the history; null if there is no task with this id. */
  const read = (taskId: string): TaskState | null => {
    if (!isTaskId(taskId)) return null;
    const { file, paths } = store.find(taskId);
    switch (file.kind) {
      case 'none':
        return null;
      case 'task':
        return file.state;
      case 'too-new':
        throw new StateTooNewError(paths.stateFile, file.version);
      case 'corrupt':
        throw new StateCorruptedError(taskId, paths.stateFile, 'not a ralph state file');
    }
  };

  /** Returns a task like `read`, but throws `TaskNotFoundError` if it does not exist. */
  const known = (taskId: string): TaskState => {
    const found = read(taskId);
    if (found === null) throw new TaskNotFoundError(taskId, stateDir);
    return found;
  };

  const refuseLive = ({ task_id, driver }: TaskState): void => {
    const here = thisPlace(new Date().toISOString());
    const claimed = liveClaim(stateDir, task_id, here);
    const live = claimed ?? (driver !== null && isDriverAlive(driver, here) ? driver : null);
    if (live !== null) throw new TaskAlreadyActiveError(task_id, `pid ${live.pid} on ${live.host}`);
  };

  /** Returns a task that the library may change: its own, or a task of another tool that no process drives. */
  const own = (taskId: string): TaskState => {
    const task = known(taskId);
    refuseLive(task);
    if (!mayKeep(task)) {
      const next = `to continue it: ${commandHere('resume', taskId)}`;
      throw new InvalidStateError(taskId, task.status, 'it belongs to ralph run', next);
    }
    // The id in the state is ignored: changes are written to the file in which the task was found.
    return { ...task, task_id: taskId, kept_by: 'library' };
  };

  return {
    read,
    known,
    own,
    openTask(taskId: string): TaskState {
      const task = own(taskId);
      if (!isOpen(task)) throw new InvalidStateError(taskId, task.status, 'it has already ended');
      return task;
    },
    /** Returns a pending or running task. Otherwise throws an `InvalidStateError` that contains `rule`. */
    atWork(taskId: string, rule: string): TaskState {
      const task = own(taskId);
      if (!isAtWork(task.status)) throw new InvalidStateError(taskId, task.status, rule);
      return task;
    },
    /** Throws if a process runs the task, if it waits for an approval, or if it is the library's and has time left. */
    refuseOpen(taskId: string, at: string): void {
      const { file } = store.find(taskId);
      if (file.kind !== 'task') return;
      const { state } = file;
      refuseLive(state);
      const waits = state.status === 'paused_awaiting_approval';
      const isOurs = state.kept_by === 'library' && isAtWork(state.status);
      if (waits || (isOurs && !isOver(state, at))) throw alreadyOpen(state);
    },
    /** Throws if a task of the library is running: only one task without a given id runs at a time. */
    refuseSecond(at: string): void {
      const running = store
        .open()
        .find((task) => task.kept_by === 'library' && isAtWork(task.status) && !isOver(task, at));
      if (running !== undefined) throw alreadyOpen(running);
    },
  };
}

/** Whether the library may change a task. A state without a hash of the prompt was written by another tool. */
function mayKeep({ kept_by, prompt_sha256 }: TaskState): boolean {
  return kept_by === 'library' || prompt_sha256 === '';
}

function alreadyOpen(task: TaskState): TaskAlreadyActiveError {
  const { task_id, status, current_iteration, max_iterations } = task;
  return new TaskAlreadyActiveError(
    task_id,
    '',
    `task '${task_id}' is ${status} (iteration ${current_iteration}/${max_iterations}); complete or fail it first, or give the new one another taskId.`,
  );
}

export function isOpen({ status }: TaskState): boolean {
  return isAtWork(status) || status === 'paused_awaiting_approval';
}

function isAtWork(status: TaskState['status']): boolean {
  return status === 'pending' || status === 'running';
}

/** Whether a task is pending or running and has no time left. */
export function isOver(task: TaskState, at: string): boolean {
  return isAtWork(task.status) && msBetween(at, task.timeout_at) <= 0;
}
