import { newTaskState } from '../../src/core/task/new-task.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import type { TaskState } from '../../src/core/task/task-state.ts';
import { loopPolicy } from './loop-policy.ts';

/** When the tests' tasks start. */
export const START = '2026-01-05T10:00:00.000Z';

/** A task of this policy before its first event. */
export function newTask(policy: Policy = loopPolicy(), taskTimeoutMs = 30 * 60_000): TaskState {
  const state = newTaskState(
    {
      task_id: 'task-1',
      task_prompt: 'Fix the tests.',
      prompt_sha256: '0'.repeat(64),
      task_type: 'default',
      completion_promise: policy.promise,
      match: policy.match,
      watch_glob: policy.watchGlobs,
      watch_file: policy.watchFile,
      done_folder: policy.doneFolder,
      max_iterations: policy.maxIterations,
    },
    START,
    taskTimeoutMs,
  );
  const driver = {
    pid: 1,
    pid_started_at: START,
    boot_id: 'boot-1',
    host: 'host-1',
    pid_namespace: '',
    run_id: 'run-1',
    beat_at: START,
  };
  return { ...state, driver };
}
