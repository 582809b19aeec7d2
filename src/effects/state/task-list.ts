import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { StateFolderError } from '../../errors.ts';
import { tryReadText } from '../files/bounded-read.ts';
import { type JsonObject, parseObject } from '../files/json-fields.ts';
import { errorCode } from '../files/write-file.ts';
import type { Seal } from '../trust/seal.ts';
import { STATE_MAX_BYTES, type StateFile, tryReadStateFile } from './state-file.ts';
import { taskPaths } from './task-folder.ts';

/** A task found in the state folder or its history, whatever its state file turns out to be. */
export interface TaskEntry {
  /** The file's name without its extension; in the history, a time may follow the task's id. */
  readonly name: string;
  readonly stateFile: string;
  readonly folder: string;
  readonly archived: boolean;
  readonly found: Exclude<StateFile, { kind: 'none' }> | { readonly kind: 'unreadable' };
}

export interface TaskList {
  readonly open: readonly TaskEntry[];
  /** The newest first. */
  readonly ended: readonly TaskEntry[];
}

/**
 * Returns the open tasks, and the `newest` last-written tasks of the history: only those are read, since
 * there may be thousands. Ignores links and changes nothing. Throws a `StateFolderError` if a folder
 * cannot be read.
 */
export function listTasks(stateDir: string, newest: number, seal: Seal | null = null): TaskList {
  const history = path.join(stateDir, 'history');
  return {
    open: stateNames(stateDir).flatMap((name) => entryOf(stateDir, name, seal) ?? []),
    ended: newestNames(history, newest).flatMap((name) => archivedEntry(history, name, seal) ?? []),
  };
}

/** Returns the open tasks, and those of the history whose state was written at or after an instant. */
export function listTasksSince(
  stateDir: string,
  sinceMs: number,
  seal: Seal | null = null,
): TaskList {
  const history = path.join(stateDir, 'history');
  const names = isRealFolder(history) ? stateNames(history) : [];
  const isRecent = (name: string): boolean =>
    (lstatSync(path.join(history, `${name}${ENDING}`), QUIETLY)?.mtimeMs ?? 0) >= sinceMs;
  return {
    open: stateNames(stateDir).flatMap((name) => entryOf(stateDir, name, seal) ?? []),
    ended: names.filter(isRecent).flatMap((name) => archivedEntry(history, name, seal) ?? []),
  };
}

/** Returns the open task with this id, or its newest run in the history; null if there is none. */
export function findTaskEntry(
  stateDir: string,
  taskId: string,
  seal: Seal | null = null,
): TaskEntry | null {
  if (!isTaskId(taskId)) return null;
  const history = path.join(stateDir, 'history');
  return (
    entryOf(stateDir, taskId, seal) ??
    historyEntry(history, taskId, seal) ??
    olderRuns(history, taskId, seal)[0] ??
    null
  );
}

/** Returns the run of a task with this start time, open or in the history; null if it is gone. */
export function findRun(stateDir: string, taskId: string, startedAt: string): TaskEntry | null {
  const isIt = (entry: TaskEntry | null): entry is TaskEntry =>
    entry?.found.kind === 'task' && entry.found.state.started_at === startedAt;
  const history = path.join(stateDir, 'history');
  const first = [entryOf(stateDir, taskId, null), historyEntry(history, taskId, null)].find(isIt);
  return first ?? olderRuns(history, taskId, null).find(isIt) ?? null;
}

/** Returns the log folder of a task that may have no state (full disk); null if there is none. */
export function findTaskFolder(stateDir: string, taskId: string): string | null {
  if (!isTaskId(taskId)) return null;
  const { folder, history } = taskPaths(stateDir, taskId);
  return [folder, path.join(history, taskId)].find(isRealFolder) ?? null;
}

/** Whether this is a folder, not a link to one. */
export function isRealFolder(folder: string): boolean {
  return lstatSync(folder, QUIETLY)?.isDirectory() ?? false;
}

function historyEntry(history: string, name: string, seal: Seal | null): TaskEntry | null {
  return isRealFolder(history) ? archivedEntry(history, name, seal) : null;
}

function archivedEntry(history: string, name: string, seal: Seal | null): TaskEntry | null {
  const entry = entryOf(history, name, seal);
  return entry === null ? null : { ...entry, archived: true };
}

/** The runs in the history whose name is the id and a time, newest first. */
function olderRuns(history: string, taskId: string, seal: Seal | null): TaskEntry[] {
  if (!isRealFolder(history)) return [];
  // An id may contain dots: `a.b` may be a task of its own or a run of `a`, and only the file tells.
  return stateNames(history)
    .filter((name) => name.startsWith(`${taskId}.`))
    .flatMap((name) => {
      const entry = archivedEntry(history, name, seal);
      const isIts = entry?.found.kind === 'task' && entry.found.state.task_id === taskId;
      return isIts ? [{ entry, startedAt: entry.found.state.started_at }] : [];
    })
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
    .map(({ entry }) => entry);
}

/**
 * Returns the names of the last-written states, newest first. One pass with minimal work per file: with
 * ten thousand files this loop dominates the time of `ralph status`.
 */
function newestNames(folder: string, count: number): string[] {
  if (!isRealFolder(folder) || count === 0) return [];
  const newest: { readonly name: string; readonly ms: number }[] = [];
  for (const fileName of readNames(folder)) {
    if (!fileName.endsWith(ENDING)) continue;
    const ms = lstatSync(`${folder}/${fileName}`, QUIETLY)?.mtimeMs ?? 0;
    if (newest.length === count && ms <= (newest.at(-1)?.ms ?? 0)) continue;
    const name = fileName.slice(0, -ENDING.length);
    if (!isTaskId(name)) continue;
    newest.push({ name, ms });
    newest.sort((one, other) => other.ms - one.ms);
    newest.length = Math.min(count, newest.length);
  }
  return newest.map(({ name }) => name);
}

const ENDING = '.json';
const QUIETLY = { throwIfNoEntry: false } as const;

function stateNames(folder: string): string[] {
  return readNames(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .filter(isTaskId);
}

/** Reads only names, since asking for each entry's type takes as long again as reading the folder. */
function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw new StateFolderError(folder, error);
  }
}

function entryOf(folder: string, name: string, seal: Seal | null): TaskEntry | null {
  const stateFile = path.join(folder, `${name}.json`);
  if (!lstatSync(stateFile, QUIETLY)?.isFile()) return null;
  const found = tryReadStateFile(stateFile, seal);
  // It has moved to the history meanwhile.
  if (found.kind === 'none') return null;
  return { name, stateFile, folder: path.join(folder, name), archived: false, found };
}

/** Returns all fields of a state file, even unknown ones; null if it is not a JSON object. */
export function readStateObject(stateFile: string): JsonObject | null {
  return parseObject(tryReadText(stateFile, STATE_MAX_BYTES) ?? '');
}
