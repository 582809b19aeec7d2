import { openTaskLogs } from '../../effects/state/task-logs.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { onFleet } from '../../fleet/cli/on-fleet.ts';
import { fleetNamed } from '../../fleet/cli/which-fleet.ts';
import { noLogsYet, noSuchIteration } from '../../report/screens/logs.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { requireId, shownTask } from '../tasks/named-task.ts';
import { showLogs } from '../tasks/show-logs.ts';
import { unknownTask } from '../tasks/unknown-task.ts';
import { say } from '../terminal/outlet.ts';

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
  const fleet = fleetNamed(options, process.env);
  if (fleet !== null) {
    const { fleetLogs } = await import('../../fleet/cli/logs.ts');
    const taskId = requireId(word, 'logs');
    return onFleet(fleet, options, (open) => fleetLogs(open, taskId, { iteration, follow, raw }));
  }
  const place = foldersOf(options);
  const { stateDir } = place;
  const taskId = shownTask(word, place);
  const found = openTaskLogs(stateDir, taskId);
  if (found === null) throw unknownTask(taskId, stateDir);
  const there = found.iterations();
  if (iteration !== null && !there.includes(iteration)) {
    say(noSuchIteration(taskId, iteration, there));
    return EXIT_FAILED;
  }
  if (there.length === 0) say(noLogsYet(taskId));
  await showLogs(found, { taskId, stateDir, iteration, follow, raw });
  return 0;
}

function iterationOf(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`--iteration expects a number from 1; found '${text}'.`]);
}
