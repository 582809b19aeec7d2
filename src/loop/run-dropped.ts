/**
 * A run is left as it was saved: the worker lost its claim, or another one goes on with the task. The loop ends what
 * runs, saves nothing more, and rejects with this.
 */
export class RunDropped extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RunDropped';
  }
}
