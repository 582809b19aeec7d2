import { formatBytes, plural } from '../format.ts';

/** How much was removed. */
export interface PruneTotals {
  readonly tasks: number;
  readonly corruptFiles: number;
  readonly bytes: number;
  readonly dryRun: boolean;
  /** As the user wrote it: `30d`. */
  readonly olderThan: string;
}

/** The closing sentence. */
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

/** The line of an entry that would be removed. */
export function prunedLine(name: string, bytes: number): string {
  return `${name}  ${formatBytes(bytes)}\n`;
}

/** The line of an entry that could not be removed. */
export function pruneFailure(name: string, why: string): string {
  return `cannot remove ${name}: ${why}`;
}
