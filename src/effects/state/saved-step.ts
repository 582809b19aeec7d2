import { rmSync } from 'node:fs';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import type { LoopState } from '../../core/machine/loop-state.ts';
import { SCHEMA_VERSION, type TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { KB, MB, tryReadText } from '../files/bounded-read.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseObject,
  stringAt,
} from '../files/json-fields.ts';
import { removeFile } from '../files/write-file.ts';
import { fileOf, type Seal } from '../trust/seal.ts';
import { parseState } from './state-schema.ts';

/**
 * The facts beyond the task's state that the loop needs to resume as if it had never stopped: its current step, and
 * what the next prompt must say. They have a memory file of their own, because they hold the agent's whole messages.
 */
export type LoopMemory = Omit<LoopState, 'task' | 'stopRequested' | 'pauseRequested'>;

/** A complete saved step of a task: all that is needed to resume. */
export interface SavedStep {
  /** The task's state, which contains the number of this save and the name of the memory file. */
  readonly task: TaskState;
  readonly memory: LoopMemory;
  /** Length of the running iteration's log, in bytes; anything after it was written after this step. */
  readonly logBytes: number;
  /** Events to be published once this step is saved. */
  readonly events: readonly RalphEvent[];
}

/** Two files alternate, so that one always holds a complete step while the other is written. */
const NAMES = ['memory-1.json', 'memory-2.json'] as const;

/** Returns the name of the memory file to write to: the one that the state file on disk does not name. */
export function freeMemoryName(inUse: string | null): string {
  return inUse === NAMES[0] ? NAMES[1] : NAMES[0];
}

/** Returns the path of the memory file `name`; null if `name` is null or no name of a memory. */
export function memoryFile(taskFolder: string, name: string | null): string | null {
  return NAMES.some((known) => known === name) ? path.join(taskFolder, name ?? '') : null;
}

export function memoryOf(state: LoopState): LoopMemory {
  const { task, stopRequested, pauseRequested, ...memory } = state;
  return memory;
}

/** Returns the text of a memory file without the checksum that seals it. Throws if it is too long to be read again. */
export function stepJson({ task, memory, logBytes, events }: SavedStep): string {
  const fields = { schema_version: SCHEMA_VERSION, log_bytes: logBytes, events, task, memory };
  const json = `${safeJson(fields)}\n`;
  const bytes = Buffer.byteLength(json);
  if (bytes > MEMORY_MAX_BYTES - KB) {
    throw new Error(`the step takes ${bytes} bytes, and no more than ${MEMORY_MAX_BYTES} are read`);
  }
  return json;
}

/**
 * Returns the newest complete and sealed step in a task's folder, or null if there is none. Includes the
 * events of the step before it, which the journal (the record of events) may have lost in a power cut.
 */
export function newestStep(taskFolder: string, taskId: string, seal: Seal): SavedStep | null {
  const [newest, older] = NAMES.flatMap((name) => readStep(path.join(taskFolder, name), seal) ?? [])
    .filter(({ task }) => task.task_id === taskId)
    .toSorted((one, other) => other.task.save - one.task.save);
  if (newest === undefined) return null;
  const isNext = older !== undefined && older.task.save === newest.task.save - 1;
  return isNext ? { ...newest, events: [...older.events, ...newest.events] } : newest;
}

/** Reads a memory file; null if it is gone, torn, incomplete, or of another version. */
function readMemory(file: string) {
  const text = tryReadText(file, MEMORY_MAX_BYTES) ?? '';
  const fields = parseObject(text);
  if (fields?.schema_version !== SCHEMA_VERSION) return null;
  const memory = memoryIn(fields);
  return memory === null ? null : { text, fields, memory };
}

function readStep(file: string, seal: Seal): SavedStep | null {
  const found = readMemory(file);
  if (found === null) return null;
  const { text, fields, memory } = found;
  const task = parseState(objectAt(fields, 'task'));
  if (task === null || !seal.isClosed(text, fileOf('memory', task))) return null;
  // The seal proves that ralph wrote the events, so they need no validation.
  const events = objectsAt(fields, 'events') as unknown as readonly RalphEvent[];
  return { task, memory, logBytes: numberAt(fields, 'log_bytes') ?? 0, events };
}

/**
 * Reads the step that a state names, without checking its seal: the user has trusted the task, or the caller only asks
 * whether a step exists. Returns null if there is none, or if the memory contains another step than the state.
 */
export function readNamedStep(
  taskFolder: string,
  { memory: name, task_id, save }: Pick<TaskState, 'memory' | 'task_id' | 'save'>,
): Omit<SavedStep, 'task'> | null {
  const file = memoryFile(taskFolder, name);
  const found = file === null ? null : readMemory(file);
  if (found === null) return null;
  const { fields, memory } = found;
  if (numberAt(objectAt(fields, 'task') ?? {}, 'save') !== save) return null;
  const logBytes = numberAt(fields, 'log_bytes') ?? 0;
  const events = objectsAt(fields, 'events').slice(0, MOST_EVENTS);
  return {
    memory,
    logBytes: Number.isSafeInteger(logBytes) && logBytes >= 0 ? logBytes : 0,
    events: events.filter((event) => isOfStep(event, task_id)) as unknown as readonly RalphEvent[],
  };
}

/** At most this many events of a step are read: several times as many as any step has. */
const MOST_EVENTS = 20;

/**
 * Whether an event belongs to this task and is not its ending, which is taken from the state. Other fields need no
 * check, because the user has trusted the task.
 */
function isOfStep(event: JsonObject, taskId: string): boolean {
  return (
    stringAt(event, 'event') !== null &&
    /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(stringAt(event, 'at') ?? '') &&
    stringAt(event, 'task_id') === taskId &&
    !('exit_reason' in event)
  );
}

/**
 * The limit for a memory file: it may contain a final message of 1 MB four times, and 1 MB of hints (texts of the user
 * for the agent) twice, and escaping can make each six times as long.
 */
const MEMORY_MAX_BYTES = 64 * MB;

/** Removes a task's requests, and the memory files that are needed only to resume it. Throws the system's error. */
export function forgetMemory(taskFolder: string, inUse: string | null = null): void {
  // No process will read the requests any more.
  rmSync(path.join(taskFolder, 'requests'), { recursive: true, force: true });
  // The memory in use is removed last: while it exists, the task can still be resumed.
  removeFreeMemories(taskFolder, inUse);
  removeFreeMemories(taskFolder);
}

/** Removes the memory files that are not in use. Throws the system's error. */
export function removeFreeMemories(taskFolder: string, inUse: string | null = null): void {
  for (const name of NAMES) {
    if (name !== inUse) removeFile(path.join(taskFolder, name));
  }
}

/** Returns the memory in a parsed JSON object; null if it is missing or incomplete. */
export function memoryIn(fields: JsonObject): LoopMemory | null {
  const memory = objectAt(fields, 'memory');
  return memory !== null && isMemory(memory) ? memory : null;
}

/** Whether a memory has all its fields. Their content is not checked: the file is trusted. */
function isMemory(value: object): value is LoopMemory {
  return ['step', 'carry', 'hints', 'trouble', 'streaks'].every((key) => key in value);
}
