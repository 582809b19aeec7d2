import { existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { namesIn } from '../files/folder.ts';
import { leadsOut } from '../files/real-path.ts';
import { makePrivateFolder, removeFile } from '../files/write-file.ts';
import { distrustPath } from '../trust/owner.ts';

/** Paths of a task's files in the state folder. */
export interface TaskPaths {
  readonly stateDir: string;
  readonly stateFile: string;
  /** The folder of the task's prompt, settings, baseline (the files at its start), saved steps, requests and logs. */
  readonly folder: string;
  readonly history: string;
  readonly eventsFile: string;
}

/** Returns the paths of a task. `taskId` must be valid, so that no path leaves the state folder. */
export function taskPaths(stateDir: string, taskId: string): TaskPaths {
  return {
    stateDir,
    stateFile: path.join(stateDir, `${taskId}.json`),
    folder: path.join(stateDir, taskId),
    history: path.join(stateDir, 'history'),
    eventsFile: path.join(stateDir, 'events.jsonl'),
  };
}

/**
 * Creates the state folder, which a `.gitignore` hides from git, and the task's folder in it. Throws the system's
 * error, or an error if other users can write to a folder.
 */
export function makeTaskFolder(paths: TaskPaths): void {
  refuseLink(paths.folder, paths.stateDir);
  makePrivateFolder(paths.folder);
  // Created before any request: if another user's first request created it, that user would own it.
  makePrivateFolder(path.join(paths.folder, 'requests'));
  for (const folder of [paths.stateDir, paths.folder]) {
    const why = distrustPath(folder);
    if (why !== null) throw new Error(`${folder} is not used: ${why}`);
  }
  const ignore = path.join(paths.stateDir, '.gitignore');
  try {
    // A power cut or a full disk leaves an empty one, which hides nothing.
    if (lstatSync(ignore, { throwIfNoEntry: false })?.size === 0) removeFile(ignore);
    writeFileSync(ignore, '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It exists, or the folder is not writable, which the state file's own error will report.
  }
}

/**
 * Moves a task's state and folder to the history under `name`, with a number appended if that is taken.
 * Throws the system's error.
 */
export function moveToHistory(paths: TaskPaths, name: string): TaskPaths {
  refuseLink(paths.history, paths.stateDir);
  makePrivateFolder(paths.history);
  let free = name;
  // If this task's folder is gone and the history has a folder of this name without a state, that is this task's
  // folder: a process was killed between the two moves below.
  const isBegun = !existsSync(paths.folder) && !existsSync(inHistory(paths, name).stateFile);
  for (let number = 2; !isBegun && isTaken(paths.history, free); number += 1) {
    free = `${name}.${number}`;
  }
  const moved = inHistory(paths, free);
  for (const part of ['folder', 'stateFile'] as const) {
    if (existsSync(paths[part])) renameSync(paths[part], moved[part]);
  }
  return moved;
}

/** Throws if a folder is a symbolic link out of the state folder, since an agent may have created the link. */
function refuseLink(folder: string, stateDir: string): void {
  if (leadsOut(folder, stateDir)) throw new Error(`${folder} is a link that leads out`);
}

/** Returns the paths of a task in the history under a name. */
export function inHistory(paths: TaskPaths, name: string): TaskPaths {
  return {
    ...paths,
    stateFile: path.join(paths.history, `${name}.json`),
    folder: path.join(paths.history, name),
  };
}

function isTaken(folder: string, name: string): boolean {
  return existsSync(path.join(folder, `${name}.json`)) || existsSync(path.join(folder, name));
}

/** Returns the ids of all tasks outside the history, sorted; empty if there is no state folder. */
export function openTaskIds(stateDir: string): readonly string[] {
  return stateNames(namesIn(stateDir)).sort();
}

const ENDING = '.json';

/** Returns the names of state files without their extension; skips all other names. */
export function stateNames(fileNames: readonly string[]): string[] {
  return fileNames
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .filter(isTaskId);
}
