import { rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Hint } from '../core/hints.ts';
import type { LoopState } from '../core/machine.ts';
import { safeJson } from '../core/safe-json.ts';
import { SCHEMA_VERSION, type TaskState } from '../core/task-state.ts';
import { MB, readTextWithin } from './bounded-read.ts';
import { objectAt, parseObject } from './json-fields.ts';
import { fileOf, type Seal } from './trust/seal.ts';
import { removeFile } from './write-file.ts';

/**
 * What the loop knows beyond the task's state, and needs to go on as if it had never been away: where
 * it stands, and what the next prompt is told. It is written to a file of its own, since it holds
 * the agent's words at full length.
 */
export type LoopMemory = Omit<LoopState, 'task' | 'stopRequested' | 'pauseRequested'>;

/**
 * Two names take turns: the state file names the one that goes with it, and the other is free to be
 * written. So both files change at one instant, when the state file does.
 */
const NAMES = ['memory-1.json', 'memory-2.json'] as const;

/** The name to write to, beside the one that the state file on disk names. */
export function freeMemoryName(inUse: string | null): string {
  return inUse === NAMES[0] ? NAMES[1] : NAMES[0];
}

/** What is remembered of a state. */
export function memoryOf(state: LoopState): LoopMemory {
  const { task, stopRequested, pauseRequested, ...memory } = state;
  return memory;
}

/** The text of a memory file, not sealed yet. */
export function memoryJson(memory: LoopMemory): string {
  return `{"schema_version":${SCHEMA_VERSION},"memory":${safeJson(memory)}}\n`;
}

/** It holds a final message of 1 MB, of which an escape may make six times as much, and some hints. */
const MEMORY_MAX_BYTES = 16 * MB;

/**
 * Reads the memory that a state names; null where it is gone, torn, of another version, or not sealed
 * by this seal. Null for the seal takes it as it is: a person has looked at the task.
 */
export function readMemory(
  taskFolder: string,
  task: Pick<TaskState, 'task_id' | 'started_at' | 'memory'>,
  seal: Seal | null,
): LoopMemory | null {
  const { memory: name } = task;
  if (name === null || !NAMES.some((known) => known === name)) return null;
  let text: string;
  try {
    text = readTextWithin(path.join(taskFolder, name), MEMORY_MAX_BYTES);
  } catch {
    return null;
  }
  const file = parseObject(text);
  const memory = file === null ? null : objectAt(file, 'memory');
  if (file === null || memory === null || file.schema_version !== SCHEMA_VERSION) return null;
  if (seal !== null && !seal.isClosed(text, fileOf('memory', task))) return null;
  return isMemory(memory) ? withHints(memory) : null;
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

/** ralph 0.1.0 kept hints as plain texts. */
function withHints(memory: LoopMemory): LoopMemory {
  const hints = (kept: readonly (Hint | string)[]): readonly Hint[] =>
    kept.map((hint) => (typeof hint === 'string' ? { text: hint, isProven: false } : hint));
  const { carry } = memory;
  return { ...memory, hints: hints(memory.hints), carry: { ...carry, hints: hints(carry.hints) } };
}

/** In this version of its form; who vouches for it vouches for its fields, too. */
function isMemory(value: object): value is LoopMemory {
  return ['step', 'carry', 'hints', 'trouble', 'streaks'].every((key) => key in value);
}
