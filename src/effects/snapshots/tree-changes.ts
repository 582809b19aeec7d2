import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { lstatOf } from '../files/file-kinds.ts';
import { errorCode } from '../files/write-file.ts';
import type { Pathspecs } from '../git/pathspecs.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { listWorkTree } from '../git/questions/index-files.ts';
import { isBehindLink, isPlainFolder, type TreePath, treePlace } from '../git/tree-path.ts';

/** Why a path is in no snapshot. */
export type LeftOutReason = 'too-large' | 'unreadable' | 'unnameable' | 'empty-repository';

export interface TreeRules {
  /** The largest size of a file that is not in the user's index, in bytes. */
  readonly maxBytes: number;
  /** The paths in the user's index. */
  readonly tracked: Pick<ReadonlySet<TreePath>, 'has'>;
  /** Pathspecs that leave out what never belongs to a snapshot. */
  readonly pathspecs: Pathspecs;
  /** Paths that may be missing in the work tree, because a sparse checkout leaves them out. */
  readonly mayBeMissing: ReadonlySet<TreePath>;
  /** Paths whose entries stay as in the index: tracked files under a filter that git finds unchanged. */
  readonly asIndexed: ReadonlySet<TreePath>;
}

/** How the work tree differs from ralph's index. */
export interface TreeChanges {
  /** Paths to add, replace or remove. */
  readonly changed: readonly TreePath[];
  /** Files of the index that became folders, or whose folder became a symbolic link. What is there now is added. */
  readonly replaced: readonly TreePath[];
  /** Paths of the index that no longer belong to snapshots: their old content must not stay in the index. */
  readonly dropped: readonly TreePath[];
  readonly leftOut: ReadonlyMap<TreePath, LeftOutReason>;
}

/** Asks git how the work tree differs from ralph's index. Rejects with a `GitError`. */
export async function listChanges(git: PrivateGit, rules: TreeRules): Promise<TreeChanges> {
  const { root } = git.repository;
  const changed = new Set<TreePath>();
  const leftOut = new Map<TreePath, LeftOutReason>();
  const replaced: TreePath[] = [];
  const dropped: TreePath[] = [];
  for (const { name, isTracked } of await listWorkTree(git.own, rules.pathspecs)) {
    if (rules.asIndexed.has(name)) continue;
    if (rules.mayBeMissing.has(name) && lstatOf(treePlace(root, name)) === null) continue;
    const isGone = isPlainFolder(treePlace(root, name)) || isBehindLink(root, name);
    if (isTracked && isGone) {
      replaced.push(name);
      continue;
    }
    const why = whyLeftOut(root, name, rules);
    if (why === null) {
      changed.add(name);
      continue;
    }
    leftOut.set(name, why);
    if (isTracked) dropped.push(name);
  }
  return { changed: [...changed], replaced, dropped, leftOut };
}

/** Returns only the changes at some paths. */
export function changesAmong(changes: TreeChanges, names: ReadonlySet<TreePath>): TreeChanges {
  const isOne = (name: TreePath): boolean => names.has(name);
  return {
    changed: changes.changed.filter(isOne),
    replaced: changes.replaced.filter(isOne),
    dropped: changes.dropped.filter(isOne),
    leftOut: new Map([...changes.leftOut].filter(([name]) => isOne(name))),
  };
}

function whyLeftOut(
  root: string,
  name: TreePath,
  { maxBytes, tracked }: TreeRules,
): LeftOutReason | null {
  if (UNNAMEABLE.test(name)) return 'unnameable';
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  if (stats === null) return isHidden(place) ? 'unreadable' : null;
  if (stats.isSymbolicLink()) return null;
  if (stats.isDirectory()) return hasCommit(place.toString()) ? null : 'empty-repository';
  if (stats.size > maxBytes && !tracked.has(name)) return 'too-large';
  try {
    accessSync(place, constants.R_OK);
    return null;
  } catch {
    return 'unreadable';
  }
}

/** Whether there is, or may be, something else than a folder at a path, so that a snapshot without it lacks it. */
export function isStillThere(root: string, name: TreePath): boolean {
  if (isBehindLink(root, name)) return false;
  const place = treePlace(root, name);
  const stats = lstatOf(place);
  return stats === null ? isHidden(place) : !stats.isDirectory();
}

/** Whether a folder above the path cannot be read, so that it is unknown whether the path is gone. */
function isHidden(place: Buffer): boolean {
  try {
    lstatSync(place);
    return false;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error));
  }
}

/** Matches a path with a part that git does not accept in an index. */
const UNNAMEABLE = /(?:^|\/)\.git(?:\/|$)/i;

/** Whether a repository inside the tree seems to have a commit: git cannot add one that has none. */
function hasCommit(folder: string): boolean {
  const own = path.join(folder, '.git');
  return (
    !lstatOf(Buffer.from(own))?.isDirectory() ||
    existsSync(path.join(own, 'logs', 'HEAD')) ||
    existsSync(path.join(own, 'packed-refs'))
  );
}
