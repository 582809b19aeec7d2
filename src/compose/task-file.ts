import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { keepTaskFile } from '../effects/vault/kept-task-file.ts';
import { moveWithin } from '../effects/vault/task-file.ts';
import { differs } from '../effects/workspace/file-marks.ts';
import { messageOf } from '../errors.ts';
import { taskFileNotPutBack, taskFilePutBack } from '../report/notices.ts';
import type { ClaimedRun } from './held-run.ts';
import type { Start } from './start.ts';

/** What a run does with the file of its task. No method rejects: problems are shown as warnings. */
export interface TaskFileDesk {
  /** Puts the file back if the agent has removed it. */
  putBack(): Promise<void>;
  /** Moves the file of the completed task to its done folder, unless the agent has moved it. */
  moveToDone(): Promise<void>;
  close(): void;
}

/** Returns the functions for the file of a run's task. They do nothing if the task has no file. */
export async function taskFileDesk(
  { plan, paths, warn }: Pick<ClaimedRun, 'plan' | 'paths' | 'warn'>,
  { state, baseline }: Pick<Start, 'state' | 'baseline'>,
): Promise<TaskFileDesk> {
  const { task_file: name, status } = state.task;
  if (name === null) return NO_FILE;
  const { vault, donePath } = plan;
  const file = path.join(vault, name);
  const copy = path.join(paths.folder, 'task-file');
  const kept = keepTaskFile({
    ...{ vault, file, copy },
    hasArrived: async () => donePath !== null && differs(donePath, baseline.done ?? undefined),
  });
  let hasFailed = false;
  const putBack = async (): Promise<void> => {
    try {
      const what = await kept.putBack();
      if (what !== null) warn(taskFilePutBack(name, what));
    } catch (error) {
      if (!hasFailed) warn(taskFileNotPutBack(name, copy, messageOf(error)));
      hasFailed = true;
    }
  };
  // The file of a completed task may already be in the done folder, so it is not put back.
  if (status !== 'completed') await putBack();
  return {
    putBack,
    async moveToDone() {
      if (status !== 'completed') await putBack();
      await moveToDone(name, plan, warn);
    },
    close: kept.close,
  };
}

const NO_FILE: TaskFileDesk = {
  putBack: async () => {},
  moveToDone: async () => {},
  close() {},
};

async function moveToDone(
  name: string,
  { vault, policy }: RunPlan,
  warn: (sentence: string) => void,
): Promise<void> {
  const file = path.join(vault, name);
  try {
    const doneFolder = path.relative(vault, policy.doneFolder);
    if (existsSync(file)) await moveWithin(vault, file, doneFolder);
  } catch (error) {
    warn(`${name} could not be moved to ${policy.doneFolder}: ${messageOf(error)}`);
  }
}
