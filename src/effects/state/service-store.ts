import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import { stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { retryBusy, writeFileAtomic } from '../files/write-file.ts';
import { createJournal } from '../logs/journal.ts';
import { fileOf, STATE, sealAt } from '../trust/seal.ts';
import { differs, markFile } from '../workspace/file-marks.ts';
import { readBaseline } from '../workspace/kept-baseline.ts';
import { archivePrevious } from './earlier-run.ts';
import { readStateFile, type StateFile, tryReadStateFile } from './state-file.ts';

import {
  inHistory,
  makeTaskFolder,
  moveToHistory,
  openTaskIds,
  type TaskPaths,
  taskPaths,
} from './task-folder.ts';

/** The state files of tasks that the calling program works on itself, in one folder. Keeps nothing in memory. */
export interface ServiceStore {
  /** Reads a task, also a completed one in the history. Throws the system's error if a file cannot be read. */
  find(taskId: string): { readonly file: StateFile; readonly paths: TaskPaths };
  /** Returns every readable task that is not in the history. */
  open(): readonly TaskState[];
  /** Archives the previous task of this id, if there is one, and writes a new one. */
  create(task: TaskState, files: NewTaskFiles): Promise<void>;
  save(task: TaskState): Promise<void>;
  /** Stores the text that an iteration passes on to the next, at full length. */
  saveContext(taskId: string, text: string): Promise<void>;
  /** Returns the text that the last iteration passed on; null if there is none. */
  context(taskId: string): string | null;
  /** Moves a task to the history; resolves to its new paths. */
  archive(taskId: string): Promise<TaskPaths>;
  /** Returns the path to which the task's file has been moved since the start; null if it has not. */
  arrived(task: TaskState): Promise<string | null>;
  /** Appends an event to the journal. Ignores errors, so that a broken journal stops no task. */
  append(event: RalphEvent): void;
}

/** The files beside a new task's state. */
interface NewTaskFiles {
  readonly prompt: Uint8Array;
  /** A JSON text without the checksum that seals it. */
  readonly settings: string;
}

/** The file with the text that the last iteration passed on. */
const CONTEXT_FILE = 'context.md';
/** The limit for the text in this file. The text is never shortened, and no agent accepts a longer prompt. */
const CONTEXT_MAX_BYTES = 16 * MB;

/** All paths are absolute. */
interface StorePlace {
  readonly vault: string;
  readonly stateDir: string;
  /** The file of the key that seals states, if the calling program named one; null for the user's own. */
  readonly keyFile: string | null;
  /** The folder to which the file of a task must be moved, unless the task names a folder of its own. */
  readonly doneFolder: string;
}

export function openServiceStore(place: StorePlace): ServiceStore {
  const { stateDir } = place;
  const seal = sealAt(place, true);
  const pathsOf = (taskId: string): TaskPaths => taskPaths(stateDir, taskId);
  return {
    find(taskId) {
      const paths = pathsOf(taskId);
      const file = readStateFile(paths.stateFile, seal);
      if (file.kind !== 'none') return { file, paths };
      const kept = inHistory(paths, taskId);
      return { file: readStateFile(kept.stateFile, seal), paths: kept };
    },
    open: () =>
      openTaskIds(stateDir).flatMap((taskId) => {
        const found = tryReadStateFile(pathsOf(taskId).stateFile);
        return found.kind === 'task' ? [found.state] : [];
      }),
    async create(task, { prompt, settings }) {
      const paths = pathsOf(task.task_id);
      archivePrevious(paths);
      makeTaskFolder(paths);
      const donePath = donePathOf(task, place);
      const done = donePath === null ? null : await markFile(donePath);
      await Promise.all([
        writeFileAtomic(path.join(paths.folder, 'prompt.md'), prompt),
        writeFileAtomic(
          path.join(paths.folder, 'settings.json'),
          seal.close(settings, fileOf('settings', task)),
        ),
        writeFileAtomic(
          path.join(paths.folder, 'baseline.json'),
          seal.close(
            `${JSON.stringify({ taken: null, watched: {}, done, protected: {}, plan: null, plan_of: null })}\n`,
            fileOf('baseline', task),
          ),
        ),
      ]);
      await writeFileAtomic(paths.stateFile, seal.close(stateJson(task), STATE));
    },
    save(task) {
      const { stateFile } = pathsOf(task.task_id);
      const before = readStateFile(stateFile, seal);
      // Sealing a state that ralph did not write would vouch for all its content.
      const isForeign = before.kind === 'task' && !before.isOwn;
      const json = stateJson(task);
      return writeFileAtomic(stateFile, isForeign ? json : seal.close(json, STATE));
    },
    async saveContext(taskId, text) {
      const paths = pathsOf(taskId);
      makeTaskFolder(paths);
      await writeFileAtomic(path.join(paths.folder, CONTEXT_FILE), text);
    },
    context(taskId) {
      return tryReadText(path.join(pathsOf(taskId).folder, CONTEXT_FILE), CONTEXT_MAX_BYTES);
    },
    async archive(taskId) {
      const paths = pathsOf(taskId);
      // An older task of the same id stays in the history, under its start time.
      archivePrevious(inHistory(paths, taskId));
      return retryBusy(async () => moveToHistory(paths, taskId));
    },
    async arrived(task) {
      const donePath = donePathOf(task, place);
      if (donePath === null) return null;
      // Without a baseline, the record of what was there at the start, any file there counts as arrived.
      const before = readBaseline(pathsOf(task.task_id).folder)?.done ?? undefined;
      return (await differs(donePath, before)) ? donePath : null;
    },
    append(event) {
      const journal = createJournal(pathsOf(event.task_id).eventsFile, () => {});
      journal.append(event);
      journal.close();
    },
  };
}

/** Returns the path to which the task's file must be moved; null if the task has no file to watch. */
function donePathOf({ watch_file, done_folder }: TaskState, place: StorePlace): string | null {
  if (watch_file === null) return null;
  const folder = done_folder === '' ? place.doneFolder : path.resolve(place.vault, done_folder);
  return path.join(folder, path.basename(watch_file));
}
