import type { ShownState } from './shown-task.ts';

/** What `--resume-if-open` does with the task that has its id. */
export type IfOpen =
  | 'goes on'
  | 'begins a new run'
  /** A new run would have a whole budget again, and the next one, too: a person decides. */
  | 'is refused';

/** By how a task stands, as it is shown, and why it ended. A living driver is another matter. */
export function ifOpen(state: ShownState, exitReason: string | null): IfOpen {
  switch (state) {
    case 'stalled':
      return exitReason === 'interrupted' ? 'is refused' : 'begins a new run';
    case 'budget_spent':
      return 'is refused';
    case 'interrupted':
    case 'pending':
    case 'running':
    case 'paused':
    case 'paused_awaiting_approval':
    case 'stopped':
    case 'usage_limited':
      return 'goes on';
    case 'failed':
      return exitReason === 'failed:aborted' ? 'begins a new run' : 'goes on';
    default:
      return 'begins a new run';
  }
}
