import type { ReadSnapshotMessage, UndoTrees } from './snapshot-message.ts';
import { readSnapshotName, type SnapshotName } from './snapshot-names.ts';

/** A snapshot, as read from its ref and its message. */
export interface ListedSnapshot extends ReadSnapshotMessage {
  /** The last part of the ref, such as `3` or `undo.1`. */
  readonly name: string;
  readonly commit: string;
  readonly tree: string;
}

type PlacedSnapshot = ListedSnapshot & { readonly what: SnapshotName };

/** The snapshots of a task in the order in which they were taken. */
export interface Timeline {
  readonly snapshots: readonly PlacedSnapshot[];
  /** The names of snapshots whose commits are missing or damaged. */
  readonly lost: readonly string[];
}

/** Sorts snapshots by age; skips any whose name is not one that ralph gives. */
export function timelineOf(
  listed: readonly ListedSnapshot[],
  lost: readonly string[] = [],
): Timeline {
  const snapshots = listed
    .flatMap((snapshot) => {
      const what = readSnapshotName(snapshot.name);
      return what === null ? [] : [{ ...snapshot, what }];
    })
    .sort((one, other) => one.order - other.order);
  return { snapshots, lost };
}

/** Two trees, of which the second is the later one. */
export interface TreePair {
  readonly from: string;
  readonly to: string;
}

/** Two trees between which something other than the agent may have changed files. */
interface Gap extends TreePair {
  /** For a gap before an undo, the tree that the undo left. A path that is equal in `to` and `left` was not changed. */
  readonly left: string | null;
}

/** An undo or a redo that may not have been finished. */
interface BegunUndo extends TreePair {
  /** Whether the undo or redo to be done now is a repetition of this one. */
  readonly isSame: boolean;
}

/** The trees and changes that an undo or a redo deals with. */
export interface UndoSpan {
  /** The snapshot that the undo or redo goes back to. */
  readonly base: ListedSnapshot;
  /** The tree that the undo or redo goes back to. */
  readonly before: string;
  /** The tree at the end of the changes that are taken back; for a redo, the tree that the undo to be reverted left. */
  readonly after: string;
  /** The tree that ralph left last: the newest end of an iteration, with what undos have restored since. */
  readonly ours: string;
  /** The newest undo or redo, if nothing came after it, since it may be unfinished; otherwise null. */
  readonly begun: BegunUndo | null;
  readonly gaps: readonly Gap[];
  readonly isRedo: boolean;
}

/**
 * Returns the trees for an undo of `iteration` and all later ones; null if there is no such iteration or the snapshot
 * before it is gone. `iterationsWithStart` lists the iterations that can be undone.
 */
export function undoSpan(timeline: Timeline, iteration: number): UndoSpan | null {
  const { snapshots } = timeline;
  const first = firstFrom(timeline, iteration);
  const base = snapshots[first - 1];
  const hasWork = snapshots.some(({ what }) => workOf(what) >= iteration);
  if (base === undefined || !hasWork || !isNext(base, snapshots[first])) return null;
  const gaps: Gap[] = [];
  let left = leftBy(base);
  for (const snapshot of snapshots.slice(first)) {
    const isWork = snapshot.what.kind === 'end' || snapshot.what.kind === 'attempt';
    const from = snapshot.undone?.fromTree ?? left;
    if (!isWork && snapshot.tree !== from) {
      gaps.push({ from, to: snapshot.tree, left: snapshot.undone?.leftTree ?? null });
    }
    left = leftBy(snapshot);
  }
  const last = snapshots.at(-1)?.undone;
  const isSame = last?.base === base.name && !last.isRedo;
  const begun = begunUndo(snapshots, isSame);
  return { base, before: leftBy(base), after: left, ours: left, gaps, begun, isRedo: false };
}

/** Returns the trees for an undo of iterations that changed nothing; null if there is no snapshot. */
export function emptySpan({ snapshots }: Timeline): UndoSpan | null {
  const base = snapshots.at(-1);
  if (base === undefined) return null;
  const tree = leftBy(base);
  return {
    ...{ base, before: tree, after: tree, ours: tree },
    ...{ begun: null, gaps: [], isRedo: false },
  };
}

/** Returns what `--redo` may do, likeliest first: finish a redo that was cut off, or revert an undo (newest first). */
export function redoSpans(timeline: Timeline, isCutOff: boolean): readonly UndoSpan[] {
  const { snapshots } = timeline;
  const newest = snapshots.at(-1);
  if (newest === undefined) return [];
  const redoOf = (base: Undone, begun: BegunUndo | null): UndoSpan => ({
    ...{ base, before: base.undone.fromTree, after: base.undone.leftTree, ours: leftBy(newest) },
    ...{ begun, gaps: [], isRedo: true },
  });
  const stack = openUndos(timeline).map((undo) => redoOf(undo, null));
  if (!isCutOff || newest.undone?.isRedo !== true) return stack;
  const { base } = newest.undone;
  const redone = (snapshots as readonly ListedSnapshot[])
    .filter(isUndone)
    .findLast(({ name }) => name === base);
  return redone === undefined ? stack : [redoOf(redone, begunUndo(snapshots, true)), ...stack];
}

/** A snapshot that was taken before an undo or a redo. */
type Undone = ListedSnapshot & { readonly undone: UndoTrees };

function isUndone(snapshot: ListedSnapshot): snapshot is Undone {
  return snapshot.undone !== null;
}

/** Returns the undos since the last iteration that have not been redone, the newest first. */
function openUndos({ snapshots }: Timeline): readonly Undone[] {
  return snapshots.reduce<readonly Undone[]>((stack, snapshot: ListedSnapshot, place) => {
    if (!isUndone(snapshot)) return [];
    const { base, isRedo } = snapshot.undone;
    if (isRedo) return stack.slice(1 + stack.findIndex(({ name }) => name === base));
    // An undo that directly repeats the one before it continues that undo, so it replaces that undo here.
    const isSame = stack[0] !== undefined && stack[0] === snapshots[place - 1];
    return [snapshot, ...stack.slice(isSame && stack[0]?.undone.base === base ? 1 : 0)];
  }, []);
}

/** Returns the undo or redo of the newest snapshot; null if that snapshot has none. */
function begunUndo(snapshots: Timeline['snapshots'], isSame: boolean): BegunUndo | null {
  const undone = snapshots.at(-1)?.undone ?? null;
  return undone === null ? null : { from: undone.fromTree, to: undone.leftTree, isSame };
}

/**
 * Returns the trees before and after the iterations from `first` to `last`; null if a snapshot that shows them is
 * gone. Iterations that changed nothing have no snapshot; if none changed anything, both trees are the same.
 */
export function changesIn(timeline: Timeline, first: number, last: number): TreePair | null {
  const { snapshots } = timeline;
  const start = firstFrom(timeline, first);
  const [base, next] = start === -1 ? [snapshots.at(-1)] : [snapshots[start - 1], snapshots[start]];
  if (base === undefined || (next !== undefined && !isNext(base, next))) return null;
  const end = snapshots.findLast(({ what }) => workOf(what) >= first && workOf(what) <= last);
  return { from: leftBy(base), to: end?.tree ?? leftBy(base) };
}

/** Returns the trees at the start and now, without changes that were undone; null if there is no snapshot. */
export function changesSinceStart({ snapshots }: Timeline): TreePair | null {
  const [first, newest] = [snapshots[0], snapshots.at(-1)];
  if (first === undefined || newest === undefined) return null;
  return { from: first.tree, to: leftBy(newest) };
}

/** Returns the index of the first snapshot taken after an iteration began; -1 if there is none. */
function firstFrom({ snapshots }: Timeline, iteration: number): number {
  return snapshots.findIndex(
    ({ what }) =>
      workOf(what) >= iteration || (what.kind === 'start' && what.iteration > iteration),
  );
}

/** Returns, in order, the iterations whose trees before and after are both kept. */
export function iterationsWithStart({ snapshots }: Timeline): readonly number[] {
  const seen = new Set<number>();
  const whole = snapshots.flatMap(({ what }, place) => {
    const number = workOf(what);
    if (number === 0 || seen.has(number)) return [];
    seen.add(number);
    return isNext(snapshots[place - 1], snapshots[place]) ? [number] : [];
  });
  return whole.sort((one, other) => one - other);
}

/** Whether one snapshot directly follows another, so that none between them was dropped. */
function isNext(one: ListedSnapshot | undefined, other: ListedSnapshot | undefined): boolean {
  return one !== undefined && other !== undefined && one.order + 1 === other.order;
}

/** Returns the iteration whose work a snapshot shows; 0 if it shows none. */
function workOf(what: SnapshotName): number {
  return what.kind === 'end' || what.kind === 'attempt' ? what.iteration : 0;
}

/** Returns the tree that was left at a snapshot: its own tree, or for a snapshot before an undo, what the undo left. */
export function leftBy({ tree, undone }: ListedSnapshot): string {
  return undone?.leftTree ?? tree;
}
