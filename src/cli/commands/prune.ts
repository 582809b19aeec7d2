import { pruneTasks } from '../../compose/git-commands/prune.ts';
import { parseDuration } from '../../core/settings/duration.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { prunedLine, pruneFailure, pruneSummary } from '../../report/screens/prune.ts';
import { foldersOf, type StoreOptions } from '../tasks/named-folders.ts';
import { say } from '../terminal/outlet.ts';

export interface PruneOptions extends StoreOptions {
  /** A duration; default `30d`. */
  readonly olderThan?: string;
  readonly dryRun?: boolean;
  /** For a fleet (tasks in a database): whether the tasks' refs (`refs/ralph/ID`) stay in the repositories. */
  readonly keepRefs?: boolean;
}

/** `ralph prune`: removes tasks that ended long ago from the history, with their snapshots. */
export async function prune(options: PruneOptions): Promise<number> {
  const { olderThan = '30d', dryRun = false, keepRefs = false } = options;
  const ageMs = parseDuration(olderThan);
  if (ageMs === null) {
    throw new UsageError([
      `--older-than expects a duration such as 30d, 12h or 90m; found '${olderThan}'.`,
    ]);
  }
  const done = ifOnFleet(options, async () => {
    const { fleetPrune } = await import('../../fleet/cli/prune.ts');
    const wanted = { ageMs, olderThan, dryRun, keepRefs };
    return (fleet) => fleetPrune(fleet, wanted);
  });
  if (done !== null) return done;
  if (keepRefs) {
    throw new UsageError([
      '--keep-refs expects a fleet (--fleet URL, or RALPH_FLEET); found a vault, which keeps its snapshots only with their tasks.',
    ]);
  }
  const { stateDir, keyFile } = foldersOf(options);
  const totals = { tasks: 0, corruptFiles: 0, bytes: 0, dryRun, olderThan };
  let exitCode = 0;
  for (const { kind, name, bytes, failure } of await pruneTasks({
    ...{ stateDir, keyFile, dryRun },
    beforeMs: Date.now() - ageMs,
    env: process.env,
  })) {
    const shown = oneLine(name, 300);
    if (failure !== null) {
      say(pruneFailure(shown, oneLine(failure, 300)));
      exitCode = EXIT_FAILED;
      continue;
    }
    if (dryRun) process.stdout.write(prunedLine(shown, bytes));
    if (kind === 'task') totals.tasks += 1;
    else totals.corruptFiles += 1;
    totals.bytes += bytes;
  }
  process.stdout.write(pruneSummary(totals));
  return exitCode;
}
