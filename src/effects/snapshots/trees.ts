import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  isRepository,
  type TreeDifference,
  type TreeEntry,
} from '../../core/snapshots/undo-plan.ts';
import { withTree } from '../git/git.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { rawDiff } from '../git/questions/diffs.ts';
import { ignoredAmong } from '../git/questions/index-files.ts';
import { requireObjects, treesOf } from '../git/questions/verified.ts';
import type { TreePath } from '../git/tree-path.ts';
import { layOut } from './filtered-restore.ts';
import { idOf, listTree } from './tree-files.ts';

/** Compares two trees or commits. Rejects with a `GitError`, for example if one is gone, or is not what its id says. */
export async function compareTrees(
  git: PrivateGit,
  from: string,
  to: string,
): Promise<TreeDifference> {
  const [one = '', other = ''] = await treesOf(git.own, [from, to]);
  if (one === other) return new Map();
  const folders: string[] = [];
  const difference = new Map<string, { from: TreeEntry; to: TreeEntry }>();
  for (const [path, { from: was, to: is }] of await rawDiff(git.own, one, other)) {
    // If a file became a folder, both are listed: the folder by itself, and its files.
    for (const entry of [was, is]) if (isFolder(entry)) folders.push(idOf(entry));
    const change = { from: isFolder(was) ? null : was, to: isFolder(is) ? null : is };
    if (change.from !== change.to) difference.set(path, change);
  }
  await requireObjects(git.own, folders);
  return difference;
}

function isFolder(entry: TreeEntry): entry is string {
  return entry?.startsWith('040000 ') === true;
}

/**
 * Returns which of the paths git ignores by the `.gitignore` files of a tree, or which lie in another repository there.
 * Snapshots do not hold such files. So once the agent changes the rules, or removes a `.git`, a file that was there
 * before looks new.
 */
export async function ignoredThen(
  git: PrivateGit,
  tree: string,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  if (names.length === 0) return new Set();
  const listed = [...(await listTree(git, tree))].map(([name, entry]) => ({ name, entry }));
  const files = listed.filter(
    ({ name, entry }) => /(?:^|\/)\.gitignore$/.test(name) && entry.startsWith('100'),
  );
  await requireObjects(
    git.own,
    files.map(({ entry }) => idOf(entry)),
  );
  const repositories = new Set(
    listed.filter(({ entry }) => isRepository(entry)).map(({ name }) => name),
  );
  const inside = names.filter((name) =>
    [...name.matchAll(/\//g)].some(({ index }) => repositories.has(name.slice(0, index))),
  );
  const folder = path.join(git.folder, 'restore');
  rmSync(folder, { recursive: true, force: true });
  try {
    await layOut(git, folder, files, 'git cannot read what was ignored');
    const how = { evenTracked: true, why: 'git cannot tell what was ignored' };
    return new Set([...inside, ...(await ignoredAmong(withTree(git.own, folder), names, how))]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
