import { fleetNamed } from '../../../fleet/cli/which-fleet.ts';
import { placeInFleet, taskCommand } from '../../../printed-command.ts';
import { TaskNotFoundError } from '../../../task-errors.ts';
import type { FolderOptions } from '../../tasks/named-folders.ts';

/** Wraps a command. If its task is not on this machine, the error points to the fleet (shared tasks) that is named. */
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
      // The error does not mention the fleet to an agent in a loop, since commands on a fleet are for people.
      if (!isUnknown || env.RALPH_RUN_ID || fleetNamed(options, env) === null) throw error;
      const look = taskCommand('status', placeInFleet(taskId, []));
      const here = `ralph ${command} works on tasks of this machine alone.\nto look in the fleet: ${look}`;
      throw new TaskNotFoundError(taskId, '', `${error.sentence} ${here}`);
    }
  };
}
