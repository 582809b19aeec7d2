import { closeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import { stateJson } from '../../core/task/state-json.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { appendLines, openForAppend } from '../files/append-lines.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { retryBusy, writeFileAtomic } from '../files/write-file.ts';
import { fileOf, openSeal, STATE } from '../trust/seal.ts';
import { differs, type FileMark, markFile } from '../workspace/file-marks.ts';
import { BASELINE_MAX_BYTES, readMark } from '../workspace/read-mark.ts';
import { readStateFile, type StateFile } from './state-file.ts';
import { retirePrevious } from './state-store.ts';
import {
  inHistory,
  makeTaskFolder,
  moveToHistory,
  type TaskPaths,
  taskPaths,
} from './task-folder.ts';

/** The files of tasks that no loop drives, one state folder. Nothing here keeps anything in memory. */
export interface TaskBooks {
  /** Reads a task, in the history too. Throws the system's error where a file cannot be read. */
  find(taskId: string): { readonly file: StateFile; readonly paths: TaskPaths };
  /** Every task that is not in the history and can be read. */
  open(): Promise<readonly TaskState[]>;
  /** Puts away what there was of this id, and writes a new task. */
  create(task: TaskState, files: NewTaskFiles): Promise<void>;
  save(task: TaskState): Promise<void>;
  /** Keeps what an iteration handed on, whole. */
  saveContext(taskId: string, text: string): Promise<void>;
  /** What the last iteration handed on; null where none has. */
  context(taskId: string): Promise<string | null>;
  /** Moves a task to the history; resolves to where it lies then. */
  archive(taskId: string): Promise<TaskPaths>;
  /** Where the task's file has come to, if it has since the start; null otherwise. */
  arrived(task: TaskState): Promise<string | null>;
  /** Appends an event to the journal. A journal that cannot be written keeps nobody from working. */
  append(event: RalphEvent): void;
}

/** What lies beside a new task's state. */
interface NewTaskFiles {
  readonly prompt: Uint8Array;
  /** A JSON text. */
  readonly settings: string;
}

/** The name of the file that holds what the last iteration handed on. */
const CONTEXT_FILE = 'context.md';
/** What a program hands on is kept whole; no agent takes a prompt of more. */
const CONTEXT_MAX_BYTES = 16 * MB;

/** Where the books lie; all absolute. */
interface BooksPlace {
  readonly vault: string;
  readonly stateDir: string;
  /** The key that the program named, absolute; null for the user's own. */
  readonly keyFile: string | null;
  /** Where the file of a task that names no folder of its own has to arrive. */
  readonly doneFolder: string;
}

export function openTaskBooks(place: BooksPlace): TaskBooks {
  const { stateDir, keyFile } = place;
  const seal = openSeal({ stateDir, keyFile, env: process.env, create: true });
  const pathsOf = (taskId: string): TaskPaths => taskPaths(stateDir, taskId);
  return {
    find(taskId) {
      const paths = pathsOf(taskId);
      const file = readStateFile(paths.stateFile, seal);
      if (file.kind !== 'none') return { file, paths };
      const kept = inHistory(paths, taskId);
      return { file: readStateFile(kept.stateFile, seal), paths: kept };
    },
    async open() {
      const names = await readdir(stateDir).catch(() => []);
      return names
        .filter((name) => name.endsWith('.json') && isTaskId(name.slice(0, -'.json'.length)))
        .flatMap((name) => readableTask(path.join(stateDir, name)));
    },
    async create(task, { prompt, settings }) {
      const paths = pathsOf(task.task_id);
      retirePrevious(paths);
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
            `${JSON.stringify({ watched: {}, done, protected: {} })}\n`,
            fileOf('baseline', task),
          ),
        ),
      ]);
      await writeFileAtomic(paths.stateFile, seal.close(stateJson(task), STATE));
    },
    save(task) {
      const { stateFile } = pathsOf(task.task_id);
      const before = readStateFile(stateFile, seal);
      // An entry in a state that somebody else has written must not vouch for the rest of it.
      const isForeign = before.kind === 'task' && !before.isOwn;
      const json = stateJson(task);
      return writeFileAtomic(stateFile, isForeign ? json : seal.close(json, STATE));
    },
    async saveContext(taskId, text) {
      const paths = pathsOf(taskId);
      makeTaskFolder(paths);
      await writeFileAtomic(path.join(paths.folder, CONTEXT_FILE), text);
    },
    async context(taskId) {
      try {
        return readTextWithin(path.join(pathsOf(taskId).folder, CONTEXT_FILE), CONTEXT_MAX_BYTES);
      } catch {
        return null;
      }
    },
    async archive(taskId) {
      const paths = pathsOf(taskId);
      // An older task of the same name keeps its place, under the time of its start.
      retirePrevious(inHistory(paths, taskId));
      return retryBusy(async () => moveToHistory(paths, taskId));
    },
    async arrived(task) {
      const donePath = donePathOf(task, place);
      if (donePath === null) return null;
      const before = markAtStart(pathsOf(task.task_id).folder);
      return (await differs(donePath, before)) ? donePath : null;
    },
    append(event) {
      try {
        const descriptor = openForAppend(pathsOf(event.task_id).eventsFile);
        try {
          appendLines(descriptor, `${safeJson(event)}\n`);
        } finally {
          closeSync(descriptor);
        }
      } catch {
        // The state that goes with it was written, or its error was told.
      }
    },
  };
}

function readableTask(file: string): readonly TaskState[] {
  try {
    const found = readStateFile(file);
    return found.kind === 'task' ? [found.state] : [];
  } catch {
    // Another user's; it is no task of ours.
    return [];
  }
}

/** Where the task's file has to arrive. */
function donePathOf({ watch_file, done_folder }: TaskState, place: BooksPlace): string | null {
  if (watch_file === null) return null;
  const folder = done_folder === '' ? place.doneFolder : path.resolve(place.vault, done_folder);
  return path.join(folder, path.basename(watch_file));
}

function markAtStart(folder: string): FileMark | undefined {
  let text = '';
  try {
    text = readTextWithin(path.join(folder, 'baseline.json'), BASELINE_MAX_BYTES);
  } catch {
    // No baseline: whatever stands there has arrived.
  }
  return readMark(parseObject(text) ?? {}, 'done');
}
