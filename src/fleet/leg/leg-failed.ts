import type { StatusAndReason } from '../../core/task/endings.ts';
import { RunDropped } from '../../loop/run-dropped.ts';

type Reason = Extract<StatusAndReason, { readonly status: 'failed' }>['exitReason'];

/** Drops the run of a task that no worker could continue, and so has failed. The message says why. */
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

/** Drops the run of a task that a person stopped where no loop could notice: in the clone, the set-up or an outage. */
export class LegStopped extends RunDropped {
  constructor() {
    super('stopped by a person');
    this.name = 'LegStopped';
  }
}
