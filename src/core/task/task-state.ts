import { NO_USAGE, type Usage } from '../agent/attempt.ts';
import type { MatchRule } from './policy.ts';

/** The state file's shape changes only with this number. */
export const SCHEMA_VERSION = 1;

export type EndedStatus =
  | 'paused_awaiting_approval'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'max_iterations_reached'
  | 'stalled'
  | 'budget_spent'
  | 'usage_limited'
  | 'stopped';

export type Status = 'pending' | 'running' | EndedStatus;

/** One counted iteration, as the state file and the notes show it. */
export interface IterationRecord {
  readonly number: number;
  readonly started_at: string;
  readonly duration_ms: number;
  /** The kind of its outcome: `answered`, `bounded`, `timed-out` or `errored`. */
  readonly outcome: string;
  readonly exit_code: number | null;
  readonly completed: boolean;
  readonly near_miss: boolean;
  readonly cost_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly turns: number;
  readonly tools: number;
  readonly refused: readonly string[];
  /** Null where nothing could tell. */
  readonly files_changed: number | null;
  readonly output_preview: string;
}

export interface ErrorRecord {
  readonly at: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly kind: string;
  readonly message: string;
}

/** What the loop waits for; `until` is an ISO instant. */
export interface Wait {
  readonly kind: 'delay' | 'back-off' | 'outage' | 'recheck' | 'usage-limit';
  readonly until: string;
}

/** The kinds of evidence in the state file, one for each completion condition. */
export const EVIDENCE_KINDS = [
  'promise',
  'watch-glob',
  'file-moved',
  'until',
  'plan-file',
  'signal',
] as const;

/** By what a task was found complete. */
export interface Evidence {
  readonly kind: (typeof EVIDENCE_KINDS)[number];
  /** One line for people: where it was seen. */
  readonly detail: string;
}

export interface Progress {
  readonly steps_total: number;
  readonly steps_completed: number;
  readonly current_step: string;
  readonly percentage: number;
}

/** What a person was asked to allow, and the answer. */
export interface Approval {
  readonly id: string;
  readonly what: string;
  /** The request's name in `Pending_Approval`; it is answered by being moved. */
  readonly file: string;
  /** The agent wrote the file itself. */
  readonly by_agent: boolean;
  readonly requested_at: string;
  readonly expires_at: string;
  /** Marks of what stood in the place of an answer when the request was made; null: not made yet. */
  readonly there_before: ThereBefore | null;
  readonly decision: 'approved' | 'rejected' | null;
  readonly answered_at: string | null;
  readonly answer_file: string | null;
  readonly reason: string | null;
}

export interface ThereBefore {
  readonly approved: string | null;
  readonly rejected: string | null;
}

interface Metrics {
  readonly total_duration_seconds: number;
  readonly iterations: number;
  readonly api_calls: number;
  readonly files_created: number | null;
  readonly files_modified: number | null;
}

/** Who drives the task now. */
export interface Driver {
  readonly pid: number;
  readonly pid_started_at: string;
  readonly boot_id: string;
  readonly host: string;
  /** Containers share host name and boot: a pid means something only within its namespace. */
  readonly pid_namespace: string;
  /** The marker of this driver's processes. */
  readonly run_id: string;
  /** Renewed while it lives. */
  readonly beat_at: string;
}

/** What the state file holds: one task, its settings in brief, and where it stands. */
export interface TaskState {
  readonly schema_version: number;
  readonly task_id: string;
  /** A preview; the whole prompt lies in `prompt.md` beside. */
  readonly task_prompt: string;
  readonly prompt_sha256: string;
  readonly task_type: string;
  readonly task_file: string | null;
  readonly completion_promise: string | null;
  readonly match: MatchRule;
  readonly watch_glob: readonly string[];
  readonly watch_file: string | null;
  readonly done_folder: string;
  readonly max_iterations: number;
  /** The number of the iteration that runs, or of the last one that ran. */
  readonly current_iteration: number;
  /** 1 for the first start of the agent in this iteration. */
  readonly attempt: number;
  readonly status: Status;
  readonly started_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
  readonly timeout_at: string;
  readonly exit_reason: string | null;
  readonly evidence: Evidence | null;
  readonly iterations: readonly IterationRecord[];
  readonly errors: readonly ErrorRecord[];
  readonly wait: Wait | null;
  readonly progress: Progress | null;
  readonly usage: Usage;
  readonly metrics: Metrics;
  readonly breaker: BreakerState;
  readonly paused_for_approval: boolean;
  readonly approval: Approval | null;
  readonly session_id: string | null;
  readonly git_base: string | null;
  readonly driver: Driver | null;
  /** Name of the file in the task's folder that holds what the loop knows beyond this. */
  readonly memory: string | null;
  /** Counts the steps that were saved: of two files the one with the higher number is the newer. */
  readonly save: number;
  /** Set where a program keeps the task's state by the library: it never has a driver then. */
  readonly kept_by?: 'library';
}

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

/** A task before its first iteration. */
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
    session_id: null,
    git_base: task.gitBase,
    driver: task.driver,
    memory: null,
    save: 0,
  };
}

/** The instant `ms` milliseconds after `at`. Both are ISO 8601 UTC. */
export function laterBy(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

/** Milliseconds from one ISO instant to another; negative when `to` is earlier. */
export function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

/**
 * Until when a task was worked on: the time since is not its own. A wait for a limit, an outage or a
 * person was no time to work in from its beginning.
 */
export function lastWorkAt(task: TaskState): string {
  if (task.finished_at !== null) return task.finished_at;
  const beatAt = task.driver?.beat_at ?? task.updated_at;
  return isWorkedUntil(task, beatAt) ? beatAt : task.updated_at;
}

/** Whether the time from the last save to a beat is the task's own. */
export function isWorkedUntil(task: TaskState, beatAt: string): boolean {
  const waits = task.paused_for_approval || (task.wait !== null && task.wait.kind !== 'delay');
  return !waits && msBetween(task.updated_at, beatAt) >= 0;
}

/** Whether a task has ended and its driver had not told so yet. Of a completed one see `isUntold`. */
export function hasUntoldEnd({ finished_at, driver }: TaskState): boolean {
  return finished_at !== null && driver !== null;
}

/** Records kept one by one; older ones live on in the totals, so that the file stays small. */
const ITERATIONS_KEPT = 60;
const ERRORS_KEPT = 40;

/** Appends an iteration; the oldest records are folded into `metrics` and `usage`, which hold all. */
export function withIteration(task: TaskState, record: IterationRecord): TaskState {
  return {
    ...task,
    iterations: [...task.iterations, record].slice(-ITERATIONS_KEPT),
    metrics: {
      ...task.metrics,
      iterations: task.metrics.iterations + 1,
      api_calls: task.metrics.api_calls + record.turns,
    },
  };
}

/** Appends an error; the newest are kept. */
export function withError(task: TaskState, error: ErrorRecord): TaskState {
  return { ...task, errors: [...task.errors, error].slice(-ERRORS_KEPT) };
}

/** What the breaker has counted so far, as the state file keeps it. */
export interface BreakerState {
  /** Iterations without progress since the last one with it. */
  readonly no_progress: number;
  /** Failed iterations with `last_error` since the last progress. */
  readonly same_error: number;
  /** Normalised. */
  readonly last_error: string | null;
}

export const NO_BREAKER: BreakerState = { no_progress: 0, same_error: 0, last_error: null };
