import { lstatSync, rmSync, type Stats } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { SCHEMA_VERSION } from '../../core/task/task-state.ts';
import { messageOf } from '../../errors.ts';
import { namesIn } from '../files/folder.ts';
import { numberAt, stringAt } from '../files/json-fields.ts';
import { isRealFolder, readStateObject } from './task-list.ts';

/** An old task or file that was removed or, with `dryRun`, would be removed. */
export interface Pruned {
  readonly kind: 'task' | 'corrupt-file';
  readonly name: string;
  readonly bytes: number;
  /** Why it was not removed; null if it was, or if only `dryRun` kept it. */
  readonly failure: string | null;
}

/**
 * Removes the tasks in the history that ended before an instant (in milliseconds) and, there and in the state folder,
 * the older files that were set aside as corrupt. With `dryRun`, only lists them. Keeps everything else in the state
 * folder, symbolic links, tasks of a newer ralph, and the tasks in `staying`, which gives the reason for each.
 */
export function* pruneHistory(
  stateDir: string,
  {
    beforeMs,
    dryRun,
    staying,
  }: {
    readonly beforeMs: number;
    readonly dryRun: boolean;
    readonly staying?: ReadonlyMap<string, string>;
  },
): Generator<Pruned> {
  const history = path.join(stateDir, 'history');
  const old = [
    ...(isRealFolder(history)
      ? [...oldTasks(history, beforeMs), ...oldCorrupt(history, beforeMs)]
      : []),
    ...oldCorrupt(stateDir, beforeMs),
  ];
  for (const { kind, name, files } of old) {
    const bytes = files.reduce((sum, file) => sum + bytesOf(file), 0);
    const why = kind === 'task' ? staying?.get(name) : undefined;
    yield { kind, name, bytes, failure: why ?? (dryRun ? null : remove(files)) };
  }
}

interface Old {
  readonly kind: Pruned['kind'];
  readonly name: string;
  /** The files in the order of removal. */
  readonly files: readonly string[];
}

function oldTasks(history: string, beforeMs: number): Old[] {
  const names = new Set(
    namesIn(history)
      .map((name) => name.replace(/\.json$/, ''))
      .filter(isTaskId),
  );
  return [...names].flatMap((name) => {
    const [stateFile, folder] = [path.join(history, `${name}.json`), path.join(history, name)];
    const [state, logs] = [look(stateFile), look(folder)];
    if (!state?.isFile() && !logs?.isDirectory()) return [];
    const endedMs = state?.isFile() ? endOf(stateFile, state) : (logs?.mtimeMs ?? null);
    if (endedMs === null || endedMs >= beforeMs) return [];
    // The state is removed last: after an interruption, the next call finds the rest through it.
    const files = [
      ...(logs?.isDirectory() ? [folder] : []),
      ...(state?.isFile() ? [stateFile] : []),
    ];
    return [{ kind: 'task', name, files }];
  });
}

function oldCorrupt(folder: string, beforeMs: number): Old[] {
  return namesIn(folder)
    .filter((name) => name.includes('.corrupt-'))
    .flatMap((name) => {
      const file = path.join(folder, name);
      const stats = look(file);
      if (!stats?.isFile() || stats.mtimeMs >= beforeMs) return [];
      return [{ kind: 'corrupt-file', name, files: [file] }];
    });
}

/** Returns when a task ended, from its state or the file's time; null if a newer ralph wrote the state. */
function endOf(stateFile: string, stats: Stats): number | null {
  const state = readStateObject(stateFile);
  const version = state === null ? null : numberAt(state, 'schema_version');
  if (version !== null && version > SCHEMA_VERSION) return null;
  const finishedMs = Date.parse((state === null ? null : stringAt(state, 'finished_at')) ?? '');
  return Number.isNaN(finishedMs) ? stats.mtimeMs : finishedMs;
}

function look(file: string): Stats | undefined {
  return lstatSync(file, { throwIfNoEntry: false });
}

/** Returns the size of a file or a whole folder; symbolic links are not followed. */
function bytesOf(file: string): number {
  const stats = look(file);
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.size;
  return namesIn(file).reduce((sum, name) => sum + bytesOf(path.join(file, name)), 0);
}

/** Removes files and folders; returns why this failed, or null. Keeps the targets of symbolic links. */
function remove(files: readonly string[]): string | null {
  try {
    for (const file of files) rmSync(file, { recursive: true, force: true });
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
