import type { FileTask } from '../core/vault-work.ts';

/** How a run of a file ended, by what follows for the file and for the pass. */
export type Verdict =
  | 'done'
  /** It says something about the file: a rescue that ended so has failed. */
  | 'failed'
  /** The cause is not the file's: the next one would meet it too. */
  | 'common'
  /** A person has to go on with it: held, stopped on request, its money spent, or asks. */
  | 'held'
  /** A signal: everything ends. */
  | 'interrupted';

/** What an ending says, by its status and exit reason. */
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
 * Causes that pass without a change of settings: their task is gone on with. After any other one a
 * rescue begins afresh, since what stood in its way may be a setting it has kept.
 */
const PASSING = new Set(['failed:not-logged-in', 'failed:no-credit']);

/** Whether a task of ralph's own making is gone on with as it stands. */
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
