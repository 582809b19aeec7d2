import type { TaskState } from './task-state.ts';

/** The size a state file never passes, in bytes. */
export const STATE_MAX_BYTES = 50_000;

/**
 * The state file's text. When it would grow past its bound, the oldest iterations and errors go
 * first: the totals in `metrics` and `usage` hold them all, and the logs hold every byte.
 */
export function stateJson(task: TaskState): string {
  let kept = task;
  for (;;) {
    const json = `${JSON.stringify(kept, null, 2)}\n`;
    if (new TextEncoder().encode(json).length <= STATE_MAX_BYTES) return json;
    if (kept.iterations.length + kept.errors.length <= 2) return json;
    kept = {
      ...kept,
      iterations: kept.iterations.slice(Math.ceil(kept.iterations.length / 4)),
      errors: kept.errors.slice(Math.ceil(kept.errors.length / 4)),
    };
  }
}
