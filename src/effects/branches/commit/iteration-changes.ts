import { looksSecret } from '../../../core/snapshots/secret-names.ts';
import type { TreeToSettle } from '../../../core/snapshots/settlement.ts';
import { leftBy, type Timeline } from '../../../core/snapshots/timeline.ts';
import type { TreeDifference } from '../../../core/snapshots/undo-plan.ts';
import { GitError } from '../../git/git-error.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { ignoredAmong, listIndex } from '../../git/questions/index-files.ts';
import { emptyTree, readHead } from '../../git/repository.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import { isStillThere } from '../../snapshots/tree-changes.ts';
import { compareTrees, ignoredThen } from '../../snapshots/trees.ts';
import { dirtyByOthers } from '../dirty-paths.ts';
import { stage, unstage } from './commit-index.ts';
import type { CommitRequest, NotCommitted } from './commit-request.ts';

/** Positions in a list of snapshots: the one with which the first iteration began, and the last iteration's newest. */
export interface SnapshotSpan {
  readonly begin: number;
  readonly last: number;
}

/** Finds the snapshots of iterations; null if they have none of their own, because nothing has changed. */
export function spanOf(
  { snapshots }: Timeline,
  { since, iteration }: TreeToSettle,
): SnapshotSpan | null {
  const isWork = ({ what }: Timeline['snapshots'][number]): boolean =>
    (what.kind === 'end' || what.kind === 'attempt') &&
    what.iteration >= since &&
    what.iteration <= iteration;
  const first = snapshots.findIndex(isWork);
  if (first === -1) return null;
  const before = snapshots[first - 1];
  if (before === undefined || before.order + 1 !== snapshots[first]?.order) {
    throw new GitError('the snapshot from before the iteration is missing');
  }
  return { begin: first - 1, last: snapshots.findLastIndex(isWork) };
}

/**
 * Returns what the agent changed. Paths in conflict, that others changed too, or that are there and could not be kept,
 * are added to `left` instead.
 */
export async function changedIn(
  { git, store, timeline, tree, apart }: CommitRequest,
  { begin, last }: SnapshotSpan,
  left: Map<TreePath, NotCommitted>,
): Promise<TreeDifference> {
  const { snapshots } = timeline;
  const compared = async (from = '', to = ''): Promise<TreeDifference> =>
    from === to ? new Map() : compareTrees(git, from, to);
  const differs = async (from = '', to = '') => (await compared(from, to)).keys();
  const end = snapshots[last]?.tree;
  const before = snapshots[begin];
  const changed = new Map(await compared(before && leftBy(before), end));
  if (apart !== null) {
    for (const name of [...changed.keys()]) if (asText(name) === apart) changed.delete(name);
  }
  const names = new Set(changed.keys());
  const others = new Set(await dirtyByOthers(git, timeline, begin, names));
  for (let at = begin + 1; at <= last; at += 1) {
    if (snapshots[at]?.what.kind !== 'start') continue;
    for (const name of await differs(snapshots[at - 1]?.tree, snapshots[at]?.tree))
      others.add(name);
  }
  // After a pause in which no ralph was running, anybody may have changed these files.
  if (tree.again) {
    for (const name of await differs(end, (await store.keepTree()).tree)) others.add(name);
  }
  const index = await listIndex(git.users);
  for (const name of names) {
    if (index.get(name) === 'conflict') left.set(name, 'conflict');
    else if (others.has(name)) left.set(name, 'others');
    else if (changed.get(name)?.to === null && isStillThere(git.repository.root, name))
      left.set(name, 'not-kept');
  }
  return new Map([...changed].filter(([name]) => !left.has(name)));
}

/** Counts the paths that the agent changed and that HEAD does not have as the iteration left them. */
export async function countUncommitted(request: CommitRequest): Promise<number> {
  const { git, timeline, tree } = request;
  const span = spanOf(timeline, tree);
  const end = timeline.snapshots[span?.last ?? -1];
  if (span === null || end === undefined) return 0;
  const { commit } = await readHead(git.users);
  const differs = await compareTrees(git, commit ?? emptyTree(git.repository), end.tree);
  const changed = await changedIn(request, span, new Map());
  return [...changed.keys()].filter((name) => differs.has(name)).length;
}

/** Returns the paths that `git add` and a commit would change in HEAD now, except for those that git ignores. */
export async function stillLacking(
  git: PrivateGit,
  names: readonly TreePath[],
): Promise<ReadonlySet<TreePath>> {
  const ignored = new Set(await ignoredAmong(git.users, names));
  const open = names.filter((name) => !ignored.has(name));
  const { commit } = await readHead(git.users);
  return new Set((await stage(git, commit, open)).staged.keys());
}

/**
 * Removes from the index the new files that must not be committed. Returns the paths that remain changed in it. A file
 * that HEAD has is committed even if its name looks like a secret.
 */
export async function withoutLeftOut(
  { git, timeline }: CommitRequest,
  { begin }: SnapshotSpan,
  { index, staged }: { readonly index: string; readonly staged: TreeDifference },
  left: Map<TreePath, NotCommitted>,
): Promise<ReadonlySet<TreePath>> {
  const added = [...staged].filter(([, { from }]) => from === null);
  const inIndex = await listIndex(git.users);
  const before = timeline.snapshots[begin];
  const names = added.map(([name]) => name);
  const now = await ignoredAmong(
    git.users,
    names.filter((name) => !inIndex.has(name)),
  );
  const then = before === undefined ? [] : await ignoredThen(git, leftBy(before), names);
  const ignored = new Set([...now, ...then]);
  const out = new Map<TreePath, NotCommitted>();
  for (const [name, { to }] of added) {
    if (looksSecret(name)) out.set(name, 'secret');
    else if (ignored.has(name)) out.set(name, 'ignored');
    // Git would commit only the id of an inner repository's commit, which others could not find.
    else if (to?.startsWith('160000') && !inIndex.has(name)) out.set(name, 'repository');
  }
  await unstage(git, index, new Set(out.keys()));
  for (const [name, why] of out) left.set(name, why);
  return new Set([...staged.keys()].filter((name) => !out.has(name)));
}
