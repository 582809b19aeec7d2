import { nearest } from '../../core/text/nearest.ts';
import { ifPossible } from '../../effects/files/if-possible.ts';
import { taskIdsIn } from '../../effects/state/task-list.ts';
import { TaskNotFoundError } from '../../task-errors.ts';

/** Returns the error for an unknown task. It names the id that was probably meant. */
export function unknownTask(taskId: string, stateDir: string): TaskNotFoundError {
  // The id itself may be listed: a symbolic link in place of a state file has a name, but is no task.
  const ids = idsIn(stateDir).filter((id) => id !== taskId);
  const near = ids.find((id) => taskId.length > 2 && id.startsWith(taskId)) ?? nearest(taskId, ids);
  return near === null
    ? new TaskNotFoundError(taskId, stateDir)
    : new TaskNotFoundError(
        taskId,
        stateDir,
        `there is no task '${taskId}' in ${stateDir}; did you mean ${near}?`,
      );
}

/** Returns the ids of the tasks; none if the folder cannot be read, because the suggestion is optional. */
function idsIn(stateDir: string): readonly string[] {
  return ifPossible(() => taskIdsIn(stateDir)) ?? [];
}
