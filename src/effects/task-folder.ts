import { openSync, writeFileSync } from 'node:fs';
import { readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseObject, stringAt } from './json-fields.ts';
import { makePrivateFolder } from './write-file.ts';

/** Where a task's files lie below the state folder. */
export interface TaskPaths {
  readonly stateDir: string;
  readonly stateFile: string;
  /** Prompt, settings, baseline and logs. */
  readonly folder: string;
  readonly history: string;
  readonly eventsFile: string;
}

/** The paths of one task. `taskId` must already be a valid task id: it never leaves the folder. */
export function taskPaths(stateDir: string, taskId: string): TaskPaths {
  return {
    stateDir,
    stateFile: path.join(stateDir, `${taskId}.json`),
    folder: path.join(stateDir, taskId),
    history: path.join(stateDir, 'history'),
    eventsFile: path.join(stateDir, 'events.jsonl'),
  };
}

/** Makes the state folder, which hides itself from git, and the task's own folder in it. */
export async function makeTaskFolder(paths: TaskPaths): Promise<void> {
  makePrivateFolder(paths.folder);
  try {
    writeFileSync(path.join(paths.stateDir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // There already, or not writable: the state file's own error will say so.
  }
}

/** Moves a task's state and folder to the history under `name`; whatever is there keeps its own. */
export async function moveToHistory(paths: TaskPaths, name: string): Promise<TaskPaths> {
  makePrivateFolder(paths.history);
  let free = name;
  for (let number = 2; await isTaken(paths.history, free); number += 1) free = `${name}.${number}`;
  const moved: TaskPaths = {
    ...paths,
    stateFile: path.join(paths.history, `${free}.json`),
    folder: path.join(paths.history, free),
  };
  await moveIfThere(paths.folder, moved.folder);
  await moveIfThere(paths.stateFile, moved.stateFile);
  return moved;
}

async function isTaken(folder: string, name: string): Promise<boolean> {
  return (await exists(path.join(folder, `${name}.json`))) || exists(path.join(folder, name));
}

async function moveIfThere(from: string, to: string): Promise<void> {
  if (await exists(from)) await rename(from, to);
}

/** Whether something stands at a path. */
export async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => null)) !== null;
}

/** Opens a file for appending, for its owner alone. Throws the system's error. */
export function openForAppend(file: string): number {
  makePrivateFolder(path.dirname(file));
  return openSync(file, 'a', 0o600);
}

/** The status of a task that is not in the history; null where there is none of this id. */
export async function taskStatus(stateDir: string, taskId: string): Promise<string | null> {
  const text = await readFile(taskPaths(stateDir, taskId).stateFile, 'utf8').catch(() => null);
  if (text === null) return null;
  const state = parseObject(text);
  return (state === null ? null : stringAt(state, 'status')) ?? 'of unknown state';
}
