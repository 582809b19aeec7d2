import path from 'node:path';
import type { TaskState } from '../core/task/task-state.ts';
import { findGitAbove } from '../effects/files/find-git-above.ts';
import type { TreeKeeper } from '../effects/snapshots/keeper/tree-keeper.ts';
import { createGitProgress } from '../effects/snapshots/keeper/tree-progress.ts';
import { makeTaskFolder } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import { uncountedFolders } from '../effects/vault/vault-folders.ts';
import type { GitProgress, GitProgressRequest } from '../effects/workspace/git-progress.ts';
import { messageOf } from '../errors.ts';
import type { Snapshots } from '../loop/ports.ts';
import { noSnapshot, noSnapshots } from '../report/notices.ts';
import type { ClaimedRun } from './held-run.ts';

/** How a task's work tree is observed and saved in snapshots. */
export interface WatchedTree {
  /** Null if nothing needs it: no limit depends on progress, and there are no snapshots. */
  readonly progress: GitProgress | null;
  /** The object that takes and reads the snapshots; null without a repository, and with `--no-snapshots`. */
  readonly keeper: TreeKeeper | null;
  readonly snapshots: Snapshots;
}

const KEEPS_NOTHING: Snapshots = {
  before: async () => {},
  after: async () => {},
  disturb() {},
};

type KnownTask = Pick<TaskState, 'task_id' | 'started_at' | 'status' | 'git'>;

/** Opens the work tree of a run, and takes the first snapshot if the task has none yet. */
export async function watchTree(run: ClaimedRun, task: KnownTask): Promise<WatchedTree> {
  const { plan, driver, stops } = run;
  const request: GitProgressRequest = {
    cwd: plan.cwd,
    excluded: uncountedFolders(plan.vault, plan.stateDir),
    env: plan.gitEnv,
    runId: driver.run_id,
    signal: stops.signal,
  };
  const keeper = plan.settings.snapshots === false ? null : await openKeeper(run, request, task);
  const { noProgressLimit, sameErrorLimit } = plan.policy;
  const isNeeded = keeper !== null || noProgressLimit !== 0 || sameErrorLimit !== 0;
  const progress = isNeeded ? createGitProgress(request, keeper) : null;
  return { keeper, snapshots: keeper ?? KEEPS_NOTHING, progress };
}

async function openKeeper(
  { plan, paths, driver, stops, warn, seal, found }: ClaimedRun,
  { cwd, excluded, env }: GitProgressRequest,
  task: KnownTask,
): Promise<TreeKeeper | null> {
  try {
    // Outside a repository, the code for snapshots need not be loaded.
    if (findGitAbove(cwd) === null) return null;
    makeTaskFolder(paths);
    const { openTreeKeeper } = await import('../effects/snapshots/keeper/tree-keeper.ts');
    const { openSnapshotIds } = await import('../effects/snapshots/snapshot-ids.ts');
    const isNew = task.status === 'pending' && task.git.snapshots === null;
    const ids = openSnapshotIds({ folder: paths.folder, seal, task }, isNew);
    const keeper = await openTreeKeeper({
      ...{ cwd, found, excluded, env, ids },
      excludedGlobs: plan.settings.snapshotExclude,
      maxBytes: plan.settings.snapshotLimit,
      folder: path.join(paths.folder, 'git'),
      taskId: plan.taskId,
      runId: driver.run_id,
      // The first request to stop does not abort this: the attempt that it ended is still saved in a snapshot.
      signal: stops.hurry,
      now: systemClock.now,
      warn: (why, missing) => warn(missing === null ? noSnapshots(why) : noSnapshot(missing, why)),
      notice: warn,
    });
    if (task.git.snapshots === null) await keeper?.before(1);
    else await keeper?.mendRefs();
    return keeper;
  } catch (error) {
    warn(noSnapshots(messageOf(error)));
    return null;
  }
}
