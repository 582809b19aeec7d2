import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { foldersOf, type StoreOptions, type TaskFolders } from './named-folders.ts';
import { requireId, shownTask } from './named-task.ts';

/** The task that a person wants to read. */
interface WantedTask {
  /** The name of the command, such as `logs`. */
  readonly command: string;
  /** How the person named the task; the default is the newest task, except in a fleet (a shared database). */
  readonly word: string | undefined;
  readonly options: StoreOptions;
  /** Whether the output is for programs. If so, it does not contain the name of a fleet. */
  readonly isData: boolean;
}

/**
 * Carries out a command that reads one task: calls `read` with the task's id and folders. A task of a fleet (a database
 * of tasks) is copied into temporary folders first, so the command needs no code of its own for fleets.
 */
export async function readTask(
  { command, word, options, isData }: WantedTask,
  read: (taskId: string, place: TaskFolders) => Promise<number>,
): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const taskId = requireId(word, command);
    const { readCopy } = await import('../../fleet/cli/read-copy.ts');
    return (fleet) => readCopy(fleet, { taskId, isData }, (place) => read(taskId, place));
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  return read(shownTask(word, place), place);
}
