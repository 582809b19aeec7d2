import { messageOf } from '../../errors.ts';
import { EXIT_BUG } from '../../exit-codes.ts';

/*
 * Uncaught errors: errors thrown in a timer or in a stream's listener, and rejections that nothing awaits. While tasks
 * run, such an error ends them, and their state files and notes for a person report it; otherwise it ends ralph.
 */

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/** Handles uncaught errors instead of Node, which would print a stack and leave the agent running. */
export function watchForBugs(): void {
  for (const event of EVENTS) {
    process.on(event, (error: unknown) => {
      // With a second listener, `endedByBugs` is running a task. It ends the task because of the error.
      if (process.listenerCount(event) > 1) return;
      sayBug(error);
      process.exit(EXIT_BUG);
    });
  }
}

/** Prints on standard error that an error is a bug in ralph. */
export function sayBug(error: unknown): void {
  process.stderr.write(`ralph: this is a bug in ralph, please report it: ${messageOf(error)}\n`);
}

/** Runs a task with an `AbortSignal` that fires on an uncaught error, which is its reason. The task must then end. */
export async function endedByBugs<T>(run: (bugs: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onBug = (error: unknown): void => controller.abort(error);
  for (const event of EVENTS) process.on(event, onBug);
  try {
    return await run(controller.signal);
  } finally {
    for (const event of EVENTS) process.off(event, onBug);
  }
}
