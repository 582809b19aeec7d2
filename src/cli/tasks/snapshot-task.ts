import { UsageError } from '../../errors.ts';
import { type FoundTask, findTask } from './find-task.ts';
import type { TaskFolders } from './named-folders.ts';
import { unknownTask } from './unknown-task.ts';

/**
 * Finds a task whose snapshots a command is about, also in the history. Throws `TaskNotFoundError`, and the
 * errors of `findTask`.
 */
export function findSnapshotTask(
  taskId: string,
  place: TaskFolders,
): FoundTask & { readonly vault: string } {
  const found = findTask(taskId, place);
  if (found === null) throw unknownTask(taskId, place.stateDir);
  return { ...found, vault: place.vault };
}

/** Reads the number of an iteration. Throws a `UsageError`. */
export function iterationNumber(text: string, command: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`${command} expects the number of an iteration, from 1; found '${text}'.`]);
}
