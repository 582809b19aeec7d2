import type { ShownState } from './shown-task.ts';

/** What `--resume-if-open` does with the task of the given id. */
export type IfOpen =
  | 'goes on'
  | 'begins a new run'
  /** A person decides, since each new run would get a full budget again. */
  | 'is refused';

/** Decides from a task's shown state and exit reason. The caller handles a task with a live driver. */
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
