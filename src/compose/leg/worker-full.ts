import { RunDropped } from '../../loop/run-dropped.ts';

/** The worker's disk has no room left: the task goes to another worker. */
export class WorkerFull extends RunDropped {}
