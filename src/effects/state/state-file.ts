import { statSync } from 'node:fs';
import path from 'node:path';
import { SCHEMA_VERSION, type TaskState } from '../../core/task/task-state.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { numberAt, parseObject } from '../files/json-fields.ts';
import { errorCode } from '../files/write-file.ts';
import { type Seal, STATE } from '../trust/seal.ts';
import { readForeignState } from './foreign-state.ts';
import { newestStep, readNamedStep, type SavedStep } from './saved-step.ts';
import { parseState } from './state-schema.ts';
import type { TaskPaths } from './task-folder.ts';

/** What stands where a task's state should be. */
export type StateFile =
  | {
      readonly kind: 'task';
      readonly state: TaskState;
      /** This user's ralph has written it here: only then it may be acted on. */
      readonly isOwn: boolean;
    }
  | { readonly kind: 'none' }
  /** A newer ralph has written it: it is neither read nor moved. */
  | { readonly kind: 'too-new'; readonly version: number }
  | { readonly kind: 'corrupt'; readonly modifiedAt: string };

/** Some twenty times what a state of ralph's ever has; another tool's may hold whole outputs. */
export const STATE_MAX_BYTES = MB;

/**
 * Reads a state file; without a seal it counts as nobody's own. Throws the system's error only where a
 * file is there that cannot be read, such as another user's, or `EFBIG` for one that is too large to be
 * a state.
 */
export function readStateFile(file: string, seal: Seal | null = null): StateFile {
  let json: string;
  try {
    json = readTextWithin(file, STATE_MAX_BYTES);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return { kind: 'none' };
    // A folder or a pipe stands in its place.
    if (errorCode(error) !== 'EINVAL') throw error;
    json = '';
  }
  const value = parseObject(json);
  // Torn by a power cut: the step that it was written for lies beside it.
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

/** A copy under another name is another task's; in the history a time may stand behind the id. */
function isNamedFor(file: string, taskId: string): boolean {
  const { name, dir } = path.parse(file);
  return name === taskId || (path.basename(dir) === 'history' && name.startsWith(`${taskId}.`));
}

/** The state as the newest step beside it knows it; null where no step is whole. */
function rebuiltState(file: string, seal: Seal): TaskState | null {
  const { name, dir } = path.parse(file);
  const step = newestStep(path.join(dir, name), name, seal);
  return step?.task ?? null;
}

/**
 * The newest step of an open task, from its state file and what lies beside: a kill or a power cut may
 * have left the one older than the other. Null where no step is whole.
 */
export function readNewestStep(
  paths: TaskPaths,
  state: TaskState,
  seal: Seal,
): { readonly state: TaskState; readonly step: SavedStep | null } {
  const step = newestStep(paths.folder, state.task_id, seal);
  if (step === null || step.task.started_at !== state.started_at) return { state, step: null };
  // The same step; the state file may have a newer beat.
  if (step.task.save === state.save) return { state, step };
  return { state: step.task, step };
}

/**
 * Whether a completed task's driver died before its end was told: what only served to go on with it
 * still lies there. Throws the system's error.
 */
export function isUntold({ stateFile, folder }: TaskPaths): boolean {
  const kept = readStateFile(stateFile);
  return kept.kind === 'task' && readNamedStep(folder, kept.state) !== null;
}

/** The same; `unreadable` where it would throw. */
export function tryReadStateFile(
  file: string,
  seal: Seal | null = null,
): StateFile | { readonly kind: 'unreadable' } {
  try {
    return readStateFile(file, seal);
  } catch {
    return { kind: 'unreadable' };
  }
}

function modifiedAt(file: string): string {
  return (statSync(file, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString();
}
