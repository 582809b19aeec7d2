import type { FileTask } from './vault-files.ts';

/** What the ending of a run means for the file and for the pass over the vault. */
export type Verdict =
  | 'done'
  /** The file is the cause, so this counts as a failed rescue. */
  | 'failed'
  /** The cause is not the file, so the next file would fail, too. */
  | 'common'
  /** A person has to resume it: paused, stopped on request, out of budget, or waiting for an approval. */
  | 'held'
  /** A signal stopped the run, which ends the whole pass. */
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
 * Causes that a person can fix without changing settings, so that the task can be resumed. After any other
 * cause a new rescue begins, since one of the stored settings may be the cause.
 */
const PASSING = new Set(['failed:not-logged-in', 'failed:no-credit']);

/** Whether a pass over the vault resumes a task that ralph itself started. */
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
