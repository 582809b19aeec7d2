import { readSnapshotName, type SnapshotName } from './snapshot-names.ts';

/** A snapshot as its ref and its message tell it. */
export interface ListedSnapshot {
  /** The last part of the ref, such as `3` or `undo.1`. */
  readonly name: string;
  readonly commit: string;
  readonly tree: string;
  /** A few words, such as `iteration 3: answered`. */
  readonly subject: string;
  readonly at: string;
  /** Counts up with each snapshot of the task. */
  readonly order: number;
  /** For an undo: the tree that ralph left behind, without what others had changed. */
  readonly leftTree: string | null;
}

/** The snapshots of a task in the order in which they were taken. */
export interface Timeline {
  readonly snapshots: readonly (ListedSnapshot & { readonly what: SnapshotName })[];
}

/** Puts snapshots in order; skips refs that are none. */
export function timelineOf(listed: readonly ListedSnapshot[]): Timeline {
  const snapshots = listed
    .flatMap((snapshot) => {
      const what = readSnapshotName(snapshot.name);
      return what === null ? [] : [{ ...snapshot, what }];
    })
    .sort((one, other) => one.order - other.order);
  return { snapshots };
}

/** The trees that an undo is about. */
export interface UndoSpan {
  /** The tree before the first of the iterations. */
  readonly before: string;
  /** What ralph left last: the newest end, with what undos have put back since. */
  readonly ours: string;
  /** The undo that was begun last, if nothing came after it: it may not have been finished. */
  readonly begun: { readonly from: string; readonly to: string } | null;
  /** Pairs of trees between which something else than the agent may have changed files. */
  readonly gaps: readonly { readonly from: string; readonly to: string }[];
}

/** Returns what an undo of iteration `iteration` and all after it is about; null if there is no such one. */
export function undoSpan({ snapshots }: Timeline, iteration: number): UndoSpan | null {
  const first = snapshots.findIndex(({ what }) => isWorkOf(what, iteration));
  const before = snapshots[first - 1];
  if (first === -1 || before === undefined) return null;
  const gaps: { from: string; to: string }[] = [];
  let left = leftBy(before);
  for (const snapshot of snapshots.slice(first)) {
    const isStart = snapshot.what.kind === 'start' || snapshot.what.kind === 'undo';
    if (isStart && snapshot.tree !== left) gaps.push({ from: left, to: snapshot.tree });
    left = leftBy(snapshot);
  }
  return { before: leftBy(before), ours: left, gaps, begun: begunUndo(snapshots) };
}

/** Returns what taking back the last undo or redo is about; null if nothing was undone, or work came after. */
export function redoSpan({ snapshots }: Timeline): UndoSpan | null {
  const begun = begunUndo(snapshots);
  return begun === null ? null : { before: begun.from, ours: begun.to, gaps: [], begun: null };
}

/** From what ralph had left before the last undo, to what that undo leaves. */
function begunUndo(snapshots: Timeline['snapshots']): UndoSpan['begun'] {
  const last = snapshots.at(-1);
  const earlier = snapshots.at(-2);
  if (last?.what.kind !== 'undo' || earlier === undefined) return null;
  return { from: leftBy(earlier), to: leftBy(last) };
}

/** The newest iteration that has a snapshot, or null. */
export function newestIteration({ snapshots }: Timeline): number | null {
  for (const { what } of [...snapshots].reverse()) {
    if (what.kind === 'end' || what.kind === 'attempt') return what.iteration;
  }
  return null;
}

/** Two trees, of which the second one came later. */
export interface TreePair {
  readonly from: string;
  readonly to: string;
}

/** Returns what the iterations from `first` to `last` changed; null if no snapshot tells. */
export function changesIn(
  { snapshots }: Timeline,
  first: number = 1,
  last: number = Number.POSITIVE_INFINITY,
): TreePair | null {
  const start = snapshots.findIndex(({ what }) => workOf(what) >= first && workOf(what) <= last);
  const base = snapshots[start - 1];
  const end = snapshots.findLast(({ what }) => workOf(what) >= first && workOf(what) <= last);
  if (base === undefined || end === undefined || !isNext(base, snapshots[start])) return null;
  return { from: leftBy(base), to: end.tree };
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

function isWorkOf(what: SnapshotName, iteration: number): boolean {
  return (what.kind === 'end' || what.kind === 'attempt') && what.iteration >= iteration;
}

function leftBy({ tree, leftTree }: ListedSnapshot): string {
  return leftTree ?? tree;
}
