/** What a path holds in a tree: the mode and id of an object, such as `100644 e69de29…`; null if it holds nothing. */
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
  /** What is to be undone: from the tree before the first undone iteration to ralph's latest tree. */
  readonly done: TreeDifference;
  /** What others have changed: from ralph's latest tree to the work tree as it is now. */
  readonly since: TreeDifference;
  /** What the previous undo was meant to change: from the tree before it to ralph's latest tree. */
  readonly begun: TreeDifference;
  /** Whether the previous undo may have been cut off. */
  readonly isCutOff: boolean;
  /** Whether this undo repeats the previous one, so the paths of the previous one belong to it, too. */
  readonly goesOn: boolean;
  /** Paths that something other than the agent changed between the undone iterations. */
  readonly changedBetween: ReadonlySet<string>;
  /** Whether changes of others are undone, too. */
  readonly force: boolean;
}

interface PlannedChange {
  /** What the path held when the undo was begun. */
  readonly now: TreeEntry;
  /** What the path gets back; null if it held nothing. */
  readonly before: TreeEntry;
}

export interface UndoPlan {
  readonly restore: ReadonlyMap<string, PlannedChange>;
  /** Paths that already hold what the undo would give them back, for example because an undo was cut off. */
  readonly already: ReadonlyMap<string, PlannedChange>;
  /** Paths that stay as they are because somebody else changed them. */
  readonly kept: readonly string[];
}

/**
 * Decides what an undo does with each path. A path that the iterations did not change is left alone. A path that is
 * still as they left it, or as an undo that was cut off left it, goes back. Any other path was changed by somebody
 * else, and stays, unless `force` is set.
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
