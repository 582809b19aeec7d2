/**
 * Thrown when a run must leave its task to others, for example because the worker lost its claim. The loop ends its
 * processes, saves nothing more, and rejects with this error.
 */
export class RunDropped extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RunDropped';
  }
}
