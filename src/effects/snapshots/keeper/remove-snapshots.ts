import { thinnedOut } from '../../../core/snapshots/thinning.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { deleteRefs } from '../../git/questions/refs.ts';
import type { SnapshotIds } from '../snapshot-ids.ts';
import { listSnapshots } from '../snapshot-list.ts';

/**
 * Drops snapshots of a task that has ended: of those older than the newest 200 only every tenth stays, and
 * what an undo needs.
 */
export async function thinSnapshots(git: PrivateGit, ids: SnapshotIds): Promise<void> {
  const timeline = await listSnapshots(git.own, ids.all);
  const names = new Set(thinnedOut(timeline));
  if (names.size === 0) return;
  // Their ids go first: what has no id is no snapshot, whatever becomes of its ref.
  await ids.remove(names);
  const refs = [...names].map((name) => `${ids.refs}/${name}`);
  await deleteRefs(git.users, refs);
}
