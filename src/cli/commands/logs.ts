import { UsageError } from '../../errors.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { requireId, shownTask } from '../tasks/named-task.ts';
import { printLogs } from '../tasks/show-logs.ts';

export interface LogsOptions extends StoreOptions {
  /** Whether to print the agent's output byte for byte, instead of as readable text. */
  readonly raw?: boolean;
  /** The number of an iteration, not yet parsed. */
  readonly iteration?: string;
  readonly follow?: boolean;
}

/** `ralph logs [ID]`: prints what the agent wrote, iteration by iteration. */
export async function logs(word: string | undefined, options: LogsOptions): Promise<number> {
  const iteration = options.iteration === undefined ? null : iterationOf(options.iteration);
  const { follow = false, raw = false } = options;
  const wanted = { iteration, follow, raw };
  const done = ifOnFleet(options, async () => {
    const { fleetLogs } = await import('../../fleet/cli/logs.ts');
    const taskId = requireId(word, 'logs');
    return (fleet) => fleetLogs(fleet, taskId, wanted);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  return printLogs(place.stateDir, shownTask(word, place), wanted);
}

function iterationOf(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`--iteration expects a number from 1; found '${text}'.`]);
}
