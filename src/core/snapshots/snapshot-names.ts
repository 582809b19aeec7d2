/*
 * The names of snapshots below `refs/ralph/<task>@<mark>/`:
 *
 *   0            before the first iteration
 *   3.0          before iteration 3, if something has changed since the end of iteration 2
 *   3.1, 3.2 …   after an attempt of iteration 3 that was tried again, or that a resume found half done, or after
 *                a commit at which files were rewritten
 *   3            at the end of iteration 3
 *   undo.1 …     before an undo or a redo
 */

/** The snapshot from before the first iteration. */
export const START = '0';

export type SnapshotName =
  | { readonly kind: 'start'; readonly iteration: number }
  | { readonly kind: 'attempt'; readonly iteration: number; readonly number: number }
  | { readonly kind: 'end'; readonly iteration: number }
  | { readonly kind: 'undo'; readonly number: number };

/** Reads the name of a snapshot; null if it is not such a name. */
export function readSnapshotName(name: string): SnapshotName | null {
  const undo = /^undo\.([1-9]\d*)$/.exec(name)?.[1];
  if (undo !== undefined) return { kind: 'undo', number: Number(undo) };
  const found = /^(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?$/.exec(name);
  if (found === null) return null;
  const iteration = Number(found[1]);
  if (iteration === 0) return found[2] === undefined ? { kind: 'start', iteration: 1 } : null;
  if (found[2] === undefined) return { kind: 'end', iteration };
  const number = Number(found[2]);
  return number === 0 ? { kind: 'start', iteration } : { kind: 'attempt', iteration, number };
}

/** Yields the possible names for the tree before an iteration. The caller uses the first free one. */
export function* startNames(iteration: number, isFirst: boolean): Generator<string> {
  if (isFirst) yield START;
  for (let number = 0; ; number += 1) yield `${iteration}.${number}`;
}

/** Yields the possible names for the tree after an attempt that does not end its iteration. */
export function* attemptNames(iteration: number): Generator<string> {
  for (let number = 1; ; number += 1) yield `${iteration}.${number}`;
}

/** Yields the possible names for the tree at the end of an iteration. */
export function* endNames(iteration: number): Generator<string> {
  yield `${iteration}`;
  yield* attemptNames(iteration);
}

export function* undoNames(): Generator<string> {
  for (let number = 1; ; number += 1) yield `undo.${number}`;
}

/**
 * Returns the prefix of the refs of a task's snapshots. Task ids can occur again in other folders and later runs, so
 * the random mark keeps the refs apart. Two dots are replaced, since git refuses them.
 */
export function snapshotRefs(taskId: string, mark: string): string {
  return `refs/ralph/${taskId.replaceAll('..', '%2E%2E')}@${mark}`;
}

/** Whether a text can be the prefix of the refs of snapshots. */
export function isSnapshotRefs(text: string): boolean {
  return /^refs\/ralph\/[A-Za-z0-9._%@-]+$/.test(text);
}
