import { changesIn, iterationsWithStart } from '../../core/snapshots/timeline.ts';
import type { LineChanges, LinesByIteration } from '../../core/task/line-changes.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { type Git, gitIn } from '../../effects/git/git.ts';
import { GitError } from '../../effects/git/git-error.ts';
import { countLinesBetween } from '../../effects/git/questions/diffs.ts';
import { type SnapshotId, storedSnapshotIds } from '../../effects/snapshots/snapshot-ids.ts';
import { listSnapshots } from '../../effects/snapshots/snapshot-list.ts';
import { foldersOfTask } from './task-repository.ts';

/** The limit for one call of git. It is short because a person waits for the output. */
const TIMEOUT_MS = 5_000;

/**
 * Counts the lines that each iteration of a task changed, from its snapshots; `folder` is the task's folder. Call it
 * only for a task that this user's ralph wrote: a state may name any repository.
 */
export async function linesByIteration(
  task: TaskState,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<LinesByIteration> {
  const ids = storedSnapshotIds(folder).all;
  if (ids.length === 0) return {};
  for (const cwd of foldersOfTask(task, folder)) {
    const found = await linesIn(gitIn(cwd, { env, timeoutMs: TIMEOUT_MS }), ids).catch(
      nullWhereGitFails,
    );
    if (found !== null) return found;
  }
  return {};
}

/** Counts the lines with the git of one folder; returns null if its repository has none of the snapshots. */
async function linesIn(git: Git, ids: readonly SnapshotId[]): Promise<LinesByIteration | null> {
  const timeline = await listSnapshots(git, ids);
  if (timeline.snapshots.length === 0) return null;
  const changed = iterationsWithStart(timeline).flatMap((number) => {
    const pair = changesIn(timeline, number, number);
    return pair === null ? [] : [{ number, pair }];
  });
  const lines = await countLinesBetween(
    git,
    changed.map(({ pair }) => pair),
  );
  const found: Record<number, LineChanges> = {};
  changed.forEach(({ number }, index) => {
    const count = lines[index] ?? null;
    if (count !== null) found[number] = count;
  });
  return found;
}

/** Returns null for an error of git, so that a missing folder or a hanging git hides only the line counts. */
function nullWhereGitFails(error: unknown): null {
  if (error instanceof GitError) return null;
  throw error;
}
