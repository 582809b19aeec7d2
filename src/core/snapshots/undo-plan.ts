/**
 * What a path holds in a tree: mode and id of the object, for example `100644 e69de29…`; null if
 * there is nothing.
 */
export type TreeEntry = string | null;

/** Whether an entry is a submodule or another repository inside the work tree. */
export function isRepository(entry: TreeEntry): boolean {
  return entry?.startsWith('160000 ') === true;
}

/** How two trees differ: every path whose entries are not the same. */
export type TreeDifference = ReadonlyMap<
  string,
  { readonly from: TreeEntry; readonly to: TreeEntry }
>;

export interface UndoQuestion {
  /** From the tree before the first undone iteration to ralph's latest: what is to be taken back. */
  readonly done: TreeDifference;
  /** From the end of that to the work tree as it is now: what others have changed since. */
  readonly since: TreeDifference;
  /** What the undo before was to change; it ends at ralph's latest tree. */
  readonly begun: TreeDifference;
  /** Whether that may have been cut off. */
  readonly isCutOff: boolean;
  /** Whether that was the same undo: then its paths are a part of this one. */
  readonly goesOn: boolean;
  /** Paths that something else changed between the undone iterations. */
  readonly changedBetween: ReadonlySet<string>;
  /** Whether changes of others are taken back, too. */
  readonly force: boolean;
}

interface PlannedChange {
  /** What the path held when the undo was begun. */
  readonly now: TreeEntry;
  /** What the path gets back; null where there was nothing. */
  readonly before: TreeEntry;
}

export interface UndoPlan {
  readonly restore: ReadonlyMap<string, PlannedChange>;
  /** Paths that hold already what they held before, for example since an undo was cut off. */
  readonly already: ReadonlyMap<string, PlannedChange>;
  /** Paths that stay, because somebody else changed them. */
  readonly kept: readonly string[];
}

/**
 * Decides for each path what an undo does. A path that the iterations left alone is left alone. A
 * path that is still as they left it, or as an undo that was cut off has left it, goes back. Any other
 * path was changed by somebody else, and stays.
 */
export function planUndo(question: UndoQuestion): UndoPlan {
  const { done, since, begun, isCutOff, goesOn, changedBetween, force } = question;
  const restore = new Map<string, PlannedChange>();
  const already = new Map<string, PlannedChange>();
  const kept: string[] = [];
  for (const path of new Set([...done.keys(), ...begun.keys()])) {
    const [change, wasBegun] = [done.get(path), begun.get(path)];
    const ours = (change ?? wasBegun)?.to ?? null;
    const before = change === undefined ? ours : change.from;
    const other = since.get(path);
    const now = other === undefined ? ours : other.to;
    const isUnfinished = isCutOff && wasBegun !== undefined && now === wasBegun.from;
    const isOurs = (now === ours || isUnfinished) && !changedBetween.has(path);
    if (now === before) {
      already.set(path, { now: goesOn && wasBegun !== undefined ? wasBegun.from : now, before });
    } else if (isOurs || force) restore.set(path, { now, before });
    else if (change !== undefined) kept.push(path);
  }
  return { restore, already, kept: kept.sort() };
}
