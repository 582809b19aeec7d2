import path from 'node:path';
import type { TreeKeeper } from '../effects/snapshots/tree-keeper.ts';
import { makeTaskFolder } from '../effects/state/task-folder.ts';
import { systemClock } from '../effects/time/clock.ts';
import { uncountedFolders } from '../effects/vault/vault-folders.ts';
import { findGitAbove } from '../effects/workspace/find-git-above.ts';
import {
  createGitProgress,
  type GitProgress,
  type GitProgressRequest,
} from '../effects/workspace/git-progress.ts';
import { messageOf } from '../errors.ts';
import type { Snapshots } from '../loop/ports.ts';
import { noSnapshots } from '../report/notices.ts';
import type { ClaimedRun } from './held-run.ts';

/** How a task's work tree is looked at and kept. */
export interface WatchedTree {
  /** Null if no limit depends on progress and nothing is kept. */
  readonly progress: GitProgress | null;
  /** Null without a repository, and with `--no-snapshots`. */
  readonly keeper: TreeKeeper | null;
  readonly snapshots: Snapshots;
}

const KEEPS_NOTHING: Snapshots = { before: async () => {}, after: async () => {} };

/** Opens the work tree of a run. `refs` is how the refs of the task's earlier snapshots begin, or null. */
export async function watchTree(run: ClaimedRun, refs: string | null): Promise<WatchedTree> {
  const { plan, driver, stops } = run;
  const request: GitProgressRequest = {
    cwd: plan.cwd,
    excluded: uncountedFolders(plan.vault, plan.stateDir),
    env: plan.gitEnv,
    runId: driver.run_id,
    signal: stops.signal,
  };
  const keeper = plan.settings.snapshots === false ? null : await openKeeper(run, request, refs);
  if (keeper !== null) {
    const { createTreeProgress } = await import('../effects/snapshots/tree-progress.ts');
    return { keeper, snapshots: keeper, progress: createTreeProgress(keeper, request) };
  }
  const { noProgressLimit, sameErrorLimit } = plan.policy;
  const isNeeded = noProgressLimit !== 0 || sameErrorLimit !== 0;
  const progress = isNeeded ? createGitProgress(request) : null;
  return { keeper, snapshots: KEEPS_NOTHING, progress };
}

async function openKeeper(
  { plan, paths, driver, stops, warn }: ClaimedRun,
  { cwd, excluded, env }: GitProgressRequest,
  refs: string | null,
): Promise<TreeKeeper | null> {
  try {
    // Outside a repository, the code for snapshots need not be loaded.
    if (findGitAbove(cwd) === null) return null;
    makeTaskFolder(paths);
    const { openTreeKeeper } = await import('../effects/snapshots/tree-keeper.ts');
    return await openTreeKeeper({
      ...{ cwd, excluded, env, refs },
      excludedGlobs: plan.settings.snapshotExclude,
      maxBytes: plan.settings.snapshotLimit,
      folder: path.join(paths.folder, 'git'),
      taskId: plan.taskId,
      runId: driver.run_id,
      // An attempt that a first request cut off is kept, too.
      signal: stops.hurry,
      now: systemClock.now,
      warn: (why) => warn(noSnapshots(why)),
      notice: warn,
    });
  } catch (error) {
    warn(noSnapshots(messageOf(error)));
    return null;
  }
}
