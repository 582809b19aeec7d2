import { existsSync, lstatSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { withBeat } from '../../core/machine/clock-gap.ts';
import type { RalphEvent } from '../../core/machine/events.ts';
import { isAtWork, type LoopState } from '../../core/machine/loop-state.ts';
import { stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { messageOf, StateTooNewError } from '../../errors.ts';
import type { RunClock, StateStore } from '../../loop/ports.ts';
import { namesIn } from '../files/names-in.ts';
import {
  overwriteFile,
  removeHalfWritten,
  replaceFile,
  retryBusy,
  syncFile,
} from '../files/write-file.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { pinFolder } from '../trust/pinned-folder.ts';
import { fileOf, type Seal, STATE } from '../trust/seal.ts';
import { forgetMemory, freeMemoryName, memoryFile, memoryOf, stepJson } from './saved-step.ts';
import { isUntold, readStateFile } from './state-file.ts';
import { inHistory, makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';

/** What does not change during a run and lies beside the state. */
interface TaskFiles {
  readonly prompt: Uint8Array;
  /** JSON texts, not sealed yet. */
  readonly settings: string;
  readonly baseline: string;
}

/** Where a task is kept, and as whose. */
export interface StoreRequest {
  readonly paths: TaskPaths;
  readonly seal: Seal;
  readonly clock: Pick<RunClock, 'monotonicMs' | 'heldUpMs'>;
  /** The run that the files belong to. */
  readonly task: Pick<TaskState, 'task_id' | 'started_at' | 'memory' | 'save'>;
  readonly files: TaskFiles;
  readonly warn: (sentence: string) => void;
  /** Makes durable what was told so far. */
  readonly syncEvents?: () => Promise<void>;
}

/** What the clock has shown: its monotonic time, and how long ralph had been stopped by then. */
type Reading = readonly [monotonicMs: number, heldUpMs: number];

/** A store, and what only its owner may ask of it. */
export interface TaskStore extends StateStore {
  /**
   * Writes the last state again with a newer beat, so that drivers elsewhere see a living one, and with
   * the task's limit moved by the time since in which no work was possible.
   */
  beat(at: string): Promise<void>;
  /** The number of the last step that is on disk, and the memory that holds it. */
  newest(): Pick<TaskState, 'memory' | 'save'>;
  /** Resolves once what was saved outlives a power cut. */
  durable(): Promise<void>;
  /** Says, if it has not been said yet, that nothing is kept. */
  complain(error: unknown): void;
  /** From now on nothing is written: another driver has the task. */
  silence(): void;
  /**
   * The end has been told: the task has no driver any more, and of a completed one goes what only served
   * to go on with it.
   */
  told(): Promise<void>;
}

/*
 * A step is written twice: whole into one of two memories that take turns, and without the agent's words
 * into the state file, which people and other programs read.
 *
 *   save 7:   wait for the syncs of save 6 ──► write over memory-1 (step 5) ──► state.tmp ──► rename
 *             memory-2 (step 6) is durable      a kill or a power cut here       the state is
 *             from here on                      leaves step 6 in memory-2        that of step 7
 *                                                                                   │
 *   save 8:   wait for these syncs ◄── fdatasync memory-1, fdatasync state, fsync folders, beside the
 *                                      agent's work; fdatasync of the journal, with the events of step 6
 *
 * Both carry the number of the saving. To go on, the memory with the highest number that is sealed and
 * whole is taken, with the state in it: one of the two always is, and state and memory are never of
 * different steps. Its events and those of the step before it are told again where the journal lacks them:
 * older ones are durable. So the state may be renamed before it is synced: where a power cut has left it empty
 * it is read from the memory. See `readNewestStep` in `state-file.ts`.
 */
/**
 * Keeps one task's state on disk. A write that fails is said once through `warn`; the loop goes on
 * without persistence, and every later save tries again.
 */
export async function createStateStore(request: StoreRequest): Promise<TaskStore> {
  const { paths, seal, clock, task: run, warn, syncEvents = async () => {} } = request;
  const folder = pinFolder(paths.folder);
  const files = filesBeside(request);
  let places = paths;
  let warned = false;
  let silent = false;
  /** As the loop has saved it last, and when that was. */
  let last: { readonly task: TaskState; readonly since: Reading } | null = null;
  let memoryName = run.memory;
  let saves = run.save;
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
        folder.check();
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

  /** The file system takes its time: the next save waits for it, and nobody else. */
  const makeDurable = (syncs: readonly (() => Promise<void>)[]): void => {
    // All of them, even if one fails: the step before must be durable before it is the only one left.
    synced = Promise.allSettled([synced, ...syncs.map((sync) => sync())]).then((results) => {
      const failed = results.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') tell(failed.reason);
    });
  };

  const prepare = async (): Promise<void> => {
    makeTaskFolder(paths);
    removeHalfWritten(paths.folder, '');
    removeHalfWritten(paths.stateDir, path.basename(paths.stateFile));
    makeDurable(await Promise.all(files.map((file) => file.write())));
  };

  /** Nobody but this driver changes them: an agent may have tried to lift what binds it. */
  const mendFiles = async (): Promise<void> => {
    const changed = files.filter((file) => file.isChanged());
    if (changed.length === 0) return;
    for (const { path: place } of changed) warn(changedByAnother(place));
    makeDurable(await Promise.all(changed.map((file) => file.write())));
  };

  const writeState = async (task: TaskState): Promise<() => Promise<void>> => {
    const found = fingerprint(paths.stateFile);
    if (seen !== null && found !== '' && found !== seen) warn(changedByAnother(paths.stateFile));
    const json = stateJson(task);
    const sync = await replaceFile(paths.stateFile, seal.close(json, STATE));
    seen = fingerprint(paths.stateFile);
    return sync;
  };

  // The driver before may have died between its last rename and the sync: what is taken over from it must be
  // durable before the other memory is written over.
  const inForce = memoryFile(paths.folder, run.memory);
  if (inForce !== null)
    makeDurable([
      () => syncFile(inForce, paths.folder),
      () => syncFile(paths.stateFile, paths.stateDir),
    ]);
  await attempt(prepare);

  const read = (): Reading => [clock.monotonicMs(), clock.heldUpMs()];

  const writeStep = async (
    state: LoopState,
    events: readonly RalphEvent[],
    since: Reading,
  ): Promise<void> => {
    // The folder may have been deleted under the running loop, and a request have made a new one.
    if (!existsSync(path.join(paths.folder, 'prompt.md'))) {
      await prepare();
      memoryName = null;
    } else await mendFiles();
    await synced;
    const name = freeMemoryName(memoryName);
    const { driver: by, updated_at } = state.task;
    // Who saves is alive.
    const driver = by && { ...by, beat_at: updated_at };
    const task = { ...state.task, driver, memory: name, save: saves + 1 };
    const step = { task, memory: memoryOf(state), logBytes: logBytesOf(paths, state), events };
    const json = seal.close(stepJson(step), fileOf('memory', run));
    const syncs = [await overwriteFile(path.join(paths.folder, name), json)];
    try {
      syncs.push(await writeState(task));
      // Only now: a memory that no state names is the one to be written over.
      memoryName = name;
      saves = task.save;
      last = { task, since };
      isBehind = false;
    } finally {
      // What was written is closed by this, too.
      makeDurable([...syncs, syncEvents]);
    }
  };

  return {
    save(state, events) {
      const since = read();
      return attempt(async () => {
        newest = state.task;
        isBehind = true;
        const isEnd = state.step.kind === 'ended';
        try {
          await writeStep(state, events, since);
        } catch (error) {
          // There is no later save to make up for the last one.
          if (!isEnd) throw error;
          await writeStep(state, events, since);
        }
        if (isEnd) await synced;
      });
    },
    beat(at) {
      const now = read();
      return attempt(async () => {
        if (last === null || last.task.driver === null) return;
        const { task, since } = last;
        const [tookMs, heldUpMs] = [now[0] - since[0], now[1] - since[1]];
        makeDurable([await writeState(withBeat(task, { at, tookMs, heldUpMs }))]);
      });
    },
    archive: () =>
      attempt(async () => {
        await synced;
        retireNamesake(paths);
        places = await retryBusy(async () => moveToHistory(paths, taskName(paths)));
        // A full disk has no room for a new file, but for other words in an old one: what lies in the
        // history as running would be taken for a task whose driver died.
        if (isBehind && newest !== null) {
          const task = { ...newest, memory: memoryName, save: saves };
          await overwriteFile(places.stateFile, seal.close(stateJson(task), STATE));
        }
      }),
    places: () => ({ stateFile: places.stateFile, logDir: places.folder }),
    newest: () => ({ memory: memoryName, save: saves }),
    durable: () => attempt(async () => void (await synced)),
    complain: tell,
    silence() {
      silent = true;
    },
    told: () =>
      attempt(async () => {
        // The mark that the end was told must not outlive the event that tells it.
        await syncEvents();
        if (places !== paths) forgetMemory(places.folder, memoryName);
        if (last === null || last.task.driver === null) return;
        last = { ...last, task: { ...last.task, driver: null } };
        makeDurable([await writeState(last.task)]);
      }),
  };
}

/** A file beside the state, as this driver knows it. */
interface FileBeside {
  readonly path: string;
  /** Writes it anew, whole or not at all; durable once the returned function has resolved. */
  write(): Promise<() => Promise<void>>;
  /** Whether it holds something else by now. One that is gone counts, too. */
  isChanged(): boolean;
}

function filesBeside({ paths, seal, task, files }: StoreRequest): readonly FileBeside[] {
  return [
    fileBeside(`${paths.folder}/prompt.md`, files.prompt),
    fileBeside(
      `${paths.folder}/settings.json`,
      seal.close(files.settings, fileOf('settings', task)),
    ),
    fileBeside(
      `${paths.folder}/baseline.json`,
      seal.close(files.baseline, fileOf('baseline', task)),
    ),
  ];
}

function fileBeside(place: string, content: string | Uint8Array): FileBeside {
  let seen = '';
  return {
    path: place,
    async write() {
      const sync = await replaceFile(place, content);
      seen = fingerprint(place);
      return sync;
    },
    isChanged() {
      const now = fingerprint(place);
      if (now === seen) return false;
      // Only touched, as by a backup: what counts is what it holds.
      if (!holds(place, Buffer.from(content))) return true;
      seen = now;
      return false;
    },
  };
}

function holds(place: string, content: Buffer): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  // A pipe would never come to an end.
  if (stats?.isFile() !== true || stats.size !== content.length) return false;
  return content.equals(readFileSync(place));
}

function changedByAnother(file: string): string {
  return `${file} was changed by another hand; a running loop keeps to what it knows, and has written it anew.`;
}

/** How long the log of the iteration that is about to run is by now. */
function logBytesOf(paths: TaskPaths, { step, task }: LoopState): number {
  if (!isAtWork(step)) return 0;
  const { stdout } = transcriptNames(task.current_iteration);
  return statSync(`${paths.folder}/${stdout}`, { throwIfNoEntry: false })?.size ?? 0;
}

/** What tells that a file is still the one that was written; empty where it is gone. */
function fingerprint(file: string): string {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
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
