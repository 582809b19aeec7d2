import { listTasks } from '../compose/tasks.ts';
import { nearest } from '../core/nearest.ts';
import { TaskNotFoundError } from '../errors.ts';

/** Of those that ended, so many of the last may be meant. */
const ENDED_AT_MOST = 50;

/** The mistake of naming a task that is not there, with the one that was probably meant. */
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

/** What cannot be read is no help. */
function idsIn(stateDir: string): readonly string[] {
  try {
    const { open, ended } = listTasks(stateDir, ENDED_AT_MOST);
    // In the history a name may carry the time at which an earlier task of its id began.
    return [...open, ...ended].map(({ name }) =>
      name.replace(/\.\d{4}-\d\d-\d\dT\w+(\.\w+)?$/, ''),
    );
  } catch {
    return [];
  }
}
