import { RunDropped } from '../../loop/run-dropped.ts';

/** A person has stopped a task where no run could hear it: in the clone, in the set-up, or while its origin is away. */
export class LegStopped extends RunDropped {
  constructor() {
    super('stopped by a person');
    this.name = 'LegStopped';
  }
}
