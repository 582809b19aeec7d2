import { thinnedOut } from '../../../core/snapshots/thinning.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { deleteRefs } from '../../git/questions/refs.ts';
import type { SnapshotIds } from '../snapshot-ids.ts';
import { listSnapshots } from '../snapshot-list.ts';

/** Removes snapshots of a task that has ended, except for the newest 200, every tenth older one, and what an undo needs. */
export async function thinSnapshots(git: PrivateGit, ids: SnapshotIds): Promise<void> {
  const timeline = await listSnapshots(git.own, ids.all);
  const names = new Set(thinnedOut(timeline));
  if (names.size === 0) return;
  // The ids are removed first: a commit without an id is no snapshot, even if removing its ref fails.
  await ids.remove(names);
  const refs = [...names].map((name) => `${ids.refs}/${name}`);
  await deleteRefs(git.users, refs);
}
