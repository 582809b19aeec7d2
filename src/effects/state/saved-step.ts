import { rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import type { Hint } from '../../core/machine/hints.ts';
import { type LoopState, NO_STREAKS } from '../../core/machine/loop-state.ts';
import { SCHEMA_VERSION, type TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { KB, MB, readTextWithin } from '../files/bounded-read.ts';
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
 * What the loop knows beyond the task's state, and needs to go on as if it had never been away: where
 * it stands, and what the next prompt is told. It is written to a file of its own, since it holds
 * the agent's words at full length.
 */
export type LoopMemory = Omit<LoopState, 'task' | 'stopRequested' | 'pauseRequested'>;

/** One step of a task as it was saved, whole: whoever has it can go on. */
export interface SavedStep {
  /** With the number of its saving, and the name of the file that this stands in. */
  readonly task: TaskState;
  readonly memory: LoopMemory;
  /** How long the log of the running iteration was, in bytes: what is behind came after this step. */
  readonly logBytes: number;
  /** What was to be told once this was saved. */
  readonly events: readonly RalphEvent[];
}

/** Two names take turns, so that one step is always whole while the next is written. */
const NAMES = ['memory-1.json', 'memory-2.json'] as const;

/** The name to write to, beside the one that the state file on disk names. */
export function freeMemoryName(inUse: string | null): string {
  return inUse === NAMES[0] ? NAMES[1] : NAMES[0];
}

/** The file in a task's folder that a state names; null where it names none, or what is no memory. */
export function memoryFile(taskFolder: string, name: string | null): string | null {
  return NAMES.some((known) => known === name) ? path.join(taskFolder, name ?? '') : null;
}

/** What is remembered of a state. */
export function memoryOf(state: LoopState): LoopMemory {
  const { task, stopRequested, pauseRequested, ...memory } = state;
  return memory;
}

/** The text of a memory file, not sealed yet. Throws where it is longer than what is ever read again. */
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
 * The newest step of a task that is whole and sealed in its folder, with the events of the step before it,
 * which may not be durable yet; null where there is none.
 */
export function newestStep(taskFolder: string, taskId: string, seal: Seal): SavedStep | null {
  const [newest, older] = NAMES.flatMap((name) => readStep(path.join(taskFolder, name), seal) ?? [])
    .filter(({ task }) => task.task_id === taskId)
    .toSorted((one, other) => other.task.save - one.task.save);
  if (newest === undefined) return null;
  const isNext = older !== undefined && older.task.save === newest.task.save - 1;
  return isNext ? { ...newest, events: [...older.events, ...newest.events] } : newest;
}

function readStep(file: string, seal: Seal): SavedStep | null {
  const text = readOr(file);
  const fields = text === null ? null : parseObject(text);
  if (text === null || fields === null || fields.schema_version !== SCHEMA_VERSION) return null;
  const task = parseState(objectAt(fields, 'task'));
  const memory = objectAt(fields, 'memory');
  if (task === null || memory === null || !isMemory(memory)) return null;
  if (!seal.isClosed(text, fileOf('memory', task))) return null;
  // The seal says that this ralph wrote them: they are events, as they were.
  const events = objectsAt(fields, 'events') as unknown as readonly RalphEvent[];
  return { task, memory, logBytes: numberAt(fields, 'log_bytes') ?? 0, events };
}

/**
 * Reads the step that a state names as it is: a person has looked at the task, or it is only asked whether
 * there is any. Null where it is gone, torn, or of another version.
 */
export function readNamedStep(
  taskFolder: string,
  { memory: name, task_id, save }: Pick<TaskState, 'memory' | 'task_id' | 'save'>,
): Omit<SavedStep, 'task'> | null {
  const file = memoryFile(taskFolder, name);
  const text = file === null ? null : readOr(file);
  const fields = text === null ? null : parseObject(text);
  const memory = fields === null ? null : objectAt(fields, 'memory');
  if (fields === null || memory === null || fields.schema_version !== SCHEMA_VERSION) return null;
  if (!isMemory(memory)) return null;
  // ralph 0.1.0 kept no task in it. Since then a memory of another step than the state is not used.
  const task = objectAt(fields, 'task');
  if (task !== null && numberAt(task, 'save') !== save) return null;
  const logBytes = numberAt(fields, 'log_bytes') ?? 0;
  const events = objectsAt(fields, 'events').slice(0, MOST_EVENTS);
  return {
    memory: upToDate(memory),
    logBytes: Number.isSafeInteger(logBytes) && logBytes >= 0 ? logBytes : 0,
    events: events.filter((event) => isOfStep(event, task_id)) as unknown as readonly RalphEvent[],
  };
}

/** Several times what one step tells. */
const MOST_EVENTS = 20;

/** Of this task, and no end: how a task ends is told by its state. Else who vouches for it vouches for it. */
function isOfStep(event: JsonObject, taskId: string): boolean {
  const isTold = stringAt(event, 'event') !== null && isInstant(stringAt(event, 'at'));
  return isTold && stringAt(event, 'task_id') === taskId && !('exit_reason' in event);
}

function isInstant(text: string | null): boolean {
  return text !== null && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);
}

/**
 * A final message of 1 MB may stand in it four times, and 1 MB of hints twice; escapes may make six times as
 * much of each.
 */
const MEMORY_MAX_BYTES = 64 * MB;

function readOr(file: string): string | null {
  try {
    return readTextWithin(file, MEMORY_MAX_BYTES);
  } catch {
    return null;
  }
}

/** Removes what is of use only to a task that can be gone on with. Throws the system's error. */
export function forgetMemory(taskFolder: string, inUse: string | null = null): void {
  // Nobody is left to ask anything of.
  removeFolder(path.join(taskFolder, 'requests'));
  // The one in use last: as long as it is there, nothing is forgotten.
  const other = freeMemoryName(inUse);
  for (const name of [other, freeMemoryName(other)]) {
    removeFile(path.join(taskFolder, name));
  }
}

/** Nearly always it is empty, and then gone at a stroke. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * ralph 0.1.0 kept hints as plain texts, only the beginning of a command that was refused, and nothing of
 * stopped sub-agents. What is not known of a command is held against no pattern.
 */
function upToDate(memory: LoopMemory): LoopMemory {
  const hints = (kept: readonly (Hint | string)[]): readonly Hint[] =>
    kept.map((hint) => (typeof hint === 'string' ? { text: hint, isProven: false } : hint));
  const { carry, step } = memory;
  const streaks = { ...NO_STREAKS, ...memory.streaks };
  const known = {
    ...memory,
    streaks,
    hints: hints(memory.hints),
    carry: { ...carry, hints: hints(carry.hints) },
  };
  if (!('answer' in step)) return known;
  const refused = step.answer.facts.refused.map((refusal) => ({
    ...refusal,
    command: refusal.command ?? (refusal.tool === 'Bash' ? '' : null),
  }));
  const { stoppedSubAgents = 0 } = step.answer.facts;
  const facts = { ...step.answer.facts, stoppedSubAgents, refused };
  return { ...known, step: { ...step, answer: { ...step.answer, facts } } };
}

/** In this version of its form; who vouches for it vouches for its fields, too. */
function isMemory(value: object): value is LoopMemory {
  return ['step', 'carry', 'hints', 'trouble', 'streaks'].every((key) => key in value);
}
