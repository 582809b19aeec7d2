import { existsSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { stateJson } from '../core/state-json.ts';
import type { TaskState } from '../core/task-state.ts';
import { messageOf, StateTooNewError } from '../errors.ts';
import type { StateStore } from '../loop/ports.ts';
import {
  forgetMemory,
  freeMemoryName,
  type LoopMemory,
  memoryJson,
  memoryOf,
  readMemory,
} from './loop-memory.ts';
import { namesIn } from './names-in.ts';
import { readStateFile } from './state-file.ts';
import { inHistory, makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';
import { overwriteFile, removeHalfWritten, replaceFile, retryBusy } from './write-file.ts';

/** What does not change during a run and lies beside the state. */
export interface TaskFiles {
  readonly prompt: Uint8Array;
  /** JSON texts. */
  readonly settings: string;
  readonly baseline: string;
}

/** A store, and what only its owner may ask of it. */
export interface TaskStore extends StateStore {
  /** Writes the last state again with a newer beat, so that drivers elsewhere see a living one. */
  beat(at: string): Promise<void>;
  /** Says, if it has not been said yet, that nothing is kept. */
  complain(error: unknown): void;
  /** From now on nothing is written: another driver has the task. */
  silence(): void;
  /** The end has been told: of a completed task goes what only served to go on with it. */
  told(): Promise<void>;
}

/**
 * Keeps one task's state on disk. A write that fails is said once through `warn`; the loop goes on
 * without persistence, and every later save tries again.
 *
 *   memory file (the free one of two) ──► state file, which names it ──► both made durable
 *          whoever is killed here              the instant at which          beside the agent's
 *          has changed nothing                 the state changes             work
 */
export async function createStateStore(
  paths: TaskPaths,
  files: TaskFiles,
  warn: (sentence: string) => void,
  inUse: string | null = null,
): Promise<TaskStore> {
  let places = paths;
  let warned = false;
  let silent = false;
  let last: { readonly task: TaskState; readonly memory: LoopMemory } | null = null;
  let memoryName = inUse;
  let newest: TaskState | null = null;
  let isBehind = false;
  let seen: string | null = null;
  let synced: Promise<unknown> = Promise.resolve();
  /** One write after the other: a beat must not overtake a save. */
  let queue: Promise<void> = Promise.resolve();

  const attempt = (action: () => Promise<void>): Promise<void> => {
    queue = queue.then(async () => {
      if (silent) return;
      try {
        await action();
      } catch (error) {
        tell(error);
      }
    });
    return queue;
  };

  const tell = (error: unknown): void => {
    if (warned || silent) return;
    warned = true;
    warn(
      `The state cannot be kept (${messageOf(error)}). The loop goes on, but cannot be resumed.`,
    );
  };

  /** The file system takes its time; at most one save waits for it. */
  const makeDurable = async (syncs: readonly (() => Promise<void>)[]): Promise<void> => {
    await synced;
    synced = Promise.all(syncs.map((sync) => sync())).catch(tell);
  };

  const prepare = async (): Promise<void> => {
    makeTaskFolder(paths);
    removeHalfWritten(paths.folder, '');
    removeHalfWritten(paths.stateDir, path.basename(paths.stateFile));
    await makeDurable([
      await replaceFile(`${paths.folder}/prompt.md`, files.prompt),
      await replaceFile(`${paths.folder}/settings.json`, files.settings),
      await replaceFile(`${paths.folder}/baseline.json`, files.baseline),
    ]);
  };

  const writeState = async (task: TaskState): Promise<() => Promise<void>> => {
    const found = fingerprint(paths.stateFile);
    if (seen !== null && found !== '' && found !== seen) {
      warn(
        `${paths.stateFile} was changed by another hand; a running loop keeps to what it knows, and has written it anew.`,
      );
    }
    const sync = await replaceFile(paths.stateFile, stateJson({ ...task, memory: memoryName }));
    seen = fingerprint(paths.stateFile);
    return sync;
  };

  await attempt(prepare);

  return {
    save: ({ step, ...state }) =>
      attempt(async () => {
        // The folder may have been deleted under the running loop, and a request have made a new one.
        if (!existsSync(path.join(paths.folder, 'prompt.md'))) {
          await prepare();
          memoryName = null;
        }
        const memory = memoryOf({ ...state, step });
        newest = state.task;
        const syncs: (() => Promise<void>)[] = [];
        if (last === null || memoryName === null || !isSame(memory, last.memory)) {
          const name = freeMemoryName(memoryName);
          syncs.push(await overwriteFile(path.join(paths.folder, name), memoryJson(memory)));
          memoryName = name;
        }
        isBehind = true;
        try {
          syncs.push(await writeState(state.task));
          last = { task: state.task, memory };
          isBehind = false;
        } finally {
          // What was written is closed by this, too.
          await makeDurable(syncs);
        }
        if (step.kind === 'ended') await synced;
      }),
    beat: (at) =>
      attempt(async () => {
        const driver = last?.task.driver;
        if (last === null || driver == null) return;
        last = { ...last, task: { ...last.task, driver: { ...driver, beat_at: at } } };
        await makeDurable([await writeState(last.task)]);
      }),
    archive: () =>
      attempt(async () => {
        await synced;
        retireNamesake(paths);
        places = await retryBusy(async () => moveToHistory(paths, taskName(paths)));
        // A full disk has no room for a new file, but for other words in an old one: what lies in the
        // history as running would be taken for a task whose driver died.
        if (isBehind && newest !== null) await overwriteFile(places.stateFile, stateJson(newest));
      }),
    places: () => ({ stateFile: places.stateFile, logDir: places.folder }),
    complain: tell,
    silence() {
      silent = true;
    },
    told: () =>
      attempt(async () => {
        if (places !== paths) forgetMemory(places.folder, memoryName);
      }),
  };
}

/** Whether two memories are of the same values: nothing in a state is ever changed in place. */
function isSame(one: LoopMemory, other: LoopMemory): boolean {
  const others = new Map(Object.entries(other));
  return Object.entries(one).every(([key, value]) => others.get(key) === value);
}

/** What tells that a file is still the one that was written; empty where it is gone. */
function fingerprint(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

/** A completed task of the same name keeps its place in the history under its start time. */
function retireNamesake(paths: TaskPaths): void {
  const name = taskName(paths);
  const old = inHistory(paths, name);
  const hasState = existsSync(old.stateFile);
  if (!hasState && !existsSync(old.folder)) return;
  // Our own folder, moved by a driver that was killed before it had moved the state.
  if (!hasState && !existsSync(paths.folder)) return;
  moveToHistory(old, `${name}.${forFileName(startOf(old.stateFile))}`);
}

/**
 * Puts an older task of the same id into the history as `<id>.<started_at>`, so that a new run starts
 * afresh and nothing is lost. A corrupt state is kept aside as `<id>.json.corrupt-<time>`. Returns
 * whether there was one; throws `StateTooNewError` for one that a newer ralph has written, or the system's error.
 */
export function retirePrevious(paths: TaskPaths): boolean {
  takeBack(paths);
  if (!existsSync(paths.stateFile) && !hasLogs(paths.folder)) return false;
  const kept = readStateFile(paths.stateFile);
  if (kept.kind === 'too-new') throw new StateTooNewError(paths.stateFile, kept.version);
  const stamp = startOf(paths.stateFile);
  if (kept.kind === 'corrupt') keepAside(paths.stateFile, kept.modifiedAt);
  forgetMemory(paths.folder);
  moveToHistory(paths, `${taskName(paths)}.${forFileName(stamp)}`);
  return true;
}

/** Whether an iteration was begun: without a state and any log, a driver died before all beginning. */
function hasLogs(folder: string): boolean {
  return namesIn(folder).some((name) => name.startsWith('iteration-'));
}

/**
 * Takes back from the history a completed task whose driver was killed before its end was told: it was
 * half moved there, or its memory still lies there. Nobody may be driving it. Throws the system's error.
 */
export function takeBack(paths: TaskPaths): void {
  const moved = inHistory(paths, taskName(paths));
  if (!existsSync(paths.stateFile) && isUntold(moved)) {
    renameSync(moved.stateFile, paths.stateFile);
  }
  const isHalfMoved = !existsSync(paths.folder) && !existsSync(moved.stateFile);
  if (isHalfMoved && existsSync(moved.folder) && isCompleted(paths.stateFile)) {
    renameSync(moved.folder, paths.folder);
  }
}

function isUntold({ stateFile, folder }: TaskPaths): boolean {
  const kept = readStateFile(stateFile);
  return kept.kind === 'task' && readMemory(folder, kept.state.memory) !== null;
}

function isCompleted(stateFile: string): boolean {
  const kept = readStateFile(stateFile);
  return kept.kind === 'task' && kept.state.status === 'completed';
}

/** Gives a file that cannot be read another name, and returns that. Throws the system's error. */
export function keepAside(stateFile: string, modifiedAt: string): string {
  const aside = `${stateFile}.corrupt-${forFileName(modifiedAt)}`;
  renameSync(stateFile, aside);
  return aside;
}

function taskName(paths: TaskPaths): string {
  return path.basename(paths.stateFile, '.json');
}

/** When a kept task was started, or, where that cannot be told, when its file was last written. */
function startOf(stateFile: string): string {
  const kept = readStateFile(stateFile);
  if (kept.kind === 'task') return kept.state.started_at;
  const stats = statSync(stateFile, { throwIfNoEntry: false });
  return (stats?.mtime ?? new Date()).toISOString();
}

function forFileName(instant: string): string {
  return instant.replace(/[^0-9A-Za-z.-]/g, '').slice(0, 40);
}
