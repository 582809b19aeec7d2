import { NO_USAGE } from '../agent/attempt.ts';
import type { MatchRule } from './policy.ts';
import {
  type Driver,
  laterBy,
  NO_BREAKER,
  NOTHING_IN_GIT,
  SCHEMA_VERSION,
  type TaskState,
} from './task-state.ts';

/** What a new task is made from. Instants are ISO strings. */
export interface NewTask {
  readonly taskId: string;
  readonly promptPreview: string;
  readonly promptSha256: string;
  readonly taskType: string;
  readonly promise: string | null;
  readonly match: MatchRule;
  readonly watchGlobs: readonly string[];
  readonly watchFile: string | null;
  readonly doneFolder: string;
  readonly maxIterations: number;
  readonly taskTimeoutMs: number;
  readonly driver: Driver | null;
  readonly gitBase: string | null;
}

/** Returns the state of a task before its first iteration. */
export function newTaskState(task: NewTask, at: string): TaskState {
  return {
    schema_version: SCHEMA_VERSION,
    task_id: task.taskId,
    task_prompt: task.promptPreview,
    prompt_sha256: task.promptSha256,
    task_type: task.taskType,
    task_file: null,
    completion_promise: task.promise,
    match: task.match,
    watch_glob: task.watchGlobs,
    watch_file: task.watchFile,
    done_folder: task.doneFolder,
    max_iterations: task.maxIterations,
    current_iteration: 0,
    attempt: 0,
    status: 'pending',
    started_at: at,
    updated_at: at,
    finished_at: null,
    timeout_at: laterBy(at, task.taskTimeoutMs),
    exit_reason: null,
    evidence: null,
    iterations: [],
    errors: [],
    wait: null,
    progress: null,
    usage: NO_USAGE,
    metrics: {
      total_duration_seconds: 0,
      iterations: 0,
      api_calls: 0,
      files_created: null,
      files_modified: null,
    },
    breaker: NO_BREAKER,
    paused_for_approval: false,
    approval: null,
    agent: null,
    agents: {},
    session_id: null,
    session_usage: null,
    git_base: task.gitBase,
    driver: task.driver,
    memory: null,
    save: 0,
    git: NOTHING_IN_GIT,
    sandbox: null,
  };
}
