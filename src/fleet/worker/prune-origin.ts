import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realPath } from '../../effects/files/real-path.ts';
import type { FleetTaskFacts } from '../core/fleet-task.ts';
import { openMirror } from '../origin/mirror.ts';
import { removeSnapshotsAtOrigin } from '../origin/origin-snapshots.ts';

const TIMEOUT_MS = 60_000;

/** A task whose git refs cannot be removed from its repository (the origin), and why, in a sentence. */
export interface StayingTask {
  readonly taskId: string;
  readonly why: string;
}

/**
 * Removes the refs of tasks at their origins with this user's git: `refs/ralph/<task_id>/*`, and never a branch. Asks
 * `stillEnded` before each task, and skips a task that somebody has resumed meanwhile. Resolves to the tasks that may
 * still have refs.
 */
export async function removeRefsOf(
  tasks: readonly FleetTaskFacts[],
  env: NodeJS.ProcessEnv,
  stillEnded: (task: FleetTaskFacts) => Promise<boolean>,
): Promise<readonly StayingTask[]> {
  const home = mkdtempSync(path.join(realPath(tmpdir()), 'ralph-prune-'));
  const staying: StayingTask[] = [];
  try {
    const { signal } = new AbortController();
    for (const task of tasks) {
      const { spec, base_commit } = task;
      // A task that no worker has begun has pushed nothing: refs under its name belong to somebody else.
      if (base_commit === null || !(await stillEnded(task))) continue;
      const mirror = openMirror({ home, url: spec.repo, env, signal, timeoutMs: TIMEOUT_MS });
      const end = await removeSnapshotsAtOrigin(mirror, spec.task_id);
      if (end.kind !== 'removed') staying.push({ taskId: spec.task_id, why: end.why });
    }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
  return staying;
}
