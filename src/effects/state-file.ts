import { statSync } from 'node:fs';
import { SCHEMA_VERSION, type TaskState } from '../core/task-state.ts';
import { MB, readTextWithin } from './bounded-read.ts';
import { readForeignState } from './foreign-state.ts';
import { numberAt, parseObject } from './json-fields.ts';
import { parseState } from './state-schema.ts';
import { errorCode } from './write-file.ts';

/** What stands where a task's state should be. */
export type StateFile =
  | { readonly kind: 'task'; readonly state: TaskState }
  | { readonly kind: 'none' }
  /** A newer ralph has written it: it is neither read nor moved. */
  | { readonly kind: 'too-new'; readonly version: number }
  | { readonly kind: 'corrupt'; readonly modifiedAt: string };

/** Some twenty times what a state of ralph's ever has; another tool's may hold whole outputs. */
export const STATE_MAX_BYTES = MB;

/**
 * Reads a state file. Throws the system's error only where a file is there that cannot be read, such
 * as another user's, or `EFBIG` for one that is too large to be a state.
 */
export function readStateFile(file: string): StateFile {
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
  const version = value === null ? null : numberAt(value, 'schema_version');
  if (version !== null && version > SCHEMA_VERSION) return { kind: 'too-new', version };
  const state = value === null ? null : (readForeignState(value, file) ?? parseState(value));
  if (state !== null) return { kind: 'task', state };
  return { kind: 'corrupt', modifiedAt: modifiedAt(file) };
}

/** The same; `unreadable` where it would throw. */
export function tryReadStateFile(file: string): StateFile | { readonly kind: 'unreadable' } {
  try {
    return readStateFile(file);
  } catch {
    return { kind: 'unreadable' };
  }
}

function modifiedAt(file: string): string {
  return (statSync(file, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString();
}
