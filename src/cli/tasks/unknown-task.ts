import { nearest } from '../../core/settings/nearest.ts';
import { listTasks } from '../../effects/state/task-list.ts';
import { TaskNotFoundError } from '../../task-errors.ts';

/** How many of the most recently ended tasks are suggested. */
const ENDED_AT_MOST = 50;

/** Returns the error for an unknown task, with the id that was probably meant. */
export function unknownTask(taskId: string, stateDir: string): TaskNotFoundError {
  const near = nearest(taskId, idsIn(stateDir));
  return near === null
    ? new TaskNotFoundError(taskId, stateDir)
    : new TaskNotFoundError(
        taskId,
        stateDir,
        `there is no task '${taskId}' in ${stateDir}; did you mean ${near}?`,
      );
}

/** Returns no ids if the folder cannot be read: the suggestion is optional. */
function idsIn(stateDir: string): readonly string[] {
  try {
    const { open, ended } = listTasks(stateDir, ENDED_AT_MOST);
    // In the history a name may end in the start time of an earlier task of the same id.
    return [...open, ...ended].map(({ name }) =>
      name.replace(/\.\d{4}-\d\d-\d\dT\w+(\.\w+)?$/, ''),
    );
  } catch {
    return [];
  }
}
