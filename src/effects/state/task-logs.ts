import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasLiveDriver } from '../../core/task/shown-task.ts';
import { lstatOf } from '../files/file-kinds.ts';
import { namesIn } from '../files/folder.ts';
import { thisPlace } from '../lock/driver-identity.ts';
import { liveClaim } from '../lock/task-lock.ts';
import { type LogChunk, logReader } from '../logs/bounded-log.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { taskPaths } from './task-folder.ts';
import { findTaskEntry, findTaskFolder, isRealFolder } from './task-list.ts';

/** One piece of a task's logs, in order. */
export type LogPiece =
  | { readonly kind: 'iteration'; readonly number: number }
  | ({ readonly kind: 'stdout' } & LogChunk)
  /** Standard output of the iteration has ended; its standard error follows, if there is any. */
  | { readonly kind: 'stdout-end' }
  | ({ readonly kind: 'stderr' } & LogChunk)
  | { readonly kind: 'stderr-end' };

export interface TaskLogs {
  iterations(): readonly number[];
  /** Yields all iterations, or one if `iteration` is not null; `follow` waits until no process runs the task. */
  read(options: {
    readonly iteration: number | null;
    readonly follow: boolean;
  }): AsyncGenerator<LogPiece>;
}

const LOOK_MS = 250;

/** Finds the logs of a task, running or in the history; returns null if there is no such task. */
export function openTaskLogs(stateDir: string, taskId: string): TaskLogs | null {
  const loop = findLoop(stateDir, taskId);
  if (loop === null) return null;
  return {
    iterations: () => iterationsIn(loop.folder()),
    read: ({ iteration, follow }) => readLogs(follow ? loop : { ...loop, isOver }, iteration),
  };
}

const isOver = (): boolean => true;

/** A run of a task whose logs are being read: it may end at any time, and then its folder moves to the history. */
interface Loop {
  readonly folder: () => string;
  /** Whether no process runs the task, so that its logs are complete. */
  readonly isOver: () => boolean;
}

function findLoop(stateDir: string, taskId: string): Loop | null {
  const first = findTaskEntry(stateDir, taskId)?.folder ?? findTaskFolder(stateDir, taskId);
  if (first === null) return null;
  const { folder: open, history } = taskPaths(stateDir, taskId);
  let folder = first;
  let inode = lstatOf(first)?.ino ?? null;
  const find = (): string => {
    inode ??= lstatOf(folder)?.ino ?? null;
    // A later run of the same id may already have a folder in the same place.
    const isOwn = (place: string): boolean => lstatOf(place)?.ino === inode;
    if (inode !== null && !isOwn(folder)) {
      const names = namesIn(history).filter((name) => `${name}.`.startsWith(`${taskId}.`));
      const places = [open, ...names.map((name) => path.join(history, name))];
      folder = places.find(isOwn) ?? folder;
    }
    return folder;
  };
  return {
    folder: find,
    isOver() {
      // Then a later run has archived this one under its start time.
      if (![open, path.join(history, taskId)].includes(find())) return true;
      const here = thisPlace(new Date().toISOString());
      if (liveClaim(stateDir, taskId, here) !== null) return false;
      // A driver that could store no claim runs the task without one.
      const entry = findTaskEntry(stateDir, taskId);
      return entry?.found.kind !== 'task' || !hasLiveDriver(entry.found.state, here);
    },
  };
}

async function* readLogs(loop: Loop, only: number | null): AsyncGenerator<LogPiece> {
  let last = 0;
  // The folder is listed only if no listed iteration is left: there may be thousands.
  let listed: readonly number[] = [];
  for (;;) {
    // Checked before reading: once the loop has ended, no more iterations are added.
    const isEnd = loop.isOver();
    const isNext = (each: number): boolean => each > last && each >= (only ?? 0);
    if (!listed.some(isNext)) listed = iterationsIn(loop.folder());
    const number = listed.find(isNext);
    if (number === undefined || number > (only ?? number)) {
      if (isEnd || number !== undefined) return;
      await pause(LOOK_MS);
      continue;
    }
    yield { kind: 'iteration', number };
    const { stdout, stderr } = transcriptNames(number);
    const read = logReader();
    for (let isWhole = false; !isWhole; ) {
      isWhole = listed.some((each) => each > number) || loop.isOver();
      if (!isWhole) listed = iterationsIn(loop.folder());
      yield* added(loop, stdout, read, 'stdout');
      if (!isWhole) await pause(LOOK_MS);
    }
    yield { kind: 'stdout-end' };
    yield* added(loop, stderr, logReader(), 'stderr');
    yield { kind: 'stderr-end' };
    if (number === only) return;
    last = number;
  }
}

/** Yields what was added to a log. Looks again if the folder has moved meanwhile. */
function* added(
  loop: Loop,
  name: string,
  read: (log: string) => Generator<LogChunk>,
  kind: 'stdout' | 'stderr',
): Generator<LogPiece> {
  for (let folder = '', now = loop.folder(); now !== folder; now = loop.folder()) {
    folder = now;
    for (const each of read(path.join(folder, name))) yield { kind, ...each };
  }
}

/** Returns the iterations that have a log; empty if the folder has just moved. */
function iterationsIn(folder: string): readonly number[] {
  if (!isRealFolder(folder)) return [];
  const numbers = new Set<number>();
  for (const name of namesIn(folder)) {
    const [, digits] = /^iteration-(\d{4,15})\.std(?:out|err)\.log$/.exec(name) ?? [];
    if (digits !== undefined) numbers.add(Number(digits));
  }
  return [...numbers].sort((one, other) => one - other);
}
