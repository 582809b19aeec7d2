import { UsageError } from '../../errors.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import type { StoreOptions } from '../tasks/named-folders.ts';
import { requireId } from '../tasks/named-task.ts';
import { readTask } from '../tasks/read-task.ts';
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
  // For a task of a fleet (a shared database), `readTask` reads a copy, which does not grow and cannot be followed.
  const followed = follow
    ? ifOnFleet(options, async () => {
        const { followFleetLogs } = await import('../../fleet/cli/logs.ts');
        const taskId = requireId(word, 'logs');
        return (fleet) => followFleetLogs(fleet, taskId, wanted);
      })
    : null;
  const task = { command: 'logs', word, options, isData: raw };
  return followed ?? readTask(task, (taskId, { stateDir }) => printLogs(stateDir, taskId, wanted));
}

function iterationOf(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`--iteration expects a number from 1; found '${text}'.`]);
}
