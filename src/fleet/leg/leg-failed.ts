import type { StatusAndReason } from '../../core/task/endings.ts';
import { RunDropped } from '../../loop/run-dropped.ts';

type Reason = Extract<StatusAndReason, { readonly status: 'failed' }>['exitReason'];

/** Thrown to drop the run of a task that has failed, since no worker could continue it. The message says why. */
export class LegFailed extends RunDropped {
  readonly exitReason: Reason;
  /** Whether the work tree holds work that is stored nowhere else. */
  readonly keepsTree: boolean;

  constructor(exitReason: Reason, message: string, keepsTree = false) {
    super(message);
    this.name = 'LegFailed';
    this.exitReason = exitReason;
    this.keepsTree = keepsTree;
  }
}

/** Thrown if a person stopped the task while no loop could notice: during the clone, the set-up or an outage. */
export class LegStopped extends RunDropped {
  constructor() {
    super('stopped by a person');
    this.name = 'LegStopped';
  }
}
