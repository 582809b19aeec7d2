import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { CommandError, messageOf } from '../../errors.ts';
import { tryReadText } from '../files/bounded-read.ts';
import { type JsonObject, parseObject } from '../files/json-fields.ts';
import { errorCode } from '../files/write-file.ts';
import type { Seal } from '../trust/seal.ts';
import {
  STATE_READ_MAX_BYTES,
  type StateFile,
  tryReadStateFile,
  type UnreadableState,
} from './state-file.ts';
import { stateNames, taskPaths } from './task-folder.ts';

/** A task found in the state folder or its folder of completed tasks, the history. Its state may be unreadable. */
export interface TaskEntry {
  /** The file's name without its extension; in the history, a time may follow the task's id. */
  readonly name: string;
  readonly stateFile: string;
  readonly folder: string;
  readonly archived: boolean;
  readonly found: Exclude<StateFile, { kind: 'none' }> | UnreadableState;
}

export interface ListedTasks {
  readonly open: readonly TaskEntry[];
  /** Tasks of the history; in the result of `listTasks`, the newest first. */
  readonly ended: readonly TaskEntry[];
}

/**
 * Returns the open tasks, and the `newest` tasks of the history that were written last. Reads no other states, because
 * there may be thousands. Ignores symlinks. Throws a `CommandError` if a folder cannot be read.
 */
export function listTasks(stateDir: string, newest: number, seal: Seal | null = null): ListedTasks {
  return listed(stateDir, newestNames(historyOf(stateDir), newest), seal);
}

/** Returns the open tasks, and those of the history whose state was written at or after an instant. */
export function listTasksSince(
  stateDir: string,
  sinceMs: number,
  seal: Seal | null = null,
): ListedTasks {
  const history = historyOf(stateDir);
  const isRecent = (name: string): boolean =>
    (lstatSync(path.join(history, `${name}.json`), QUIETLY)?.mtimeMs ?? 0) >= sinceMs;
  return listed(stateDir, archivedNames(history).filter(isRecent), seal);
}

function listed(stateDir: string, archived: readonly string[], seal: Seal | null): ListedTasks {
  const history = historyOf(stateDir);
  return {
    open: stateNames(readNames(stateDir)).flatMap(
      (name) => entryOf(stateDir, name, seal, false) ?? [],
    ),
    ended: archived.flatMap((name) => entryOf(history, name, seal, true) ?? []),
  };
}

/** Returns how many tasks are in the history. Reads no state. */
export function countEnded(stateDir: string): number {
  return archivedNames(historyOf(stateDir)).length;
}

/** Returns the ids of all tasks, open and in the history, each once. Reads no state. */
export function taskIdsIn(stateDir: string): readonly string[] {
  // In the history, a name may end with the start time of an earlier run of the same id.
  const ended = archivedNames(historyOf(stateDir)).map((name) => name.replace(RUN_TIME, ''));
  return [...new Set([...stateNames(readNames(stateDir)), ...ended])].sort();
}

const RUN_TIME = /\.\d{4}-\d\d-\d\dT\w+(\.\w+)?$/;

/** Returns the open task with this id, or its newest run in the history; null if there is none. */
export function findTaskEntry(
  stateDir: string,
  taskId: string,
  seal: Seal | null = null,
): TaskEntry | null {
  if (!isTaskId(taskId)) return null;
  const history = historyOf(stateDir);
  return (
    entryOf(stateDir, taskId, seal, false) ??
    (isRealFolder(history) ? entryOf(history, taskId, seal, true) : null) ??
    olderRuns(history, taskId, seal)[0] ??
    null
  );
}

/** Returns the log folder of a task that may have no state (full disk); null if there is none. */
export function findTaskFolder(stateDir: string, taskId: string): string | null {
  if (!isTaskId(taskId)) return null;
  const { folder, history } = taskPaths(stateDir, taskId);
  return [folder, path.join(history, taskId)].find(isRealFolder) ?? null;
}

/** Whether this is a folder, not a symbolic link to one. */
export function isRealFolder(folder: string): boolean {
  return lstatSync(folder, QUIETLY)?.isDirectory() ?? false;
}

/** Returns the runs in the history whose name is the id and a time, newest first. */
function olderRuns(history: string, taskId: string, seal: Seal | null): TaskEntry[] {
  // An id may contain dots: `a.b` may be another task or a run of `a`; only the state in the file shows this.
  return archivedNames(history)
    .filter((name) => name.startsWith(`${taskId}.`))
    .flatMap((name) => {
      const entry = entryOf(history, name, seal, true);
      const isIts = entry?.found.kind === 'task' && entry.found.state.task_id === taskId;
      return isIts ? [{ entry, startedAt: entry.found.state.started_at }] : [];
    })
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
    .map(({ entry }) => entry);
}

/** Returns the names of the last-written states, newest first. */
function newestNames(history: string, count: number): string[] {
  if (count === 0) return [];
  return archivedNames(history)
    .map((name) => ({ name, ms: lstatSync(`${history}/${name}.json`, QUIETLY)?.mtimeMs ?? 0 }))
    .sort((one, other) => other.ms - one.ms)
    .slice(0, count)
    .map(({ name }) => name);
}

const QUIETLY = { throwIfNoEntry: false } as const;

function historyOf(stateDir: string): string {
  return path.join(stateDir, 'history');
}

function archivedNames(history: string): string[] {
  return isRealFolder(history) ? stateNames(readNames(history)) : [];
}

/** Returns the names in a folder. Does not read their types, which would take twice as long. */
function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw new CommandError(
      `${folder} cannot be read (${messageOf(error)}); check its owner and mode.`,
    );
  }
}

function entryOf(
  folder: string,
  name: string,
  seal: Seal | null,
  archived: boolean,
): TaskEntry | null {
  const stateFile = path.join(folder, `${name}.json`);
  if (!lstatSync(stateFile, QUIETLY)?.isFile()) return null;
  const found = tryReadStateFile(stateFile, seal);
  // The task has moved to the history meanwhile.
  if (found.kind === 'none') return null;
  return { name, stateFile, folder: path.join(folder, name), archived, found };
}

/** Returns all fields of a state file, even unknown ones; null if it is not a JSON object. */
export function readStateObject(stateFile: string): JsonObject | null {
  return parseObject(tryReadText(stateFile, STATE_READ_MAX_BYTES) ?? '');
}
