import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { LoopState } from '../../core/machine/loop-state.ts';
import { stateJson } from '../../core/task/state-json.ts';
import { laterBy, SCHEMA_VERSION, type TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { messageOf, StateTooNewError } from '../../errors.ts';
import { StateCorruptedError } from '../../task-errors.ts';
import { MB, readWithin, tryReadText } from '../files/bounded-read.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  stringAt,
} from '../files/json-fields.ts';
import { decidersJson, parseDeciders, withoutPlace } from '../proof/deciders-at-start.ts';
import { fileOf, type Seal, STATE } from '../trust/seal.ts';
import { BASELINE_MAX_BYTES } from '../workspace/kept-baseline.ts';
import { freeMemoryName, memoryIn, memoryOf, stepJson } from './saved-step.ts';
import { parseState } from './state-schema.ts';
import { makeTaskFolder, type TaskPaths } from './task-folder.ts';

/*
 * A task that another machine of a fleet (machines that share tasks) can resume, as one text, compressed with gzip:
 *
 *   { "schema_version": 1, "state": {…}, "memory": {…}, "baseline": "{…}", "deciders": "{…}", "prompt": "…" }
 *
 * Parts that other machines cannot use are left out: the running process, since a fleet's database names the worker;
 * the length of the log, since the log is not packed; the events, which are stored beside the packed state; the
 * settings, since each worker takes them from the submitted task; and git's setup, as each machine has its own clone.
 */

/** The largest unpacked size, so that a forged row of the database cannot fill the RAM or the disk. */
const UNPACKED_MAX_BYTES = 128 * MB;
const PROMPT_MAX_BYTES = 8 * MB;

/**
 * Packs a step as the running task reports it, even if a full disk kept it from being saved. Throws a
 * `StateCorruptedError` if a file beside the state is not sealed with this machine's key.
 */
export function packStep(paths: TaskPaths, seal: Seal, state: LoopState): Uint8Array {
  const { task } = state;
  const beside = (kind: 'baseline' | 'deciders'): string | null => {
    const text = tryReadText(path.join(paths.folder, `${kind}.json`), BASELINE_MAX_BYTES);
    if (text === null || seal.isClosed(text, fileOf(kind, task))) return text;
    throw corrupted(paths, `${kind}.json was changed by somebody else`);
  };
  const prompt = readWithin(path.join(paths.folder, 'prompt.md'), PROMPT_MAX_BYTES);
  const packed = {
    schema_version: SCHEMA_VERSION,
    state: { ...task, driver: null },
    memory: memoryOf(state),
    baseline: beside('baseline'),
    deciders: beside('deciders'),
    // The prompt may contain any bytes, and `latin1` keeps them.
    prompt: prompt.toString('latin1'),
  };
  return gzipSync(JSON.stringify(packed));
}

/**
 * Writes the files of a packed task, sealed with this machine's key, so that it is resumed as if it had been stopped
 * on this machine. The state folder must not have a task of this id. `change` is applied to the state first. Throws
 * `StateTooNewError` if a newer version of ralph packed it, `StateCorruptedError` if it is too large or no task of this
 * id, or the system's error.
 */
export function unpackState(
  paths: TaskPaths,
  packed: Uint8Array,
  seal: Seal,
  change: (task: TaskState) => TaskState = (task) => task,
): TaskState {
  const { fields, state: parsed } = readPacked(paths, packed);
  const prompt = stringAt(fields, 'prompt');
  if (prompt === null) throw corrupted(paths, 'fields are missing');
  const memory = memoryIn(fields);
  const name = memory === null ? null : freeMemoryName(null);
  const state: TaskState = { ...change(parsed), driver: null, memory: name };

  makeTaskFolder(paths);
  const write = (file: string, content: string | Uint8Array): void =>
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  const beside = (file: string): string => path.join(paths.folder, file);
  write(beside('prompt.md'), Buffer.from(prompt, 'latin1'));
  const baseline = unsealed(stringAt(fields, 'baseline'));
  if (baseline !== null) {
    write(beside('baseline.json'), seal.close(baseline, fileOf('baseline', state)));
  }
  const deciders = parseDeciders(unsealed(stringAt(fields, 'deciders')) ?? '');
  if (deciders !== null) {
    const json = decidersJson(withoutPlace(deciders));
    write(beside('deciders.json'), seal.close(json, fileOf('deciders', state)));
  }
  if (memory !== null && name !== null) {
    const json = stepJson({ task: state, memory, logBytes: 0, events: [] });
    write(beside(name), seal.close(json, fileOf('memory', state)));
  }
  // The state file is written last, since the task exists only with it.
  write(paths.stateFile, seal.close(stateJson(state), STATE));
  return state;
}

/** Returns the state of a packed task. Writes nothing. Throws as `unpackState` does. */
export function packedTask(paths: TaskPaths, packed: Uint8Array): TaskState {
  return readPacked(paths, packed).state;
}

/** Returns a packed task with a time limit that is `ms` milliseconds later. Throws as `unpackState` does. */
export function withMoreTime(paths: TaskPaths, packed: Uint8Array, ms: number): Uint8Array {
  const { fields, state } = readPacked(paths, packed);
  const later = { ...objectAt(fields, 'state'), timeout_at: laterBy(state.timeout_at, ms) };
  return gzipSync(JSON.stringify({ ...fields, state: later }));
}

function readPacked(paths: TaskPaths, packed: Uint8Array) {
  const fields = fieldsOf(paths, packed);
  const version = numberAt(fields, 'schema_version');
  if (version !== null && version > SCHEMA_VERSION) {
    throw new StateTooNewError(`The packed state of task '${idOf(paths)}'`, version);
  }
  const state = parseState(objectAt(fields, 'state'));
  if (state === null) throw corrupted(paths, 'fields are missing');
  if (state.task_id !== idOf(paths)) throw corrupted(paths, `it is of the task '${state.task_id}'`);
  return { fields, state };
}

function fieldsOf(paths: TaskPaths, packed: Uint8Array): JsonObject {
  let text: string;
  try {
    text = gunzipSync(packed, { maxOutputLength: UNPACKED_MAX_BYTES }).toString();
  } catch (error) {
    throw corrupted(paths, `it cannot be unpacked: ${messageOf(error)}`);
  }
  const fields = parseObject(text);
  if (fields === null) throw corrupted(paths, 'it is not JSON');
  return fields;
}

/** Returns the JSON of a sealed object without its seal; null if the text is no object. */
function unsealed(text: string | null): string | null {
  const object = text === null ? null : parseObject(text);
  if (object === null) return null;
  const { sum, ...rest } = object;
  return `${safeJson(rest)}\n`;
}

function idOf(paths: TaskPaths): string {
  return path.basename(paths.folder);
}

function corrupted(paths: TaskPaths, why: string): StateCorruptedError {
  return new StateCorruptedError(idOf(paths), paths.stateFile, why);
}
