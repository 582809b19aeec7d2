import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDriverAlive } from '../../core/task/driver.ts';
import { hasLiveDriver } from '../../core/task/shown-task.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { namesIn } from '../files/folder.ts';
import { thisPlace } from '../lock/driver-identity.ts';
import { logParts } from '../logs/bounded-log.ts';
import { transcriptNames } from '../logs/iteration-log.ts';
import { type LogTail, openLogTail } from '../logs/log-tail.ts';
import { findRun, findTaskEntry, findTaskFolder, isRealFolder } from './task-list.ts';

/** One piece of a task's logs, in order. A chunk is valid until the next piece is requested. */
export type LogPiece =
  | { readonly kind: 'iteration'; readonly number: number }
  | { readonly kind: 'stdout'; readonly chunk: Buffer }
  /** Standard output of the iteration has ended; its standard error follows, if there is any. */
  | { readonly kind: 'stdout-end' }
  | { readonly kind: 'stderr'; readonly chunk: Buffer }
  | { readonly kind: 'stderr-end' };

export interface TaskLogs {
  /** The numbers of the iterations that have a log so far, in order. */
  iterations(): readonly number[];
  /** Yields all iterations, or one if `iteration` is not null; `follow` waits for the loop's end. */
  read(options: {
    readonly iteration: number | null;
    readonly follow: boolean;
  }): AsyncGenerator<LogPiece>;
}

/** How often a growing log is polled. */
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

/** A loop whose logs are being read: it may end at any time, and then its folder moves to the history. */
interface Loop {
  readonly folder: () => string;
  /** Whether the logs are complete. */
  readonly isOver: () => boolean;
}

function findLoop(stateDir: string, taskId: string): Loop | null {
  const entry = findTaskEntry(stateDir, taskId);
  const first = entry?.folder ?? findTaskFolder(stateDir, taskId);
  if (first === null) return null;
  if (entry?.found.kind !== 'task') return { folder: () => first, isOver };

  const { task_id, started_at } = entry.found.state;
  let folder = first;
  let driver: Driver | null = entry.found.state.driver;
  const find = () => {
    const run = findRun(stateDir, task_id, started_at);
    if (run?.found.kind !== 'task') return null;
    // The folder moves a moment before the state file does.
    if (isRealFolder(run.folder)) folder = run.folder;
    else if (!run.archived) folder = path.join(stateDir, 'history', run.name);
    return run.found.state;
  };
  return {
    folder: () => {
      if (!isRealFolder(folder)) find();
      return folder;
    },
    isOver: () => {
      const here = thisPlace(new Date().toISOString());
      const state = find();
      // The state file was deleted; a living driver will write it again.
      if (state === null) return driver === null || !isDriverAlive(driver, here);
      driver = state.driver;
      return !hasLiveDriver(state, here);
    },
  };
}

async function* readLogs(loop: Loop, only: number | null): AsyncGenerator<LogPiece> {
  let last = 0;
  for (;;) {
    // Checked before reading: once the loop has ended, no more iterations are added.
    const isEnd = loop.isOver();
    const number = iterationsIn(loop.folder()).find((each) => each > last && each >= (only ?? 0));
    if (number === undefined || number > (only ?? number)) {
      if (isEnd || number !== undefined) return;
      await pause(LOOK_MS);
      continue;
    }
    yield { kind: 'iteration', number };
    yield* readStdout(loop, number);
    yield { kind: 'stdout-end' };
    for (const part of logParts(transcriptNames(number).stderr))
      yield* partOf(loop, part, 'stderr');
    yield { kind: 'stderr-end' };
    if (number === only) return;
    last = number;
  }
}

async function* readStdout(loop: Loop, number: number): AsyncGenerator<LogPiece> {
  const { stdout } = transcriptNames(number);
  let tail: LogTail | null = null;
  try {
    for (;;) {
      const isEnd = loop.isOver() || iterationsIn(loop.folder()).some((each) => each > number);
      tail ??= openIn(loop, stdout);
      if (tail !== null) yield* piecesOf(tail, 'stdout');
      if (isEnd) break;
      await pause(LOOK_MS);
    }
    // An attempt that is under way, or whose driver was killed, has not joined the end of the log to its beginning yet.
    for (const part of logParts(stdout).slice(1)) yield* partOf(loop, part, 'stdout');
  } finally {
    tail?.close();
  }
}

/** Opens a log. Tries twice, since the folder may move between finding and opening the log. */
function openIn(loop: Loop, name: string): LogTail | null {
  return openLogTail(path.join(loop.folder(), name)) ?? openLogTail(path.join(loop.folder(), name));
}

/** Yields what a part of a log holds; nothing if it is not there. */
function* partOf(loop: Loop, name: string, kind: 'stdout' | 'stderr'): Generator<LogPiece> {
  const part = openIn(loop, name);
  if (part !== null) yield* piecesOf(part, kind);
  part?.close();
}

function* piecesOf(tail: LogTail, kind: 'stdout' | 'stderr'): Generator<LogPiece> {
  for (const chunk of tail.pieces()) yield { kind, chunk };
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
