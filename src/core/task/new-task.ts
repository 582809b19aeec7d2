import { NO_USAGE } from '../agent/attempt.ts';
import {
  laterBy,
  NO_BREAKER,
  NO_METRICS,
  NOTHING_IN_GIT,
  SCHEMA_VERSION,
  type TaskState,
} from './task-state.ts';

/** What a new task is made from. */
export type TaskFacts = Pick<
  TaskState,
  | 'task_id'
  | 'task_prompt'
  | 'prompt_sha256'
  | 'task_type'
  | 'completion_promise'
  | 'match'
  | 'watch_glob'
  | 'watch_file'
  | 'done_folder'
  | 'max_iterations'
>;

/** Returns the state of a task that begins at an ISO instant, before its first iteration. */
export function newTaskState(facts: TaskFacts, at: string, timeoutMs: number): TaskState {
  return {
    schema_version: SCHEMA_VERSION,
    ...facts,
    task_file: null,
    current_iteration: 0,
    attempt: 0,
    status: 'pending',
    started_at: at,
    updated_at: at,
    finished_at: null,
    timeout_at: laterBy(at, timeoutMs),
    exit_reason: null,
    evidence: null,
    iterations: [],
    errors: [],
    wait: null,
    progress: null,
    usage: NO_USAGE,
    metrics: NO_METRICS,
    breaker: NO_BREAKER,
    paused_for_approval: false,
    approval: null,
    agent: null,
    agents: {},
    session_id: null,
    session_usage: null,
    git_base: null,
    driver: null,
    memory: null,
    save: 0,
    git: NOTHING_IN_GIT,
    sandbox: null,
  };
}
