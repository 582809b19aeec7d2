/**
 * What a path holds in a tree: mode and id of the object, for example `100644 e69de29…`; null if
 * there is nothing.
 */
export type TreeEntry = string | null;

/** How two trees differ: every path whose entries are not the same. */
export type TreeDifference = ReadonlyMap<
  string,
  { readonly from: TreeEntry; readonly to: TreeEntry }
>;

export interface UndoQuestion {
  /** From the tree before the first undone iteration to ralph's latest: what is to be taken back. */
  readonly done: TreeDifference;
  /** From ralph's latest tree to the work tree as it is now: what others have changed since. */
  readonly since: TreeDifference;
  /** Paths that something else changed between the undone iterations. */
  readonly changedBetween: ReadonlySet<string>;
  /** Whether changes of others are taken back, too. */
  readonly force: boolean;
}

export interface UndoPlan {
  /** Paths that get back what they held before; null where there was nothing. */
  readonly restore: ReadonlyMap<string, TreeEntry>;
  /** Paths that stay, because somebody else changed them. */
  readonly kept: readonly string[];
}

/**
 * Decides for each path what an undo does. A path that the iterations left alone is left alone. A
 * path that is still as they left it goes back. Any other path was changed by somebody else, and
 * stays.
 */
export function planUndo({ done, since, changedBetween, force }: UndoQuestion): UndoPlan {
  const restore = new Map<string, TreeEntry>();
  const kept: string[] = [];
  for (const [path, { from: before }] of done) {
    const now = since.get(path);
    if (now?.to === before && now !== undefined) continue;
    const isOurs = now === undefined && !changedBetween.has(path);
    if (isOurs || force) restore.set(path, before);
    else kept.push(path);
  }
  return { restore, kept: kept.sort() };
}
