import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { lstatOf } from '../files/file-kinds.ts';
import { errorCode } from '../files/write-file.ts';
import { GitError, outputOf, reasonOf, saysFull } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import {
  asInput,
  isBehindLink,
  isPlainFolder,
  type TreePath,
  treePlace,
} from '../git/tree-path.ts';

/** Why a path is in no snapshot. */
export type LeftOutReason = 'too-large' | 'unreadable' | 'unnameable' | 'empty-repository';

export interface TreeRules {
  /** For a file that the user's index does not name, in bytes. */
  readonly maxBytes: number;
  /** What the user's index names. */
  readonly tracked: ReadonlySet<TreePath>;
  /** Pathspecs of what never belongs to a snapshot. */
  readonly pathspecs: readonly string[];
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

const LISTING = [
  'ls-files',
  '-z',
  '-t',
  '--others',
  '--modified',
  '--deleted',
  '--exclude-standard',
];

/** Asks git how the work tree differs from ralph's index. Rejects with a `GitError`. */
export async function listChanges(git: PrivateGit, rules: TreeRules): Promise<TreeChanges> {
  const listed = await git.run([...LISTING, ...rules.pathspecs]);
  const output = outputOf(listed, 'git cannot list the work tree');
  const { root } = git.repository;
  const changed = new Set<TreePath>();
  const leftOut = new Map<TreePath, LeftOutReason>();
  const replaced: TreePath[] = [];
  const dropped: TreePath[] = [];
  for (const entry of output.split('\0')) {
    const [tag, name] = [entry[0], entry.slice(2).replace(/\/$/, '')];
    if (name === '' || rules.asIndexed.has(name)) continue;
    if (rules.mayBeMissing.has(name) && lstatOf(treePlace(root, name)) === null) continue;
    const isGone = isPlainFolder(treePlace(root, name)) || isBehindLink(root, name);
    if (tag !== '?' && isGone) {
      replaced.push(name);
      continue;
    }
    const why = whyLeftOut(root, name, rules);
    if (why === null) {
      changed.add(name);
      continue;
    }
    leftOut.set(name, why);
    if (tag !== '?') dropped.push(name);
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

/** How often paths that git refuses are dropped before the snapshot is given up. */
const MOST_REFUSALS = 100;

const REFUSED = /Unable to process path ([\s\S]*?)\n?$/;

/** Removes paths from ralph's index, whatever lies in the work tree. Rejects with a `GitError`. */
export async function dropPaths(git: PrivateGit, names: readonly TreePath[]): Promise<void> {
  if (names.length === 0) return;
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  const dropped = await git.run(args, { input: asInput(names) });
  outputOf(dropped, 'git cannot remove files from the index');
}

/** From this many files on, one pack is flushed to the disk much sooner than each file by itself. */
const MANY_FILES = 100;

/** Has git write contents that it would stream into a pack all in one pack. */
function storedAs(count: number): readonly string[] {
  return count < MANY_FILES ? [] : ['-c', 'core.bigFileThreshold=1'];
}

/**
 * Brings paths into ralph's index. A path that git refuses is left out and named, so that one bad path
 * costs one path. Rejects with a `GitError` if git fails otherwise, as on a full disk.
 */
export async function addChanges(
  git: PrivateGit,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  const refused = new Set<TreePath>();
  let left = names;
  while (refused.size <= MOST_REFUSALS) {
    if (left.length === 0) return refused;
    const input = asInput(left);
    const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    const answer = await git.run([...storedAs(left.length), ...args], { input });
    if (answer.exitCode === 0) return refused;
    const { complaint } = answer;
    // Git then names a file, too, with which nothing is wrong.
    if (saysFull(complaint)) throw new GitError(reasonOf(answer));
    const name = REFUSED.exec(complaint)?.[1];
    if (name === undefined || !left.includes(name)) break;
    refused.add(name);
    left = left.filter((path) => path !== name);
  }
  throw new GitError('git cannot take the changed files');
}
