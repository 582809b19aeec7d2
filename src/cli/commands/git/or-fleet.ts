import { fleetNamed } from '../../../fleet/cli/which-fleet.ts';
import { placeInFleet, taskCommand } from '../../../printed-command.ts';
import { TaskNotFoundError } from '../../../task-errors.ts';
import type { FolderOptions } from '../../tasks/named-folders.ts';

/** Wraps a command on a task of this machine. If there is no such task, but a fleet is named, the user is told of it. */
export function orFleet<Words extends [taskId: string | undefined, ...unknown[]]>(
  command: string,
  run: (...words: Words) => Promise<number>,
): (...words: Words) => Promise<number> {
  return async (...words) => {
    try {
      return await run(...words);
    } catch (error) {
      const [taskId] = words;
      const options = words.at(-1) as FolderOptions;
      const isUnknown = error instanceof TaskNotFoundError && taskId !== undefined;
      const { env } = process;
      // An agent in a loop is told of no fleet, since commands on a fleet are for people.
      if (!isUnknown || env.RALPH_RUN_ID || fleetNamed(options, env) === null) throw error;
      const look = taskCommand('status', placeInFleet(taskId, []));
      const here = `ralph ${command} works on tasks of this machine alone.\nto look in the fleet: ${look}`;
      throw new TaskNotFoundError(taskId, '', `${error.sentence} ${here}`);
    }
  };
}
