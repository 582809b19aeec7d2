import { setTimeout as pause } from 'node:timers/promises';
import { type LogsWanted, printLogs, showLogs } from '../../cli/tasks/show-logs.ts';
import { signalled } from '../../cli/terminal/outlet.ts';
import { isLive } from '../../core/task/shown-task.ts';
import { openTaskLogs } from '../../effects/state/task-logs.ts';
import { FleetAwayError } from '../../errors.ts';
import type { TaskCopies } from '../worker/task-copy.ts';
import { type OpenFleet, requireTask } from './on-fleet.ts';
import { withCopyOf } from './read-copy.ts';

/** `ralph logs ID --follow` on a fleet: prints each log once it is stored, until the task ends or a signal comes. */
export function followFleetLogs(
  fleet: OpenFleet,
  taskId: string,
  wanted: LogsWanted,
): Promise<number> {
  return withCopyOf(fleet, { taskId, isData: wanted.raw }, async (copies) => {
    if (await followed(fleet, copies, taskId, wanted)) return 0;
    copies.addLogs(taskId, await fleet.queue.logs(taskId, 0));
    return printLogs(copies.stateDir, taskId, { ...wanted, follow: false });
  });
}

const LOOK_EVERY_MS = 1_000;

/** Prints logs until the task ends or a signal comes. Resolves to false if the task ended and nothing was printed. */
async function followed(
  fleet: OpenFleet,
  copies: TaskCopies,
  taskId: string,
  { iteration: only, raw }: LogsWanted,
): Promise<boolean> {
  const stop = signalled();
  let last = 0;
  let seen: string | null = null;
  for (;;) {
    const task = await unlessAway(() => requireTask(fleet, taskId));
    const isOver = task !== null && !isLive(task.status);
    const logs =
      task === null || task.updated_at === seen
        ? []
        : await unlessAway(() => fleet.queue.logs(taskId, only === null ? last : only - 1));
    if (task !== null && logs !== null) {
      seen = task.updated_at;
      copies.addLogs(taskId, logs);
      for (const number of iterationsIn(copies, taskId)) {
        // The log of an iteration that still runs is replaced when the iteration is over.
        const isWhole = number <= task.iterations || isOver;
        if (number <= last || !isWhole || (only !== null && number !== only)) continue;
        const one = { iteration: number, follow: false, raw };
        if (!(await showLogs(copies.stateDir, taskId, one))) return true;
        last = number;
      }
      if (isOver || (only !== null && last === only)) return last > 0;
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return true;
  }
}

/** Resolves to null while the database cannot be reached. */
async function unlessAway<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof FleetAwayError) return null;
    throw error;
  }
}

function iterationsIn({ stateDir }: TaskCopies, taskId: string): readonly number[] {
  return openTaskLogs(stateDir, taskId)?.iterations() ?? [];
}
