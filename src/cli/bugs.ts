import { messageOf } from '../errors.ts';
import { EXIT_BUG } from '../exit-codes.ts';

/*
 * Errors that nobody waits for: thrown in a timer or a stream's listener, or a rejected promise. While
 * tasks run they end those tasks, so that state and note say so; at any other time they end ralph.
 */

const runs = new Set<AbortController>();

/** Takes such errors over from Node, which would print a stack and leave the agent running. */
export function watchForBugs(): void {
  process.on('uncaughtException', onBug);
  process.on('unhandledRejection', onBug);
}

function onBug(error: unknown): void {
  for (const run of runs) run.abort(error);
  if (runs.size > 0) return;
  sayBug(error);
  process.exit(EXIT_BUG);
}

/** One sentence on standard error. */
export function sayBug(error: unknown): void {
  process.stderr.write(`ralph: this is a bug in ralph, please report it: ${messageOf(error)}\n`);
}

/** Runs something that ends by itself, and leaves no agent behind, where the signal aborts. */
export async function endedByBugs<T>(run: (bugs: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  runs.add(controller);
  try {
    return await run(controller.signal);
  } finally {
    runs.delete(controller);
  }
}
