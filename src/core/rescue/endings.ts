import type { FileTask } from './vault-files.ts';

/** What the end of a run means for the file and for the pass. */
export type Verdict =
  | 'done'
  /** The file is the cause, so this counts as a failed rescue. */
  | 'failed'
  /** The cause is not the file, so the next file would fail, too. */
  | 'common'
  /** A person has to resume it: paused, stopped on request, out of budget, or waiting for an approval. */
  | 'held'
  /** A signal, which ends everything. */
  | 'interrupted';

/** Returns what an ending means, from its status and exit reason. */
export function verdictOf(status: string, exitReason: string | null): Verdict {
  switch (status) {
    case 'completed':
      return 'done';
    case 'max_iterations_reached':
    case 'stalled':
    case 'timeout':
      return 'failed';
    case 'failed':
      return exitReason === 'failed:aborted' ? 'failed' : 'common';
    case 'usage_limited':
      return 'common';
    case 'stopped':
      return exitReason === 'stopped:request' ? 'held' : 'interrupted';
    default:
      return 'held';
  }
}

/**
 * Causes that can be fixed without changing settings, so the task is resumed. After any other cause the
 * rescue starts over, since the cause may be one of its stored settings.
 */
const PASSING = new Set(['failed:not-logged-in', 'failed:no-credit']);

/** Whether a task that ralph itself started is resumed. */
export function canGoOn({ standing, exitReason }: FileTask): boolean {
  switch (standing) {
    case 'interrupted':
    case 'usage_limited':
      return true;
    case 'stopped':
      return verdictOf(standing, exitReason) === 'interrupted';
    case 'failed':
      return PASSING.has(exitReason ?? '');
    default:
      return false;
  }
}
