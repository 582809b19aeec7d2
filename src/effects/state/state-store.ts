import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { RalphEvent } from '../../core/machine/events.ts';
import { isAtWork, type LoopState } from '../../core/machine/loop-state.ts';
import { withHeartbeat } from '../../core/task/clock-gap.ts';
import { stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { messageOf } from '../../errors.ts';
import type { RunClock, StateStore } from '../../loop/ports.ts';
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
import { archiveNamesake } from './earlier-run.ts';
import { changedByAnother, filesBeside, fingerprint, type TaskFiles } from './files-beside.ts';
import { forgetMemory, freeMemoryName, memoryFile, memoryOf, stepJson } from './saved-step.ts';
import { makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';

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
  heartbeat(at: string): Promise<void>;
  /** Returns the number of the last step on disk, and the memory that contains it. */
  newest(): Pick<TaskState, 'memory' | 'save'>;
  /** Resolves once everything saved would survive a power cut. */
  durable(): Promise<void>;
  /** Warns, once, that the state cannot be saved. */
  complain(error: unknown): void;
  /** Stops all writing, because another driver has taken over the task. */
  mute(): void;
  /**
   * Records that the ending has been announced: removes the driver from the state and, if the task is
   * archived, what was only needed to resume it.
   */
  published(): Promise<void>;
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
  const files = filesBeside(paths.folder, request.files, seal, run);
  let places = paths;
  let warned = false;
  let muted = false;
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
    warn(
      `The state cannot be kept (${messageOf(error)}). The loop goes on, but cannot be resumed.`,
    );
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
    makeTaskFolder(paths);
    removeHalfWritten(paths.folder, '');
    removeHalfWritten(paths.stateDir, path.basename(paths.stateFile));
    makeDurable(await Promise.all(files.map((file) => file.write())));
  };

  /** Restores files that an agent may have changed to remove its own restrictions. */
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
      // Set only now: if `writeState` fails, no state names the new memory, and the next save must
      // overwrite it.
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
        archiveNamesake(paths);
        places = await retryBusy(async () => moveToHistory(paths, run.task_id));
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
    complain,
    mute() {
      muted = true;
    },
    published: () =>
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

/** Returns the length of the running iteration's log, in bytes; 0 if no iteration runs. */
function logBytesOf(paths: TaskPaths, { step, task }: LoopState): number {
  if (!isAtWork(step)) return 0;
  const { stdout } = transcriptNames(task.current_iteration);
  return statSync(`${paths.folder}/${stdout}`, { throwIfNoEntry: false })?.size ?? 0;
}
