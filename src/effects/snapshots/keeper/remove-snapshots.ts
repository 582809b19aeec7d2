import { thinnedOut } from '../../../core/snapshots/thinning.ts';
import type { RunGit } from '../../git/call/git-command.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { SnapshotIds } from '../snapshot-ids.ts';
import { listSnapshots } from '../snapshot-list.ts';

/**
 * Drops snapshots of a task that has ended: of those older than the newest 200 only every tenth stays, and
 * what an undo needs. Resolves to how many were dropped; null if git fails.
 */
export async function thinSnapshots(git: PrivateGit, ids: SnapshotIds): Promise<number | null> {
  const timeline = await listSnapshots(git, ids.all);
  const names = new Set(thinnedOut(timeline));
  if (names.size === 0) return 0;
  // Their ids go first: what has no id is no snapshot, whatever becomes of its ref.
  await ids.remove(names);
  const input = Buffer.from([...names].map((name) => `delete ${ids.refs}/${name}\n`).join(''));
  const { exitCode } = await git.onRepository(['update-ref', '--no-deref', '--stdin'], { input });
  return exitCode === 0 ? names.size : null;
}

/** Removes all refs below `refs`, for example `refs/ralph/fix-login@3f9a1c04`; false if git fails. */
export async function removeSnapshots(root: string, refs: string, git: RunGit): Promise<boolean> {
  const listed = await git(root, [
    'for-each-ref',
    '--format=delete %(refname) %(objectname)',
    `${refs}/`,
  ]);
  if (listed === null) return false;
  if (listed === '') return true;
  const input = Buffer.from(listed, 'latin1');
  return (await git(root, ['update-ref', '--no-deref', '--stdin'], { input })) !== null;
}
