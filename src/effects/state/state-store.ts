import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import { isAtWork, type LoopState } from '../../core/machine/loop-state.ts';
import { withHeartbeat } from '../../core/task/clock-gap.ts';
import { compactStateJson, stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import type { RunClock, StateStore } from '../../loop/ports.ts';
import {
  overwriteFile,
  removeHalfWritten,
  replaceFile,
  retryBusy,
  syncFile,
} from '../files/write-file.ts';
import { transcriptEnd } from '../logs/iteration-log.ts';
import { pinFolder } from '../trust/pinned-folder.ts';
import { fileOf, type Seal, STATE } from '../trust/seal.ts';
import { archiveNamesake } from './earlier-run.ts';
import { changedByAnother, filesBeside, fingerprint, type TaskFiles } from './files-beside.ts';
import {
  forgetMemory,
  freeMemoryName,
  memoryFile,
  memoryOf,
  removeFreeMemories,
  stepJson,
} from './saved-step.ts';
import { makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';

export interface StoreRequest {
  readonly paths: TaskPaths;
  readonly seal: Seal;
  readonly clock: Pick<RunClock, 'monotonicMs' | 'heldUpMs'>;
  /** The task that the files belong to. */
  readonly task: Pick<TaskState, 'task_id' | 'started_at' | 'memory' | 'save'>;
  readonly files: TaskFiles;
  readonly warn: (sentence: string) => void;
  /** Called with the first error that prevents saving the state. */
  readonly onFailure: (error: unknown) => void;
  /** Makes the events published so far durable. */
  readonly syncEvents?: () => Promise<void>;
}

/** A reading of the clock: monotonic time, and how long ralph had been suspended by then. */
type Reading = readonly [monotonicMs: number, heldUpMs: number];

/** A saved task, and the reading of the clock when it was saved. */
interface Saved {
  readonly task: TaskState;
  readonly since: Reading;
}

/** A store, with the operations that only its owner may use. */
export interface TaskStore extends StateStore {
  /**
   * Writes the last state again with a newer heartbeat, so that others see that this process is alive, and with the
   * task's deadline extended by the time since the last save in which no work was possible.
   */
  heartbeat(at: string): Promise<void>;
  /** Returns the number of the last step on disk, and the name of the memory file that contains it. */
  newest(): Pick<TaskState, 'memory' | 'save'>;
  /** Resolves once everything saved would survive a power cut. */
  durable(): Promise<void>;
  /** Reports, once, that the state cannot be saved. */
  complain(error: unknown): void;
  /** Stops all writing, because another process has taken over the task. */
  mute(): void;
  /**
   * Records that the ending has been announced: removes this process, the driver, from the state and, if the task is
   * archived, deletes the files that were needed only to resume it.
   */
  published(): Promise<void>;
}

/*
 * A step is written twice: completely into one of two memory files, which alternate, and without the agent's
 * messages into the state file, which people and other programs read.
 *
 *   save 7:   wait for the syncs of save 6 ──► overwrite memory-1 (step 5) ──► state.tmp ──► rename
 *             memory-2 (step 6) is durable      a kill or a power cut here      the state is
 *             from here on                      leaves step 6 in memory-2       that of step 7
 *                                                                                   │
 *   save 8:   wait for these syncs ◄── fdatasync memory-1, fdatasync state, fsync folders, during the
 *                                      agent's work; fdatasync of the journal, with the events of step 6
 *
 * The first save writes both memories, so that a disk that fills up later has room for how the task ended.
 *
 * Both files contain the number of the save. A resume takes the sealed and complete memory with the
 * highest number, and the state in it. One of the two memories is always complete, and state and memory
 * are never of different steps. The events of this step and of the one before are published again if the
 * journal lacks them; older events are durable. So the state may be renamed before it is synced: if a
 * power cut leaves it empty, it is read from the memory. See `readNewestStep` in `state-file.ts`.
 */
/**
 * Keeps one task's state on disk. The first failed write is reported to `onFailure`; the task goes on
 * unsaved, and every later save tries again.
 */
export async function createStateStore(request: StoreRequest): Promise<TaskStore> {
  const { paths, seal, clock, task: run, warn, onFailure, syncEvents = async () => {} } = request;
  const folder = pinFolder(paths.folder);
  const files = filesBeside(paths.folder, request.files, seal, run);
  /** The paths for all writes: after the task was moved to the history, those in the history. */
  let places = paths;
  let warned = false;
  let muted = false;
  /** The task as the loop last saved it, and when. */
  let last: Saved | null = null;
  let memoryName = run.memory;
  let saves = run.save;
  /** The newest task of the loop while the state file does not contain it; otherwise null. */
  let unsaved: Saved | null = null;
  let seen: string | null = null;
  let synced: Promise<unknown> = Promise.resolve();
  /** Serializes the writes: a heartbeat must not overtake a save. */
  let queue: Promise<void> = Promise.resolve();

  const attempt = (action: () => Promise<void>): Promise<void> => {
    queue = queue.then(async () => {
      if (muted) return;
      try {
        folder.check();
        await action();
      } catch (error) {
        complain(error);
      }
    });
    return queue;
  };

  const complain = (error: unknown): void => {
    if (warned || muted) return;
    warned = true;
    onFailure(error);
  };

  /** Syncs in the background, because that is slow; only the next save waits for it. */
  const makeDurable = (syncs: readonly (() => Promise<void>)[]): void => {
    // Wait for all, even if one fails: a step must be durable before the other memory is overwritten.
    synced = Promise.allSettled([synced, ...syncs.map((sync) => sync())]).then((results) => {
      const failed = results.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') complain(failed.reason);
    });
  };

  const prepare = async (): Promise<void> => {
    makeTaskFolder(places);
    removeHalfWritten(places.folder, '');
    removeHalfWritten(places.stateDir, path.basename(places.stateFile));
    makeDurable(await Promise.all(files.map((file) => file.write())));
  };

  /** Restores files that an agent may have changed to remove its own restrictions. */
  const mendFiles = async (): Promise<void> => {
    const changed = files.filter((file) => file.isChanged());
    if (changed.length === 0) return;
    for (const { path: place } of changed) warn(changedByAnother(place));
    makeDurable(await Promise.all(changed.map((file) => file.write())));
  };

  const writeState = async (
    task: TaskState,
    textOf: (task: TaskState) => string = stateJson,
  ): Promise<() => Promise<void>> => {
    const { stateFile } = places;
    const found = fingerprint(stateFile);
    if (seen !== null && found !== '' && found !== seen) warn(changedByAnother(stateFile));
    const sync = await replaceFile(stateFile, seal.close(textOf(task), STATE));
    seen = fingerprint(stateFile);
    return sync;
  };

  /** Runs `action`. If that fails, as on a full disk, removes the memories that are not in use and runs `again`. */
  const inMoreRoom = async <T>(action: () => Promise<T>, again = action): Promise<T> =>
    action().catch(async () => {
      // The memory in use must be durable first.
      await synced;
      removeFreeMemories(places.folder, memoryName);
      return again();
    });

  /** Saves how the task ended, without its last step, for which a full disk has no room. */
  const writeEnd = async ({ task: ended, since }: Saved): Promise<void> => {
    // The memory in use has an earlier step. A completed task keeps it until its ending is announced. Any other task
    // drops it, since a resume would repeat that step.
    const task =
      ended.status === 'completed'
        ? { ...ended, memory: memoryName, save: saves }
        : { ...ended, memory: null, save: saves + 1 };
    makeDurable([await inMoreRoom(() => writeState(task, compactStateJson))]);
    ({ memory: memoryName, save: saves } = task);
    last = { task, since };
    unsaved = null;
  };

  // The previous process may have died between its last rename and the sync: its step must be durable before the other
  // memory is overwritten.
  const inForce = memoryFile(paths.folder, run.memory);
  if (inForce !== null)
    makeDurable([
      () => syncFile(inForce, paths.folder),
      () => syncFile(paths.stateFile, paths.stateDir),
    ]);
  await attempt(prepare);

  const read = (): Reading => [clock.monotonicMs(), clock.heldUpMs()];

  /** Writes the second memory file at the first save, so that a disk that fills up has room for how the task ended. */
  const holdRoom = (name: string, json: string): Promise<readonly (() => Promise<void>)[]> =>
    overwriteFile(path.join(places.folder, name), json).then(
      (sync) => [sync],
      () => [],
    );

  const writeStep = async (
    state: LoopState,
    events: readonly RalphEvent[],
    since: Reading,
  ): Promise<void> => {
    // The folder may have been deleted during the run, and created again by a request.
    if (!existsSync(path.join(places.folder, 'prompt.md'))) {
      await prepare();
      memoryName = null;
    } else await mendFiles();
    await synced;
    const name = freeMemoryName(memoryName);
    const { driver: by, updated_at } = state.task;
    // A save is also a heartbeat.
    const driver = by && { ...by, beat_at: updated_at };
    const task = { ...state.task, driver, memory: name, save: saves + 1 };
    const step = { task, memory: memoryOf(state), logBytes: logBytesOf(places, state), events };
    const json = seal.close(stepJson(step), fileOf('memory', run));
    const syncs = [await overwriteFile(path.join(places.folder, name), json)];
    try {
      syncs.push(await writeState(task));
      if (memoryName === null) syncs.push(...(await holdRoom(freeMemoryName(name), json)));
      // Set only now: if `writeState` fails, no state names the new memory, and the next save must
      // overwrite it.
      memoryName = name;
      saves = task.save;
      last = { task, since };
      unsaved = null;
    } finally {
      // This is done even after an error, because the syncs close the files.
      makeDurable([...syncs, syncEvents]);
    }
  };

  return {
    save(state, events) {
      const since = read();
      return attempt(async () => {
        const saved = { task: state.task, since };
        unsaved = saved;
        const isEnd = state.step.kind === 'ended';
        try {
          await writeStep(state, events, since);
        } catch (error) {
          // No other save follows the one at the task's end, so a failure of it must be dealt with here.
          if (!isEnd) throw error;
          await writeStep(state, events, since).catch(() => writeEnd(saved));
        }
        if (isEnd) await synced;
      });
    },
    heartbeat(at) {
      const now = read();
      return attempt(async () => {
        if (last === null || last.task.driver === null) return;
        const { task, since } = last;
        const [tookMs, heldUpMs] = [now[0] - since[0], now[1] - since[1]];
        makeDurable([await writeState(withHeartbeat(task, { at, tookMs, heldUpMs }))]);
      });
    },
    archive: () =>
      attempt(async () => {
        await synced;
        // In the history, a task with the status `running` would seem to have lost its process. If there is no room to
        // save how the task ended, the task stays outside the history, and a resume finishes it.
        if (unsaved !== null) await writeEnd(unsaved);
        archiveNamesake(places);
        places = await retryBusy(() => inMoreRoom(async () => moveToHistory(places, run.task_id)));
      }),
    places: () => ({ stateFile: places.stateFile, logDir: places.folder }),
    newest: () => ({ memory: memoryName, save: saves }),
    durable: () => attempt(async () => void (await synced)),
    complain,
    mute() {
      muted = true;
    },
    published: () =>
      attempt(async () => {
        // A power cut must not keep the record of the announcement and lose the event itself.
        await syncEvents();
        if (unsaved !== null) await writeEnd(unsaved);
        if (places !== paths) forgetMemory(places.folder, memoryName);
        if (last === null || last.task.driver === null) return;
        const task = { ...last.task, driver: null };
        last = { ...last, task };
        const write = inMoreRoom(
          () => writeState(task),
          () => writeState(task, compactStateJson),
        );
        makeDurable([await write]);
      }),
  };
}

/** Returns where the running iteration's log ends, in bytes; 0 if no iteration runs. */
function logBytesOf(paths: TaskPaths, { step, task }: LoopState): number {
  if (!isAtWork(step)) return 0;
  return transcriptEnd(paths.folder, task.current_iteration);
}
