/** The worker's disk has no room left: the task goes to another worker. */
export class WorkerFull extends Error {}
