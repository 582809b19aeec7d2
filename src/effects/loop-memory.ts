import { createHash } from 'node:crypto';
import { rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { LoopState } from '../core/machine.ts';
import { SCHEMA_VERSION } from '../core/task-state.ts';
import { MB, readTextWithin } from './bounded-read.ts';
import { objectAt, parseObject, stringAt } from './json-fields.ts';
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

/** The text of a memory file: its version, a seal by which a torn or edited one is known, the rest. */
export function memoryJson(memory: LoopMemory): string {
  const body = JSON.stringify(memory);
  return `{"schema_version":${SCHEMA_VERSION},"sha256":"${sealOf(body)}","memory":${body}}\n`;
}

/** It holds a final message of 1 MB, of which an escape may make six times as much, and some hints. */
const MEMORY_MAX_BYTES = 16 * MB;

/** Reads the memory that a state names; null where it is gone, torn, or of another version. */
export function readMemory(taskFolder: string, name: string | null): LoopMemory | null {
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
  const isSealed = stringAt(file, 'sha256') === sealOf(JSON.stringify(memory));
  return isSealed && isMemory(memory) ? memory : null;
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

function sealOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** The seal says that this ralph wrote it, in this version of its form: its fields are what they were. */
function isMemory(value: object): value is LoopMemory {
  return 'step' in value && 'carry' in value && 'trouble' in value && 'streaks' in value;
}
