import type { TaskFolders } from '../../cli/tasks/named-folders.ts';
import { say, standardOutlet } from '../../cli/terminal/outlet.ts';
import { type TaskCopies, withTaskCopies } from '../worker/task-copy.ts';
import { type OpenFleet, requireTask } from './on-fleet.ts';

/** The task of a fleet that is read, and how the name of the fleet is printed. */
export interface TaskToRead {
  readonly taskId: string;
  /** Whether the output is for programs: then the name of the fleet goes to standard error. */
  readonly isData: boolean;
}

/** Prints the name of the fleet, and calls `read` with a temporary copy of a task and of its stored logs. */
export function readCopy<T>(
  fleet: OpenFleet,
  task: TaskToRead,
  read: (place: TaskFolders) => Promise<T>,
): Promise<T> {
  return withCopyOf(fleet, task, async (copies) => {
    copies.addLogs(task.taskId, await fleet.queue.logs(task.taskId, 0));
    return read({ ...copies, fleetWords: fleet.words });
  });
}

/** As `readCopy`, but without the logs. */
export async function withCopyOf<T>(
  fleet: OpenFleet,
  { taskId, isData }: TaskToRead,
  use: (copies: TaskCopies) => Promise<T>,
): Promise<T> {
  const facts = await requireTask(fleet, taskId);
  const { name } = fleet.queue;
  if (isData) say(name);
  else await standardOutlet().write(`${name}\n`);
  return withTaskCopies(async (copies) => {
    await copies.add(facts, await fleet.queue.checkpoint(taskId));
    return use(copies);
  });
}
