import { formatBytes, plural } from '../format.ts';

/** How much `ralph prune` removed, or would remove with `--dry-run`. */
export interface PruneTotals {
  readonly tasks: number;
  readonly corruptFiles: number;
  readonly bytes: number;
  readonly dryRun: boolean;
  /** The age as the user wrote it, such as `30d`. */
  readonly olderThan: string;
}

/** Returns the closing sentence of `ralph prune`. */
export function pruneSummary(totals: PruneTotals): string {
  const { tasks, corruptFiles, bytes, dryRun, olderThan } = totals;
  if (tasks === 0 && corruptFiles === 0) {
    return `nothing in the history is older than ${olderThan}\n`;
  }
  const what = [
    plural(tasks, 'task'),
    ...(corruptFiles > 0 ? [plural(corruptFiles, 'corrupt file')] : []),
  ].join(' and ');
  return `${dryRun ? 'would remove' : 'removed'} ${what}, ${formatBytes(bytes)}\n`;
}

/** Returns the closing sentence of `ralph prune` for a fleet (machines with a common database). It has no sizes. */
export function fleetPruneSummary({
  tasks,
  olderThan,
  dryRun,
}: Pick<PruneTotals, 'tasks' | 'olderThan' | 'dryRun'>): string {
  if (tasks === 0) return `no task ended longer ago than ${olderThan}\n`;
  return `${dryRun ? 'would remove' : 'removed'} ${plural(tasks, 'task')}\n`;
}

/** Returns the line of an entry that `--dry-run` would remove. */
export function prunedLine(name: string, bytes: number): string {
  return `${name}  ${formatBytes(bytes)}\n`;
}

/** Returns the line of an entry that could not be removed. */
export function pruneFailure(name: string, why: string): string {
  return `cannot remove ${name}: ${why}`;
}
