import { readSnapshotMessage } from '../../core/snapshots/snapshot-message.ts';
import { readSnapshotName } from '../../core/snapshots/snapshot-names.ts';
import { type ListedSnapshot, type Timeline, timelineOf } from '../../core/snapshots/timeline.ts';
import type { Git } from '../git/git.ts';
import { readCommits } from '../git/questions/verified.ts';
import type { SnapshotId } from './snapshot-ids.ts';

/** Reads the snapshots of a task, and the names of those that are lost. */
export async function listSnapshots(git: Git, ids: readonly SnapshotId[]): Promise<Timeline> {
  const snapshots = ids.filter(({ name }) => readSnapshotName(name) !== null);
  const commits = await readCommits(
    git,
    snapshots.map(({ commit }) => commit),
  );
  const listed: ListedSnapshot[] = [];
  const lost: string[] = [];
  for (const { name, commit } of snapshots) {
    const found = commits.get(commit);
    const read = found === undefined ? null : readSnapshotMessage(found.message);
    if (found === undefined || read === null) lost.push(name);
    else listed.push({ ...read, name, commit, tree: found.tree });
  }
  return timelineOf(listed, lost);
}
