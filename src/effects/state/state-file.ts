import { statSync } from 'node:fs';
import path from 'node:path';
import { SCHEMA_VERSION, type TaskState } from '../../core/task/task-state.ts';
import { messageOf } from '../../errors.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { numberAt, parseObject } from '../files/json-fields.ts';
import { errorCode } from '../files/write-file.ts';
import { type Seal, STATE } from '../trust/seal.ts';
import { readForeignState } from './foreign-state.ts';
import { newestStep, readNamedStep, type SavedStep } from './saved-step.ts';
import { parseState } from './state-schema.ts';
import type { TaskPaths } from './task-folder.ts';

/** What a task's state file contains; `none` if it is missing. */
export type StateFile =
  | {
      readonly kind: 'task';
      readonly state: TaskState;
      /** Whether its seal (a keyed checksum) proves that ralph wrote it for this user and folder and may act on it. */
      readonly isOwn: boolean;
    }
  | { readonly kind: 'none' }
  /** A newer version of ralph wrote the file, which is neither read nor moved. */
  | { readonly kind: 'too-new'; readonly version: number }
  | { readonly kind: 'corrupt'; readonly modifiedAt: string };

/** About twenty times the size of ralph's largest states; the states of other tools may contain whole outputs. */
export const STATE_READ_MAX_BYTES = MB;

/**
 * Reads a state file; without a seal, `isOwn` is always false. Throws the system's error only if the file
 * exists but cannot be read, such as another user's, or `EFBIG` if it is too large to be a state.
 */
export function readStateFile(file: string, seal: Seal | null = null): StateFile {
  let json: string;
  try {
    json = readTextWithin(file, STATE_READ_MAX_BYTES);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return { kind: 'none' };
    // `EINVAL` means a folder or a pipe, which counts as corrupt.
    if (errorCode(error) !== 'EINVAL') throw error;
    json = '';
  }
  const value = parseObject(json);
  // A power cut may have torn the file; a memory beside it, one of two files with a saved step, contains the same step.
  const rebuilt = value === null && seal !== null ? rebuiltState(file, seal) : null;
  if (rebuilt !== null) return { kind: 'task', state: rebuilt, isOwn: true };
  const version = value === null ? null : numberAt(value, 'schema_version');
  if (version !== null && version > SCHEMA_VERSION) return { kind: 'too-new', version };
  const state = value === null ? null : (readForeignState(value, file) ?? parseState(value));
  if (state !== null) {
    const isOwn = seal?.isClosed(json, STATE) === true && isNamedFor(file, state.task_id);
    return { kind: 'task', state, isOwn };
  }
  return { kind: 'corrupt', modifiedAt: modifiedAt(file) };
}

/** Whether a file is named for this task; in the history, a time may follow the id. */
function isNamedFor(file: string, taskId: string): boolean {
  const { name, dir } = path.parse(file);
  return name === taskId || (path.basename(dir) === 'history' && name.startsWith(`${taskId}.`));
}

/** Returns the state in the newest saved step beside a state file; null if no step is complete. */
function rebuiltState(file: string, seal: Seal): TaskState | null {
  const { name, dir } = path.parse(file);
  const step = newestStep(path.join(dir, name), name, seal);
  return step?.task ?? null;
}

/**
 * Returns the newest step of an open task, from its state file and its two memory files: after a kill or a power cut,
 * one may be older than the others. `step` is null if no memory file is complete.
 */
export function readNewestStep(
  paths: TaskPaths,
  state: TaskState,
  seal: Seal,
): { readonly state: TaskState; readonly step: SavedStep | null } {
  const step = newestStep(paths.folder, state.task_id, seal);
  if (step === null || step.task.started_at !== state.started_at) return { state, step: null };
  // The state is newer, since a full disk had room only for the state file, with how the task ended.
  if (state.memory === null && state.save > step.task.save) return { state, step: null };
  // State and memory contain the same step, but the state may have a newer heartbeat.
  if (step.task.save === state.save) return { state, step };
  return { state: step.task, step };
}

/**
 * Whether the process of a completed task died before it announced the ending: then the memory file still exists.
 * Throws the system's error.
 */
export function isUntold({ stateFile, folder }: TaskPaths): boolean {
  const kept = readStateFile(stateFile);
  return kept.kind === 'task' && readNamedStep(folder, kept.state) !== null;
}

export interface UnreadableState {
  readonly kind: 'unreadable';
  readonly why: string;
}

/** Reads a state file; `unreadable` if that fails. Without a seal, `isOwn` is always false. */
export function tryReadStateFile(
  file: string,
  seal: Seal | null = null,
): StateFile | UnreadableState {
  try {
    return readStateFile(file, seal);
  } catch (error) {
    return { kind: 'unreadable', why: messageOf(error) };
  }
}

/** Returns when a file was last written; the current time if it is gone. */
export function modifiedAt(file: string): string {
  return (statSync(file, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString();
}
