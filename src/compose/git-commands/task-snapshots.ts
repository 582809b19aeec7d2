import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  changesIn,
  iterationsWithStart,
  type ListedSnapshot,
  type Timeline,
} from '../../core/snapshots/timeline.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { leadsOut } from '../../effects/files/real-path.ts';
import { outerEnvironment } from '../../effects/plan/outer-environment.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import { openTreeKeeper, type TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';
import { readSnapshotIds, type SnapshotIds } from '../../effects/snapshots/snapshot-ids.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { uncountedFolders } from '../../effects/vault/vault-folders.ts';
import { CommandError, messageOf } from '../../errors.ts';
import { startFolderOf } from './task-repository.ts';

/** A task that a command names. */
export interface NamedTask {
  readonly state: TaskState;
  readonly paths: TaskPaths;
  /** Absolute path. */
  readonly vault: string;
}

/** The snapshots of a task, and where they are. */
export interface TaskSnapshots {
  readonly taskId: string;
  readonly keeper: TreeKeeper;
  readonly timeline: Timeline;
  readonly newest: ListedSnapshot;
  /** The iterations that can be shown and undone, in order. */
  readonly iterations: readonly number[];
}

/**
 * Opens the snapshots of a task. With `needsTree` the task's own work tree must exist; otherwise any work tree of the
 * repository is enough. Rejects with a `CommandError` that says why there are no snapshots.
 */
export async function openTaskSnapshots(
  task: NamedTask,
  runId: string,
  needsTree: boolean,
  ids: SnapshotIds = readSnapshotIds(task.paths.folder),
): Promise<TaskSnapshots> {
  const { state, paths } = task;
  const taskId = state.task_id;
  const stored = readStoredRun(paths.folder);
  if (state.git.snapshots === null) {
    throw none(
      taskId,
      stored?.settings.snapshots === false
        ? 'it ran with --no-snapshots'
        : 'it did not run in a git work tree, or an older ralph ran it',
    );
  }
  if (stored === null)
    throw none(taskId, `its settings.json in ${paths.folder} is gone or damaged`);
  if (leadsOut(paths.folder, paths.stateDir)) {
    throw none(taskId, `${paths.folder} is a link that leads out`);
  }
  const own = state.git.work_tree;
  const cwd = startFolderOf(stored);
  const places = own === null ? [cwd] : needsTree ? [own.path] : [own.path, own.origin];
  const place = places.find((each) => existsSync(each)) ?? (own === null ? nearest(cwd) : null);
  if (place === null) throw none(taskId, `its work tree ${own?.path} is gone`);
  const keeper = await openTreeKeeper({
    ...{ cwd: place, taskId, ids, runId, env: outerEnvironment(process.env, stored) },
    excluded: uncountedFolders(task.vault, paths.stateDir),
    excludedGlobs: stored.settings.snapshotExclude,
    maxBytes: stored.settings.snapshotLimit,
    folder: path.join(paths.folder, 'git'),
    signal: new AbortController().signal,
    now: systemClock.now,
    warn: () => {},
    notice: () => {},
  }).catch((error: unknown) => {
    throw none(taskId, messageOf(error));
  });
  if (keeper === null) throw none(taskId, `git opens no work tree at ${place}`);
  const timeline = await keeper.timeline();
  const newest = timeline.snapshots.at(-1);
  if (newest === undefined) {
    const why = timeline.lost.length > 0 ? 'git has lost them' : 'they could not be made';
    throw none(taskId, `${why}, or somebody has removed or replaced them`);
  }
  return { taskId, keeper, timeline, newest, iterations: iterationsWithStart(timeline) };
}

/** Returns the folder, or the nearest one above it that exists: the agent may have deleted its own folder. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(path.dirname(folder));
}

function none(taskId: string, why: string): CommandError {
  return new CommandError(`Task ${taskId} has no snapshots that can be used: ${why}.`);
}

/** Returns the iterations that changed files and whose snapshots are missing. */
export function missingIterations(
  { state }: Pick<NamedTask, 'state'>,
  { timeline }: Pick<TaskSnapshots, 'timeline'>,
): readonly number[] {
  const there = new Set(
    timeline.snapshots.flatMap(({ what }) => (what.kind === 'undo' ? [] : [what.iteration])),
  );
  return state.iterations
    .filter(({ number, files_changed }) => (files_changed ?? 0) > 0 && !there.has(number))
    .map(({ number }) => number);
}

/** Whether the iterations from `first` to `last` are over, with no change that a snapshot would contain. */
export function changedNothing(
  task: Pick<NamedTask, 'state'>,
  snapshots: Pick<TaskSnapshots, 'timeline' | 'iterations'>,
  { first, last }: { readonly first: number; readonly last: number },
): boolean {
  const isAmong = (number: number): boolean => number >= first && number <= last;
  // The state lists only the newest iterations, so the first ones cannot be looked up in it, but the last one can.
  const isOver = first <= (task.state.iterations.at(-1)?.number ?? 0);
  const known = [...snapshots.iterations, ...missingIterations(task, snapshots)];
  return isOver && !known.some(isAmong) && changesIn(snapshots.timeline, first, last) !== null;
}

/** Returns the error for an iteration without snapshots. It names the iterations that have some. */
export function unknownIteration(
  { taskId, iterations }: TaskSnapshots,
  wanted: string,
): CommandError {
  const there =
    iterations.length === 0 ? 'no iteration of it has some' : `there are ${inWords(iterations)}`;
  return new CommandError(
    `Task ${taskId} has no snapshots from before and after ${wanted}; ${there}.`,
  );
}

/** Writes numbers as spans: `1 to 4, 7` for 1, 2, 3, 4, 7. */
function inWords(numbers: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else spans.push([number, number]);
  }
  return spans.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
}
