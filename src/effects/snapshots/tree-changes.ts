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
  /** For a file that the user's index does not name, in bytes. */
  readonly maxBytes: number;
  /** What the user's index names. */
  readonly tracked: Pick<ReadonlySet<TreePath>, 'has'>;
  /** Pathspecs of what never belongs to a snapshot. */
  readonly pathspecs: Pathspecs;
  /** Paths that may be missing in the work tree, because a sparse checkout leaves them out. */
  readonly mayBeMissing: ReadonlySet<TreePath>;
  /** Paths that stay as the index has them: tracked files under a filter that git holds for unchanged. */
  readonly asIndexed: ReadonlySet<TreePath>;
}

/** How the work tree differs from ralph's index. */
export interface TreeChanges {
  /** Paths to add, replace or remove. */
  readonly changed: readonly TreePath[];
  /** Files of the index that became folders, or whose folder became a link; what is there now is added. */
  readonly replaced: readonly TreePath[];
  /** Paths of the index that are left out from now on: their old content must not stand for them. */
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

/** Returns the changes of some paths. */
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

/** Whether a folder that cannot be read is in the way: then nobody knows if the path is gone. */
function isHidden(place: Buffer): boolean {
  try {
    lstatSync(place);
    return false;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(errorCode(error));
  }
}

/** Git takes no path with such a part into an index. */
const UNNAMEABLE = /(?:^|\/)\.git(?:\/|$)/i;

/** Whether a repository inside the tree has any ref or a detached HEAD: then git can name its commit. */
function hasCommit(folder: string): boolean {
  const own = path.join(folder, '.git');
  return (
    !lstatOf(Buffer.from(own))?.isDirectory() ||
    existsSync(path.join(own, 'logs', 'HEAD')) ||
    existsSync(path.join(own, 'packed-refs'))
  );
}
