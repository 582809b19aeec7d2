import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { newTaskState } from '../../core/task/new-task.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB } from '../../effects/files/bounded-read.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { settingsJson } from '../../effects/plan/stored-settings.ts';
import { unpackState } from '../../effects/state/packed-state.ts';
import { readStateFile } from '../../effects/state/state-file.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { type Seal, STATE, sealAt } from '../../effects/trust/seal.ts';
import { storedRunOf } from '../core/fleet-spec.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import type { Checkpoint, NumberedEvent, PackedLog } from '../database/fleet-queue.ts';

/** A temporary state folder with copies of a fleet's tasks, so that the code for local tasks can read them. */
export interface TaskCopies {
  readonly vault: string;
  readonly stateDir: string;
  /** The key that seals the copies. It exists only in this temporary folder. */
  readonly keyFile: string;
  /**
   * Writes the files of a task from its stored state (checkpoint), with the status from its database row; without a
   * checkpoint, all from the row. Rejects if the checkpoint cannot be read.
   */
  add(task: FleetTaskFacts, kept: Checkpoint | null): Promise<void>;
  /** Adds events to the journal, the file of events in the state folder. */
  addEvents(events: readonly NumberedEvent[]): void;
  /** Writes logs of a task that was added before, in place of earlier logs of the same name. */
  addLogs(taskId: string, logs: readonly PackedLog[]): void;
}

/** Calls `use` with a new state folder for copies of tasks, and removes the folder afterwards. */
export async function withTaskCopies<T>(use: (copies: TaskCopies) => Promise<T>): Promise<T> {
  const vault = mkdtempSync(path.join(realPath(tmpdir()), 'ralph-fleet-'));
  try {
    const stateDir = path.join(vault, '.ralph_state');
    const keyFile = path.join(vault, 'key');
    mkdirSync(stateDir, { mode: 0o700 });
    writeFileSync(keyFile, randomBytes(32), { mode: 0o600 });
    return await use(copiesIn({ vault, stateDir, keyFile }));
  } finally {
    rmSync(vault, { recursive: true, force: true, maxRetries: 5 });
  }
}

function copiesIn(place: Pick<TaskCopies, 'vault' | 'stateDir' | 'keyFile'>): TaskCopies {
  const seal = sealAt(place);
  return {
    ...place,
    async add(task, kept) {
      const paths = taskPaths(place.stateDir, task.spec.task_id);
      mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
      if (kept !== null) unpackState(paths, kept.packed, seal);
      const file = readStateFile(paths.stateFile, seal);
      const state = file.kind === 'task' ? file.state : stateOfRow(task);
      writeState(paths.stateFile, withRow(state, task), seal);
      writeFileSync(path.join(paths.folder, 'settings.json'), settingsJson(storedRunOf(task.spec)));
      writeFileSync(path.join(paths.folder, 'prompt.md'), task.spec.prompt);
    },
    addEvents(events) {
      const lines = events.map(({ event }) => `${safeJson(event)}\n`).join('');
      appendFileSync(taskPaths(place.stateDir, 'none').eventsFile, lines);
    },
    addLogs(taskId, logs) {
      const { folder } = taskPaths(place.stateDir, taskId);
      for (const { name, packed } of logs) {
        // The name comes from the database, and must not lead out of the folder.
        if (!LOG_NAME.test(name)) continue;
        writeFileSync(
          path.join(folder, name),
          gunzipSync(packed, { maxOutputLength: LOG_MAX_BYTES }),
        );
      }
    },
  };
}

const LOG_NAME = /^iteration-\d{4,15}\.[a-z][a-z.]*$/;
/** Unpacking stops at this size, which is far above that of any log that a worker stores. */
const LOG_MAX_BYTES = 256 * MB;
const PREVIEW_CHARS = 1_000;

/** Returns the first state of a task, as if no worker had begun it yet. */
export function stateOfRow({ spec, created_at }: FleetTaskFacts): TaskState {
  const { settings } = storedRunOf(spec);
  return newTaskState(
    {
      task_id: spec.task_id,
      task_prompt: spec.prompt.slice(0, PREVIEW_CHARS),
      prompt_sha256: '',
      task_type: spec.task_type,
      completion_promise: settings.promise,
      match: settings.match,
      watch_glob: settings.watchGlob,
      watch_file: settings.watchFile,
      done_folder: settings.doneFolder ?? 'Done',
      max_iterations: settings.maxIterations,
    },
    created_at,
    settings.timeout,
  );
}

/** Returns a state with the row's status: the row is newer if the task was stopped or failed while no worker ran it. */
function withRow(state: TaskState, { status, exit_reason, ended_at }: FleetTaskFacts): TaskState {
  if (ended_at === null) return { ...state, status, driver: null, finished_at: null };
  const finishedAt = state.finished_at ?? ended_at;
  return { ...state, status, exit_reason, driver: null, finished_at: finishedAt };
}

function writeState(file: string, state: TaskState, seal: Seal): void {
  writeFileSync(file, seal.close(`${safeJson(state, 2)}\n`, STATE), { mode: 0o600 });
}
