import type { ReadSnapshotMessage, UndoTrees } from './snapshot-message.ts';
import { readSnapshotName, type SnapshotName } from './snapshot-names.ts';

/** A snapshot as its ref and its message tell it. */
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
  /** Names of those whose commits are gone, or are not what their ids say. */
  readonly lost: readonly string[];
}

/** Puts snapshots in order; skips those whose names ralph does not give. */
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

/** Two trees, of which the second one came later. */
export interface TreePair {
  readonly from: string;
  readonly to: string;
}

/** Trees between which something else than the agent may have changed files. */
interface Gap extends TreePair {
  /** Before an undo: what that left behind. A path that was so already is nobody else's. */
  readonly left: string | null;
}

/** An undo or a redo that may not have been finished. */
interface BegunUndo extends TreePair {
  /** Whether what is to be done now is the same undo. */
  readonly isSame: boolean;
}

/** What an undo or a redo is about. */
export interface UndoSpan {
  /** The snapshot that it goes back to. */
  readonly base: ListedSnapshot;
  /** The tree that it goes back to. */
  readonly before: string;
  /** The tree in which what it takes back has ended: for a redo, what its undo left behind. */
  readonly after: string;
  /** What ralph left last: the newest end, with what undos have put back since. */
  readonly ours: string;
  /** The undo that was begun last, if nothing came after it: it may not have been finished. */
  readonly begun: BegunUndo | null;
  readonly gaps: readonly Gap[];
  readonly isRedo: boolean;
}

/**
 * Returns what an undo of iteration `iteration` and all after it is about. Null if there is no such one, or
 * the snapshot before it is gone: `iterationsWithStart` has those that can be undone.
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

/** Returns what an undo of iterations that changed nothing is about; null if there is no snapshot. */
export function emptySpan({ snapshots }: Timeline): UndoSpan | null {
  const base = snapshots.at(-1);
  if (base === undefined) return null;
  const tree = leftBy(base);
  return {
    ...{ base, before: tree, after: tree, ours: tree },
    ...{ begun: null, gaps: [], isRedo: false },
  };
}

/**
 * Returns what `--redo` may be about, the likelier first: to finish the newest redo, if `isCutOff`, then to take
 * back an undo, the newest first.
 */
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

/** The snapshot of an undo or a redo. */
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
    // The same undo once more goes on with the one before it.
    const isSame = stack[0] !== undefined && stack[0] === snapshots[place - 1];
    return [snapshot, ...stack.slice(isSame && stack[0]?.undone.base === base ? 1 : 0)];
  }, []);
}

/** Returns what was begun with the newest snapshot, if that is an undo or a redo. */
function begunUndo(snapshots: Timeline['snapshots'], isSame: boolean): BegunUndo | null {
  const undone = snapshots.at(-1)?.undone ?? null;
  return undone === null ? null : { from: undone.fromTree, to: undone.leftTree, isSame };
}

/**
 * Returns what the iterations from `first` to `last` changed; null if no snapshot tells. Of an iteration that
 * changed nothing there is none, so the two trees of the pair are the same.
 */
export function changesIn(timeline: Timeline, first: number, last: number): TreePair | null {
  const { snapshots } = timeline;
  const start = firstFrom(timeline, first);
  const [base, next] = start === -1 ? [snapshots.at(-1)] : [snapshots[start - 1], snapshots[start]];
  if (base === undefined || (next !== undefined && !isNext(base, next))) return null;
  const end = snapshots.findLast(({ what }) => workOf(what) >= first && workOf(what) <= last);
  return { from: leftBy(base), to: end?.tree ?? leftBy(base) };
}

/** Returns what has changed since the start, without what was taken back; null if there is no snapshot. */
export function changesSinceStart({ snapshots }: Timeline): TreePair | null {
  const [first, newest] = [snapshots[0], snapshots.at(-1)];
  if (first === undefined || newest === undefined) return null;
  return { from: first.tree, to: leftBy(newest) };
}

/**
 * Returns the place of the first snapshot that is later than the start of an iteration; the one before it
 * has what the iteration began with.
 */
function firstFrom({ snapshots }: Timeline, iteration: number): number {
  return snapshots.findIndex(
    ({ what }) =>
      workOf(what) >= iteration || (what.kind === 'start' && what.iteration > iteration),
  );
}

/** The iterations of which both what they began with and what they came to is kept, in order. */
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

/** Whether no snapshot between the two is gone. */
function isNext(one: ListedSnapshot | undefined, other: ListedSnapshot | undefined): boolean {
  return one !== undefined && other !== undefined && one.order + 1 === other.order;
}

/** The iteration that a snapshot is the work of; 0 if it is none's. */
function workOf(what: SnapshotName): number {
  return what.kind === 'end' || what.kind === 'attempt' ? what.iteration : 0;
}

/** The tree that ralph left with a snapshot: an undo leaves another one than it keeps. */
export function leftBy({ tree, undone }: ListedSnapshot): string {
  return undone?.leftTree ?? tree;
}
