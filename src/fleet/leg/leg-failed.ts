import type { StatusAndReason } from '../../core/task/endings.ts';
import { RunDropped } from '../../loop/run-dropped.ts';

type Reason = Extract<StatusAndReason, { readonly status: 'failed' }>['exitReason'];

/** A leg cannot go on anywhere, so its task has failed, and its run is dropped. The message says why. */
export class LegFailed extends RunDropped {
  readonly exitReason: Reason;
  /** Whether the work tree has something that is nowhere else. */
  readonly keepsTree: boolean;

  constructor(exitReason: Reason, message: string, keepsTree = false) {
    super(message);
    this.name = 'LegFailed';
    this.exitReason = exitReason;
    this.keepsTree = keepsTree;
  }
}

/** A person has stopped a task where no run could hear it: in the clone, in the set-up, or while its origin is away. */
export class LegStopped extends RunDropped {
  constructor() {
    super('stopped by a person');
    this.name = 'LegStopped';
  }
}
