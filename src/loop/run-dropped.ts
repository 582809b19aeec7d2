/**
 * Thrown when a run must leave its task to others, for example because a fleet's worker lost its claim to the task.
 * The loop ends the task's processes, saves nothing more, and rejects with this error.
 */
export class RunDropped extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RunDropped';
  }
}
