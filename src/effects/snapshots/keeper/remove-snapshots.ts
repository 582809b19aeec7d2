import { thinnedOut } from '../../../core/snapshots/thinning.ts';
import type { RunGit } from '../../workspace/git-command.ts';
import type { PrivateGit } from '../private-git.ts';
import type { SnapshotIds } from '../snapshot-ids.ts';
import { listSnapshots } from '../snapshot-list.ts';

/**
 * Drops snapshots of a task that has ended: of those older than the newest 200 only every tenth stays, and
 * what an undo needs. Resolves to how many were dropped; null if git fails.
 */
export async function thinSnapshots(
  git: PrivateGit,
  refs: string,
  ids: SnapshotIds,
): Promise<number | null> {
  const timeline = await listSnapshots(git, ids.all);
  const names = new Set(thinnedOut(timeline));
  if (names.size === 0) return 0;
  const dropped = timeline.snapshots.filter(({ name }) => names.has(name));
  const lines = dropped.map(({ name, commit }) => `delete ${refs}/${name} ${commit}\n`);
  const input = Buffer.from(lines.join(''));
  const { exitCode } = await git.onRepository(['update-ref', '--stdin'], { input });
  if (exitCode !== 0) return null;
  await ids.remove(names);
  return dropped.length;
}

/** Removes all refs below `refs`, for example `refs/ralph/fix-login`; false if git fails. */
export async function removeSnapshots(root: string, refs: string, git: RunGit): Promise<boolean> {
  const listed = await git(root, [
    'for-each-ref',
    '--format=delete %(refname) %(objectname)',
    `${refs}/`,
  ]);
  if (listed === null) return false;
  if (listed === '') return true;
  const input = Buffer.from(listed, 'latin1');
  return (await git(root, ['update-ref', '--stdin'], { input })) !== null;
}
