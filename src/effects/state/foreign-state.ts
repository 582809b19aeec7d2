import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import {
  type IterationRecord,
  laterBy,
  NO_METRICS,
  NOT_RUN_HERE,
  type Status,
  type TaskState,
} from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';
import { parseState } from './state-schema.ts';

/*
 * State files of other tools that run an agent in a loop, in the three formats their documents show. They have no
 * schema version, which distinguishes them from ralph's own:
 *
 *   loop_id, prompt, iterations[{number, timestamp, …}]   read by a stop hook
 *   task_id, task_file, iteration, iterations_history[]   kept by a service
 *   task_id, task_prompt, watch_glob "…", outputs[]       kept by a headless loop
 *
 * Their fields are given ralph's names, and then read like a state of ralph.
 */

/** The names of other tools for statuses that ralph names differently. */
export const FOREIGN_STATUSES: Readonly<Record<string, Status>> = {
  initializing: 'pending',
  in_progress: 'running',
  waiting_approval: 'paused_awaiting_approval',
};

/** A file longer than this does not count as a prompt. */
const PROMPT_MAX_BYTES = MB;

/** The defaults of these tools, for fields that are missing. */
const DEFAULT_MAX_ITERATIONS = 10;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/**
 * Reads a parsed state file of another tool as a task; returns null if it is not one. The task id is the file's name,
 * even if the content names another id, because the task is looked up by the file's name.
 */
export function readForeignState(value: JsonObject, file: string): TaskState | null {
  const task_id = idHere(stringAt(value, 'loop_id') ?? stringAt(value, 'task_id'), file);
  const started_at = instantAt(value, 'started_at');
  // A service counts the iteration in progress; the other tools count the finished ones.
  const inProgress = countAt(value, 'iteration');
  const isKnown = 'loop_id' in value || inProgress !== null || Array.isArray(value.outputs);
  if (numberAt(value, 'schema_version') !== null || !isKnown) return null;
  if (task_id === null || started_at === null) return null;

  const task_file = stringAt(value, 'task_file');
  // The text of the task file is the only prompt of a task that a service keeps.
  const fileText = task_file === null ? null : tryReadText(task_file, PROMPT_MAX_BYTES);
  const outputs = stringsAt(value, 'outputs');
  const finished = countAt(value, 'current_iteration') ?? Math.max(0, (inProgress ?? 0) - 1);
  const firstOutput = Math.max(finished - outputs.length, 0) + 1;
  const iterations = [
    ...objectsAt(value, 'iterations'),
    ...objectsAt(value, 'iterations_history'),
    ...outputs.map((action, index) => ({ action, number: firstOutput + index })),
  ].map((each, index) => iterationRecord(each, index + 1, started_at));
  const counted = Math.max(finished, iterations.at(-1)?.number ?? 0);
  const current_iteration = Math.max(inProgress ?? 0, counted);
  const updated_at =
    instantAt(value, 'updated_at') ??
    instantAt(value, 'last_updated') ??
    iterations.at(-1)?.started_at ??
    started_at;
  const { watch_glob } = value;
  return parseState({
    task_id,
    task_prompt: stringAt(value, 'prompt') ?? stringAt(value, 'task_prompt') ?? fileText ?? '',
    task_type: value.task_type,
    task_file,
    completion_promise: value.completion_promise,
    watch_glob: typeof watch_glob === 'string' && watch_glob !== '' ? [watch_glob] : watch_glob,
    watch_file: stringAt(value, 'watch_file') ?? task_file,
    done_folder: value.done_folder,
    max_iterations: countAt(value, 'max_iterations') ?? DEFAULT_MAX_ITERATIONS,
    current_iteration,
    attempt: current_iteration > 0 ? 1 : 0,
    ...statusOf(value),
    started_at,
    updated_at,
    finished_at: instantAt(value, 'completed_at'),
    timeout_at: instantAt(value, 'timeout_at') ?? laterBy(started_at, DEFAULT_TIMEOUT_MS),
    exit_reason: value.exit_reason,
    iterations,
    errors: errorsOf(value).map((each) => ({
      at: instantAt(each, 'timestamp') ?? instantAt(each, 'at') ?? updated_at,
      iteration: current_iteration,
      attempt: 1,
      kind: 'reported',
      message: oneLine(stringAt(each, 'message') ?? stringAt(each, 'error') ?? '', 500),
    })),
    progress: value.progress,
    metrics: { ...NO_METRICS, iterations: counted },
  });
}

function iterationRecord(each: JsonObject, number: number, startedAt: string): IterationRecord {
  const result = stringAt(each, 'result') ?? 'success';
  const preview = stringAt(each, 'output_preview') ?? stringAt(each, 'action') ?? '';
  return {
    ...NOT_RUN_HERE,
    number: countAt(each, 'number') ?? countAt(each, 'iteration') ?? number,
    started_at: instantAt(each, 'timestamp') ?? startedAt,
    duration_ms: Math.round(amountAt(each, 'duration_seconds') * 1_000),
    outcome: result === 'success' ? 'answered' : 'errored',
    completed: each.completed === true,
    output_preview: oneLine(preview, 200),
  };
}

/** Returns the errors, which are texts or objects. */
function errorsOf(value: JsonObject): readonly JsonObject[] {
  const texts = stringsAt(value, 'errors').map((message) => ({ message }));
  return [...texts, ...objectsAt(value, 'errors')];
}

/** Returns the status under ralph's name (an unknown one unchanged), and whether the task waits for a person. */
function statusOf(value: JsonObject) {
  const theirs = stringAt(value, 'status') ?? '';
  const status: string = FOREIGN_STATUSES[theirs] ?? theirs;
  const isPaused = value.paused_for_approval === true && ['running', 'paused'].includes(status);
  return isPaused || status === 'paused_awaiting_approval'
    ? { status: 'paused_awaiting_approval', paused_for_approval: true }
    : { status };
}

/** Returns a file's task id; null if it is invalid. In the history, a time may follow the id in the file's name. */
function idHere(theirs: string | null, file: string): string | null {
  const stem = path.basename(file, '.json');
  if (theirs === null) return null;
  if (isTaskId(theirs) && (stem === theirs || stem.startsWith(`${theirs}.`))) return theirs;
  return isTaskId(stem) ? stem : null;
}

function instantAt(value: JsonObject, key: string): string | null {
  const text = stringAt(value, key);
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function countAt(value: JsonObject, key: string): number | null {
  const number = numberAt(value, key);
  return number !== null && Number.isInteger(number) && number >= 0 ? number : null;
}
