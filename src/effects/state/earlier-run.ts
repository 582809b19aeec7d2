import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { StateTooNewError } from '../../errors.ts';
import { namesIn } from '../files/folder.ts';
import { forgetMemory } from './saved-step.ts';
import { isUntold, modifiedAt, readStateFile } from './state-file.ts';
import { inHistory, moveToHistory, type TaskPaths } from './task-folder.ts';

/*
 * An earlier run of a task is archived in the folder `history`, or restored if its driver (the process that ran it)
 * died after completing the task and before announcing that. If its state is corrupt, the file is set aside.
 */

/** Renames an earlier run of the task in the history, by its start time, so that the current run can take its place. */
export function archiveNamesake(paths: TaskPaths): void {
  const name = taskName(paths);
  const old = inHistory(paths, name);
  const hasState = existsSync(old.stateFile);
  if (!hasState && !existsSync(old.folder)) return;
  // The folder in the history belongs to this run: a driver was killed after moving it and before moving the state.
  if (!hasState && !existsSync(paths.folder)) return;
  moveToHistory(old, `${name}.${forFileName(startOf(old.stateFile))}`);
}

/**
 * Archives an older task of the same id as `<id>.<started_at>`, so that a new run starts without a state and nothing is
 * lost. Renames a corrupt state to `<id>.json.corrupt-<time>`. Returns whether there was an older task. Throws
 * `StateTooNewError` if a newer version of ralph wrote its state, or the system's error.
 */
export function archivePrevious(paths: TaskPaths): boolean {
  restoreUnannounced(paths);
  const hasLogs = namesIn(paths.folder).some((name) => name.startsWith('iteration-'));
  // With neither state nor logs, a driver died before it did anything.
  if (!existsSync(paths.stateFile) && !hasLogs) return false;
  const kept = readStateFile(paths.stateFile);
  if (kept.kind === 'too-new') throw new StateTooNewError(paths.stateFile, kept.version);
  const stamp = startOf(paths.stateFile);
  if (kept.kind === 'corrupt') setAside(paths.stateFile, kept.modifiedAt);
  forgetMemory(paths.folder);
  moveToHistory(paths, `${taskName(paths)}.${forFileName(stamp)}`);
  return true;
}

/**
 * Restores a completed task from the history if its driver was killed before it announced the ending: the task was only
 * half moved, or the saved step for resuming it still exists. Call this only if the task has no driver. Throws the
 * system's error.
 */
export function restoreUnannounced(paths: TaskPaths): void {
  const moved = inHistory(paths, taskName(paths));
  if (!existsSync(paths.stateFile) && isUntold(moved)) {
    renameSync(moved.stateFile, paths.stateFile);
  }
  const isHalfMoved = !existsSync(paths.folder) && !existsSync(moved.stateFile);
  if (!isHalfMoved || !existsSync(moved.folder)) return;
  const kept = readStateFile(paths.stateFile);
  if (kept.kind !== 'task' || kept.state.status !== 'completed') return;
  renameSync(moved.folder, paths.folder);
}

/** Renames a corrupt file and returns its new name. Throws the system's error. */
export function setAside(stateFile: string, modifiedAt: string): string {
  const aside = `${stateFile}.corrupt-${forFileName(modifiedAt)}`;
  renameSync(stateFile, aside);
  return aside;
}

/** Returns the name of a task's files: its id, which a time may follow in the history. */
function taskName(paths: TaskPaths): string {
  return path.basename(paths.folder);
}

/** Returns when a stored task was started or, if that is unknown, when its file was last written. */
function startOf(stateFile: string): string {
  const kept = readStateFile(stateFile);
  return kept.kind === 'task' ? kept.state.started_at : modifiedAt(stateFile);
}

function forFileName(instant: string): string {
  return instant.replace(/[^0-9A-Za-z.-]/g, '').slice(0, 40);
}
