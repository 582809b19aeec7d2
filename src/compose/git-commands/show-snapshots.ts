import { shownPath } from '../../core/snapshots/shown-path.ts';
import { changesIn, changesSinceStart, type TreePair } from '../../core/snapshots/timeline.ts';
import { GitError } from '../../effects/git/git-error.ts';
import { countLines, countPaths } from '../../effects/git/questions/diffs.ts';
import { compareTrees } from '../../effects/snapshots/trees.ts';
import { CommandError } from '../../errors.ts';
import {
  changedNothing,
  type NamedTask,
  openTaskSnapshots,
  type TaskSnapshots,
  unknownIteration,
} from './task-snapshots.ts';

/** The iterations whose changes are shown; null for all changes since the start. */
export type ShownIterations = { readonly first: number; readonly last: number } | null;

export interface ChangedFile {
  readonly path: string;
  readonly status: 'added' | 'deleted' | 'modified' | 'type-changed';
  /** The number of lines; like `removed`, null for a binary file. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** Returns the files that iterations changed, for programs. Rejects with a `CommandError`. */
export async function filesOfIterations(
  task: NamedTask,
  runId: string,
  iterations: ShownIterations,
): Promise<readonly ChangedFile[]> {
  const snapshots = await openTaskSnapshots(task, runId, false);
  const { git } = snapshots.keeper;
  const pair = pairOf(task, snapshots, iterations);
  const difference = await read(task, compareTrees(git, pair.from, pair.to));
  const lines = await read(task, countLines(git.own, pair));
  return [...difference].map(([name, { from, to }]) => ({
    path: shownPath(name),
    status: from === null ? 'added' : to === null ? 'deleted' : kindOf(from, to),
    added: lines.get(name)?.added ?? null,
    removed: lines.get(name)?.removed ?? null,
  }));
}

function kindOf(from: string, to: string): ChangedFile['status'] {
  // The first three digits of git's mode say whether it is a file, a link or a repository.
  return from.slice(0, 3) === to.slice(0, 3) ? 'modified' : 'type-changed';
}

/** Lets git print what iterations changed, and run no diff program for that. Resolves to git's exit code. */
export async function showChanges(
  task: NamedTask,
  runId: string,
  iterations: ShownIterations,
  asStat: boolean,
): Promise<number> {
  const snapshots = await openTaskSnapshots(task, runId, false);
  const { from, to } = pairOf(task, snapshots, iterations);
  return snapshots.keeper.git.showDiff(from, to, asStat);
}

function pairOf(task: NamedTask, snapshots: TaskSnapshots, iterations: ShownIterations): TreePair {
  if (iterations === null) {
    const { tree } = snapshots.newest;
    return changesSinceStart(snapshots.timeline) ?? { from: tree, to: tree };
  }
  const { first, last } = iterations;
  const pair = changesIn(snapshots.timeline, first, last);
  const hasWork = snapshots.iterations.some((each) => each >= first && each <= last);
  if (pair !== null && (hasWork || changedNothing(task, snapshots, { first, last }))) return pair;
  const wanted = first === last ? `iteration ${first}` : `iterations ${first} to ${last}`;
  throw unknownIteration(snapshots, wanted);
}

/** A row in the list of snapshots. */
export interface ListedRow {
  readonly name: string;
  /** Null for an undo. */
  readonly iteration: number | null;
  readonly at: string;
  /** How many files differ from the previous snapshot; for an undo, how many files it restored. */
  readonly files: number;
  /** For example `iteration 3: answered`. */
  readonly what: string;
  readonly commit: string;
}

/** Lists the snapshots of a task. Rejects with a `CommandError`. */
export async function listTaskSnapshots(
  task: NamedTask,
  runId: string,
): Promise<readonly ListedRow[]> {
  const { timeline, keeper } = await openTaskSnapshots(task, runId, false);
  const { snapshots } = timeline;
  const pairs = snapshots.map(({ tree, undone }, place) =>
    undone === null
      ? { from: snapshots[place - 1]?.tree ?? tree, to: tree }
      : { from: undone.fromTree, to: undone.leftTree },
  );
  const counts = await read(task, countPaths(keeper.git.own, pairs));
  return snapshots.map(({ name, what, at, subject, commit }, place) => ({
    name,
    iteration: what.kind === 'undo' ? null : what.iteration,
    at,
    files: counts[place] ?? 0,
    what: subject,
    commit,
  }));
}

async function read<T>({ state }: NamedTask, reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    throw new CommandError(
      `The snapshots of ${state.task_id} cannot be read by git, which finds some of their objects missing; git fsck tells more.`,
    );
  });
}
