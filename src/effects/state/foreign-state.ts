import path from 'node:path';
import { isEnded } from '../../core/task/endings.ts';
import { newTaskState } from '../../core/task/new-task.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import {
  type ErrorRecord,
  type IterationRecord,
  laterBy,
  NOT_RUN_HERE,
  type Progress,
  type Status,
  type TaskState,
} from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../files/json-fields.ts';

/*
 * State files of other loop tools, in the three formats their documents show. They have no schema
 * version, which distinguishes them from ralph's own:
 *
 *   loop_id, prompt, iterations[{number, timestamp, …}]   read by a stop hook
 *   task_id, task_file, iteration, iterations_history[]   kept by a service
 *   task_id, task_prompt, watch_glob "…", outputs[]       kept by a headless loop
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

/** The fields that have different names in the three formats. */
interface Foreign {
  readonly taskId: string;
  /** The whole prompt, since there is no copy of it beside the state. */
  readonly prompt: string;
  readonly taskFile: string | null;
  readonly iteration: number;
  /** Number of finished iterations. */
  readonly counted: number;
  readonly updatedAt: string | null;
  readonly iterations: readonly IterationRecord[];
}

/**
 * Reads a parsed state file of another tool as a task; returns null if it is not one. The task id is the file's name,
 * even if the content names another id, because the task is looked up by the file's name.
 */
export function readForeignState(value: JsonObject, file: string): TaskState | null {
  if (numberAt(value, 'schema_version') !== null) return null;
  const startedAt = instantAt(value, 'started_at');
  const status = statusOf(value);
  const foreign = startedAt === null ? null : readShape(value, startedAt);
  if (foreign === null || startedAt === null || status === null) return null;
  const taskId = idHere(foreign.taskId, file);
  if (taskId === null) return null;
  const timeoutAt = instantAt(value, 'timeout_at') ?? laterBy(startedAt, DEFAULT_TIMEOUT_MS);
  const updatedAt = foreign.updatedAt ?? foreign.iterations.at(-1)?.started_at ?? startedAt;
  const fresh = newTaskState(
    {
      task_id: taskId,
      task_prompt: foreign.prompt,
      prompt_sha256: '',
      task_type: stringAt(value, 'task_type') ?? 'default',
      completion_promise: stringAt(value, 'completion_promise'),
      // These tools look for a text anywhere in the output; ralph requires a statement.
      match: 'statement',
      watch_glob: globsOf(value),
      watch_file: stringAt(value, 'watch_file') ?? foreign.taskFile,
      done_folder: stringAt(value, 'done_folder') ?? '',
      max_iterations: countAt(value, 'max_iterations') ?? DEFAULT_MAX_ITERATIONS,
    },
    startedAt,
    0,
  );
  return {
    ...fresh,
    task_file: foreign.taskFile,
    current_iteration: foreign.iteration,
    attempt: foreign.iteration > 0 ? 1 : 0,
    status,
    updated_at: updatedAt,
    finished_at: instantAt(value, 'completed_at'),
    timeout_at: timeoutAt,
    exit_reason: stringAt(value, 'exit_reason'),
    iterations: foreign.iterations,
    errors: errorsOf(value, updatedAt, foreign.iteration),
    progress: progressOf(value),
    metrics: { ...fresh.metrics, iterations: foreign.counted },
    paused_for_approval: status === 'paused_awaiting_approval',
  };
}

function readShape(value: JsonObject, startedAt: string): Foreign | null {
  if (stringAt(value, 'loop_id') !== null) return readHookState(value, startedAt);
  if (stringAt(value, 'task_id') === null) return null;
  if (countAt(value, 'iteration') !== null) return readServiceState(value, startedAt);
  return Array.isArray(value.outputs) ? readLoopState(value, startedAt) : null;
}

/** Reads the state of a stop hook; its `current_iteration` counts finished iterations. */
function readHookState(value: JsonObject, startedAt: string): Foreign {
  const iteration = countAt(value, 'current_iteration') ?? 0;
  return {
    taskId: stringAt(value, 'loop_id') ?? '',
    prompt: stringAt(value, 'prompt') ?? '',
    taskFile: null,
    iteration,
    counted: iteration,
    updatedAt: instantAt(value, 'updated_at'),
    iterations: objectsAt(value, 'iterations').map((each, index) =>
      iterationRecord(stringAt(each, 'output_preview'), {
        number: countAt(each, 'number') ?? index + 1,
        started_at: instantAt(each, 'timestamp') ?? startedAt,
        completed: each.completed === true,
      }),
    ),
  };
}

/** Reads the state of a service; its `iteration` is the one in progress. */
function readServiceState(value: JsonObject, startedAt: string): Foreign {
  const iterations = objectsAt(value, 'iterations_history').map((each, index) =>
    iterationRecord(stringAt(each, 'action'), {
      number: countAt(each, 'iteration') ?? index + 1,
      started_at: instantAt(each, 'timestamp') ?? startedAt,
      outcome: (stringAt(each, 'result') ?? 'success') === 'success' ? 'answered' : 'errored',
      duration_ms: Math.round(amountAt(each, 'duration_seconds') * 1_000),
    }),
  );
  const iteration = countAt(value, 'iteration') ?? 0;
  const taskFile = stringAt(value, 'task_file');
  // The text of the task file is the only prompt of such a task.
  const fileText = taskFile === null ? null : tryReadText(taskFile, PROMPT_MAX_BYTES);
  return {
    taskId: stringAt(value, 'task_id') ?? '',
    prompt: stringAt(value, 'prompt') ?? fileText ?? '',
    taskFile,
    iteration: Math.max(iteration, iterations.at(-1)?.number ?? 0),
    counted: iterations.at(-1)?.number ?? Math.max(0, iteration - 1),
    updatedAt: instantAt(value, 'last_updated'),
    iterations,
  };
}

/** Reads the state of a headless loop; each output is one finished iteration. */
function readLoopState(value: JsonObject, startedAt: string): Foreign {
  const outputs = stringsAt(value, 'outputs');
  const counted = Math.max(countAt(value, 'current_iteration') ?? 0, outputs.length);
  const first = counted - outputs.length + 1;
  return {
    taskId: stringAt(value, 'task_id') ?? '',
    prompt: stringAt(value, 'task_prompt') ?? '',
    taskFile: null,
    iteration: counted,
    counted,
    updatedAt: instantAt(value, 'updated_at'),
    iterations: outputs.map((output, index) =>
      iterationRecord(output, { number: first + index, started_at: startedAt }),
    ),
  };
}

function iterationRecord(
  preview: string | null,
  known: Pick<IterationRecord, 'number' | 'started_at'> & Partial<IterationRecord>,
): IterationRecord {
  return {
    duration_ms: 0,
    outcome: 'answered',
    ...NOT_RUN_HERE,
    output_preview: oneLine(preview ?? '', 200),
    ...known,
  };
}

function errorsOf(value: JsonObject, at: string, iteration: number): readonly ErrorRecord[] {
  const texts = stringsAt(value, 'errors').map((message) => ({ at, message }));
  const objects = objectsAt(value, 'errors').map((each) => ({
    at: instantAt(each, 'timestamp') ?? instantAt(each, 'at') ?? at,
    message: stringAt(each, 'message') ?? stringAt(each, 'error') ?? '',
  }));
  return [...texts, ...objects].map((error) => ({
    at: error.at,
    iteration,
    attempt: 1,
    kind: 'reported',
    message: oneLine(error.message, 500),
  }));
}

function progressOf(value: JsonObject): Progress | null {
  const progress = objectAt(value, 'progress');
  const total = progress === null ? null : countAt(progress, 'steps_total');
  if (progress === null || total === null) return null;
  const done = countAt(progress, 'steps_completed') ?? 0;
  return {
    steps_total: total,
    steps_completed: done,
    current_step: stringAt(progress, 'current_step') ?? '',
    percentage: numberAt(progress, 'percentage') ?? (total === 0 ? 0 : (100 * done) / total),
  };
}

function statusOf(value: JsonObject): Status | null {
  const word = stringAt(value, 'status') ?? '';
  const status = FOREIGN_STATUSES[word] ?? (isOwnStatus(word) ? word : null);
  const mayWait = status === 'running' || status === 'paused';
  return mayWait && value.paused_for_approval === true ? 'paused_awaiting_approval' : status;
}

function isOwnStatus(word: string): word is Status {
  return word === 'pending' || word === 'running' || isEnded(word);
}

function globsOf(value: JsonObject): readonly string[] {
  const glob = stringAt(value, 'watch_glob');
  return glob === null || glob === '' ? stringsAt(value, 'watch_glob') : [glob];
}

/** Returns a file's task id; null if it is invalid. In the history, a time may follow the id in the file's name. */
function idHere(taskId: string, file: string): string | null {
  const stem = path.basename(file, '.json');
  if (isTaskId(taskId) && (stem === taskId || stem.startsWith(`${taskId}.`))) return taskId;
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
