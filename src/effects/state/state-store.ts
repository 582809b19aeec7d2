import { existsSync, lstatSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { withBeat } from '../../core/machine/clock-gap.ts';
import type { RalphEvent } from '../../core/machine/events.ts';
import { isAtWork, type LoopState } from '../../core/machine/loop-state.ts';
import { stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { messageOf, StateTooNewError } from '../../errors.ts';
import type { RunClock, StateStore } from '../../loop/ports.ts';
import {
  namesIn,
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

/** The files beside the state; they do not change during a run. */
interface TaskFiles {
  readonly prompt: Uint8Array;
  /** JSON texts, not sealed yet. */
  readonly settings: string;
  readonly baseline: string;
}

export interface StoreRequest {
  readonly paths: TaskPaths;
  readonly seal: Seal;
  readonly clock: Pick<RunClock, 'monotonicMs' | 'heldUpMs'>;
  /** The task that the files belong to. */
  readonly task: Pick<TaskState, 'task_id' | 'started_at' | 'memory' | 'save'>;
  readonly files: TaskFiles;
  readonly warn: (sentence: string) => void;
  /** Makes the events published so far durable. */
  readonly syncEvents?: () => Promise<void>;
}

/** A reading of the clock: monotonic time, and how long ralph had been suspended by then. */
type Reading = readonly [monotonicMs: number, heldUpMs: number];

/** A store, with the operations that only its owner may use. */
export interface TaskStore extends StateStore {
  /**
   * Writes the last state again with a newer heartbeat, so that other drivers see that this one is alive,
   * and with the task's deadline extended by the time since then in which no work was possible.
   */
  beat(at: string): Promise<void>;
  /** Returns the number of the last step on disk, and the memory that contains it. */
  newest(): Pick<TaskState, 'memory' | 'save'>;
  /** Resolves once everything saved would survive a power cut. */
  durable(): Promise<void>;
  /** Warns, once, that the state cannot be saved. */
  complain(error: unknown): void;
  /** Stops all writing, because another driver has taken over the task. */
  silence(): void;
  /**
   * Records that the ending has been announced: removes the driver from the state and, if the task is
   * archived, what was only needed to resume it.
   */
  told(): Promise<void>;
}

/*
 * A step is written twice: completely into one of two memories, which alternate, and without the agent's
 * messages into the state file, which people and other programs read.
 *
 *   save 7:   wait for the syncs of save 6 ──► overwrite memory-1 (step 5) ──► state.tmp ──► rename
 *             memory-2 (step 6) is durable      a kill or a power cut here      the state is
 *             from here on                      leaves step 6 in memory-2       that of step 7
 *                                                                                   │
 *   save 8:   wait for these syncs ◄── fdatasync memory-1, fdatasync state, fsync folders, during the
 *                                      agent's work; fdatasync of the journal, with the events of step 6
 *
 * Both files contain the number of the save. A resume takes the sealed and complete memory with the
 * highest number, and the state in it. One of the two memories is always complete, and state and memory
 * are never of different steps. The events of this step and of the one before are published again if the
 * journal lacks them; older events are durable. So the state may be renamed before it is synced: if a
 * power cut leaves it empty, it is read from the memory. See `readNewestStep` in `state-file.ts`.
 */
/**
 * Keeps one task's state on disk. The first failed write is reported through `warn`; the loop continues
 * without persistence, and every later save tries again.
 */
export async function createStateStore(request: StoreRequest): Promise<TaskStore> {
  const { paths, seal, clock, task: run, warn, syncEvents = async () => {} } = request;
  const folder = pinFolder(paths.folder);
  const files = filesBeside(request);
  let places = paths;
  let warned = false;
  let silent = false;
  /** The task as last saved by the loop, and when that was. */
  let last: { readonly task: TaskState; readonly since: Reading } | null = null;
  let memoryName = run.memory;
  let saves = run.save;
  let newest: TaskState | null = null;
  let isBehind = false;
  let seen: string | null = null;
  let synced: Promise<unknown> = Promise.resolve();
  /** Serializes the writes: a heartbeat must not overtake a save. */
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

  /** Syncs in the background, because that is slow; only the next save waits for it. */
  const makeDurable = (syncs: readonly (() => Promise<void>)[]): void => {
    // Wait for all, even if one fails: a step must be durable before the other memory is overwritten.
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

  /** Only this driver may change these files: an agent may have tried to remove its own restrictions. */
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

  // The previous driver may have died between its last rename and the sync: the step taken over from it
  // must be durable before the other memory is overwritten.
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
    // The folder may have been deleted while the loop runs, and created again by a request.
    if (!existsSync(path.join(paths.folder, 'prompt.md'))) {
      await prepare();
      memoryName = null;
    } else await mendFiles();
    await synced;
    const name = freeMemoryName(memoryName);
    const { driver: by, updated_at } = state.task;
    // A save is also a heartbeat.
    const driver = by && { ...by, beat_at: updated_at };
    const task = { ...state.task, driver, memory: name, save: saves + 1 };
    const step = { task, memory: memoryOf(state), logBytes: logBytesOf(paths, state), events };
    const json = seal.close(stepJson(step), fileOf('memory', run));
    const syncs = [await overwriteFile(path.join(paths.folder, name), json)];
    try {
      syncs.push(await writeState(task));
      // Only now: if this fails, no state names the new memory, and the next save must overwrite it.
      memoryName = name;
      saves = task.save;
      last = { task, since };
      isBehind = false;
    } finally {
      // Also after an error, because the syncs close the files.
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
          // No later save would make up for a failure of the last one.
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
        // A full disk has no room for a new file, but an old one can be overwritten in place. If the history
        // showed the task as running, its driver would seem to have died.
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
        // A power cut must not keep the record of the announcement and lose the event itself.
        await syncEvents();
        if (places !== paths) forgetMemory(places.folder, memoryName);
        if (last === null || last.task.driver === null) return;
        last = { ...last, task: { ...last.task, driver: null } };
        makeDurable([await writeState(last.task)]);
      }),
  };
}

/** A file beside the state, as this driver wrote it. */
interface FileBeside {
  readonly path: string;
  /** Replaces the file atomically; it is durable once the returned function has resolved. */
  write(): Promise<() => Promise<void>>;
  /** Whether the content has changed since, or the file is gone. */
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
      // A backup may only touch the file, so the content decides.
      if (!holds(place, Buffer.from(content))) return true;
      seen = now;
      return false;
    },
  };
}

function holds(place: string, content: Buffer): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  // Reading a pipe would never end.
  if (stats?.isFile() !== true || stats.size !== content.length) return false;
  return content.equals(readFileSync(place));
}

function changedByAnother(file: string): string {
  return `${file} was changed by another hand; a running loop keeps to what it knows, and has written it anew.`;
}

/** Returns the current length of the log of the iteration that is about to run. */
function logBytesOf(paths: TaskPaths, { step, task }: LoopState): number {
  if (!isAtWork(step)) return 0;
  const { stdout } = transcriptNames(task.current_iteration);
  return statSync(`${paths.folder}/${stdout}`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Changes whenever another program writes or replaces the file; empty if the file is gone. */
function fingerprint(file: string): string {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

/** Renames a completed task of the same id in the history, so that it stays there under its start time. */
function retireNamesake(paths: TaskPaths): void {
  const name = taskName(paths);
  const old = inHistory(paths, name);
  const hasState = existsSync(old.stateFile);
  if (!hasState && !existsSync(old.folder)) return;
  // This is our own folder: a driver was killed after moving it and before moving the state.
  if (!hasState && !existsSync(paths.folder)) return;
  moveToHistory(old, `${name}.${forFileName(startOf(old.stateFile))}`);
}

/**
 * Archives an older task of the same id as `<id>.<started_at>`, so that a new run starts without a state
 * and nothing is lost. A corrupt state is renamed to `<id>.json.corrupt-<time>`. Returns whether there
 * was an older task. Throws `StateTooNewError` if a newer ralph has written it, or the system's error.
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

/** Whether an iteration was begun. With neither state nor logs, a driver died before it did anything. */
function hasLogs(folder: string): boolean {
  return namesIn(folder).some((name) => name.startsWith('iteration-'));
}

/**
 * Restores a completed task from the history if its driver was killed before the ending was announced:
 * it was only half moved, or its memory still exists. Call it only if nobody drives the task. Throws the
 * system's error.
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

/** Renames a corrupt file and returns its new name. Throws the system's error. */
export function keepAside(stateFile: string, modifiedAt: string): string {
  const aside = `${stateFile}.corrupt-${forFileName(modifiedAt)}`;
  renameSync(stateFile, aside);
  return aside;
}

function taskName(paths: TaskPaths): string {
  return path.basename(paths.stateFile, '.json');
}

/** Returns when a stored task was started or, if that is unknown, when its file was last written. */
function startOf(stateFile: string): string {
  const kept = readStateFile(stateFile);
  if (kept.kind === 'task') return kept.state.started_at;
  const stats = statSync(stateFile, { throwIfNoEntry: false });
  return (stats?.mtime ?? new Date()).toISOString();
}

function forFileName(instant: string): string {
  return instant.replace(/[^0-9A-Za-z.-]/g, '').slice(0, 40);
}
