import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { stateJson } from '../../core/task/state-json.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { writeFileAtomic } from '../../effects/files/write-file.ts';
import { thisDriver } from '../../effects/lock/driver-identity.ts';
import { removeProof } from '../../effects/proof/proof-file.ts';
import { inHistory, type TaskPaths } from '../../effects/state/task-folder.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { type Seal, STATE } from '../../effects/trust/seal.ts';
import { moveWithin } from '../../effects/vault/task-file.ts';
import { IN_PROGRESS } from '../../effects/vault/vault-folders.ts';
import { holdTask } from '../open-task.ts';

/**
 * Turns a completed task into a stopped one, so that `ralph resume` can continue it. If ralph is killed meanwhile, the
 * task still counts as completed, and another call does the rest. Resolves to null, or to half a sentence that says why
 * the task cannot be reopened. Rejects with `TaskAlreadyActiveError`, or with the system's error.
 */
export async function reopenTask(
  paths: TaskPaths,
  task: TaskState,
  { seal, vault }: { readonly seal: Seal; readonly vault: string },
): Promise<string | null> {
  const hold = await holdTask(paths, task.task_id, thisDriver(systemClock.now(), randomUUID()));
  try {
    const why = await returnTaskFile(task, vault);
    if (why !== null) return why;
    const moved = inHistory(paths, task.task_id);
    // First the state file, then the folder: a task that a crash left half moved is restored in this order, too.
    for (const part of ['stateFile', 'folder'] as const) {
      if (!existsSync(paths[part])) renameSync(moved[part], paths[part]);
    }
    removeProof(paths.folder);
    const reopened: TaskState = {
      ...task,
      status: 'stopped',
      exit_reason: 'stopped:request',
      evidence: null,
      driver: null,
    };
    await writeFileAtomic(paths.stateFile, seal.close(stateJson(reopened), STATE));
    return null;
  } finally {
    hold.release();
  }
}

/** Moves the task's file back to `In_Progress`, because in the done folder it would complete the task at once. */
async function returnTaskFile(task: TaskState, vault: string): Promise<string | null> {
  if (task.task_file === null || existsSync(path.resolve(vault, task.task_file))) return null;
  const name = path.basename(task.task_file);
  const done = path.resolve(vault, task.done_folder === '' ? 'Done' : task.done_folder, name);
  if (!existsSync(done)) return `its file ${name} is neither in ${IN_PROGRESS} nor in ${done}`;
  await moveWithin(vault, done, IN_PROGRESS);
  return null;
}
