import { messageOf } from '../../errors.ts';
import { EXIT_BUG } from '../../exit-codes.ts';

/*
 * Errors that nobody waits for: thrown in a timer or a stream's listener, or a rejected promise. While
 * tasks run they end those tasks, so that state and note say so; at any other time they end ralph.
 */

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/** Takes such errors over from Node, which would print a stack and leave the agent running. */
export function watchForBugs(): void {
  for (const event of EVENTS) {
    process.on(event, (error: unknown) => {
      // Whoever listens beside this has a task to end first.
      if (process.listenerCount(event) > 1) return;
      sayBug(error);
      process.exit(EXIT_BUG);
    });
  }
}

/** One sentence on standard error. */
export function sayBug(error: unknown): void {
  process.stderr.write(`ralph: this is a bug in ralph, please report it: ${messageOf(error)}\n`);
}

/** Runs a task. The signal it is handed aborts with such an error, and the task has to end then. */
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
