import { safeJson } from '../text/safe-json.ts';
import { clip } from '../text/untrusted-text.ts';
import type { TaskState } from './task-state.ts';

/** The maximum size of a state file, in bytes. */
export const STATE_MAX_BYTES = 50_000;
/** Space for the keyed checksum that is appended to the file, in bytes. */
const SUM_BYTES = 100;

/**
 * Returns the text of the state file. If it would be too large, the oldest iterations and errors are dropped
 * first: the totals in `metrics` and `usage` still include them, and the logs contain every byte.
 */
export function stateJson(task: TaskState): string {
  return withinLimit(task, 2);
}

/** Returns the text of the state file without indentation, so that it may still fit on a full disk. */
export function compactStateJson(task: TaskState): string {
  return withinLimit(task, 0);
}

function withinLimit(task: TaskState, indent: number): string {
  let kept = task;
  let lastLength = Number.POSITIVE_INFINITY;
  for (;;) {
    const json = `${safeJson(kept, indent)}\n`;
    if (new TextEncoder().encode(json).length <= STATE_MAX_BYTES - SUM_BYTES) return json;
    if (json.length >= lastLength) return json;
    lastLength = json.length;
    kept = kept.iterations.length + kept.errors.length > 2 ? withoutOldest(kept) : inBrief(kept);
  }
}

function withoutOldest(task: TaskState): TaskState {
  return {
    ...task,
    iterations: task.iterations.slice(Math.ceil(task.iterations.length / 4)),
    errors: task.errors.slice(Math.ceil(task.errors.length / 4)),
  };
}

/** Shortens the user's own texts; the task's `settings.json` contains them in full. */
function inBrief(task: TaskState): TaskState {
  const { task_prompt, completion_promise, watch_glob, watch_file } = task;
  return {
    ...task,
    task_prompt: halved(task_prompt),
    completion_promise: completion_promise === null ? null : halved(completion_promise),
    watch_glob: watch_glob.slice(0, Math.ceil(watch_glob.length / 2)).map(halved),
    watch_file: watch_file === null ? null : halved(watch_file),
    done_folder: halved(task.done_folder),
    iterations: [],
    errors: [],
  };
}

function halved(text: string): string {
  return text.length > 200 ? clip(text, Math.ceil(text.length / 2)) : text;
}
