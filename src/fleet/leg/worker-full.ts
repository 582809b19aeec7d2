/** Thrown if the worker's disk is full, so that the task goes to another worker. */
export class WorkerFull extends Error {}
