import { NO_USAGE, type SessionUsage, type Usage } from '../agent/attempt.ts';
import type { SignName } from '../agent/sign.ts';
import type { EvidenceKind } from '../settings/rows/completion.ts';
import type { AgentStanding, JudgeStanding } from './agent-standing.ts';
import type { EndedStatus } from './endings.ts';
import type { MatchRule } from './policy.ts';
import type { TaskSandbox } from './task-sandbox.ts';

/** The version of the state file. Any change of its shape needs a new number. */
export const SCHEMA_VERSION = 1;

export type Status = 'pending' | 'running' | EndedStatus;

/** One counted iteration, as the state file and the notes show it. */
export interface IterationRecord {
  readonly number: number;
  /** The agent that answered; absent in a task with only one agent. */
  readonly agent?: string;
  readonly started_at: string;
  readonly duration_ms: number;
  /** The kind of outcome: `answered`, `bounded`, `timed-out`, `cut` or `errored`. */
  readonly outcome: string;
  /** The warning sign because of which ralph cut the iteration off; absent for any other outcome. */
  readonly cut_by?: SignName;
  readonly exit_code: number | null;
  readonly completed: boolean;
  readonly near_miss: boolean;
  readonly cost_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly turns: number;
  readonly tools: number;
  readonly refused: readonly string[];
  /** Null if unknown. */
  readonly files_changed: number | null;
  readonly output_preview: string;
}

/** The fields of an iteration that another program ran, about which ralph knows nothing. */
export const NOT_RUN_HERE = {
  ...{ exit_code: null, completed: false, near_miss: false },
  ...{ ...NO_USAGE, turns: 0, tools: 0, refused: [], files_changed: null },
} as const;

export interface ErrorRecord {
  readonly at: string;
  readonly iteration: number;
  readonly attempt: number;
  /** Absent in a task with only one agent. */
  readonly agent?: string;
  readonly kind: string;
  readonly message: string;
}

/** What the loop waits for; `until` is an ISO instant. */
export interface Wait {
  readonly kind: 'delay' | 'back-off' | 'outage' | 'recheck' | 'usage-limit';
  readonly until: string;
  /** Set if `until` is a guess, because the reset time of the usage limit is unknown. */
  readonly is_guess?: true;
}

/** The evidence that a task is complete. */
export interface Evidence {
  readonly kind: EvidenceKind;
  /** One line for people: the evidence itself, such as the line that states the promise. */
  readonly detail: string;
  /** The agent that completed the task; absent in a task with only one agent. */
  readonly agent?: string;
  /** Whether the completion is proven; absent if ralph did not look, for example if a program does the work itself. */
  readonly proof?: EvidenceProof;
}

/** Whether the completion of a task is proven: every check passed, and nothing speaks against it. */
export interface EvidenceProof {
  readonly proven: boolean;
  /** One line: the checks that prove it, or the first reason why it is not proven. */
  readonly text: string;
  /** What was found against the completion, one line for each finding. */
  readonly findings: readonly string[];
}

export interface Progress {
  readonly steps_total: number;
  readonly steps_completed: number;
  readonly current_step: string;
  readonly percentage: number;
}

/** What a person was asked to approve, and the answer. */
export interface Approval {
  readonly id: string;
  readonly what: string;
  /** The name of the request's file in the folder `Pending_Approval`; moving the file answers the request. */
  readonly file: string;
  /** Whether the agent itself wrote the request's file. */
  readonly by_agent: boolean;
  readonly requested_at: string;
  readonly expires_at: string;
  /** Fingerprints of the files that were in `Approved` and `Rejected` before; null until the request is written. */
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

export const NO_METRICS: Metrics = {
  total_duration_seconds: 0,
  iterations: 0,
  api_calls: 0,
  files_created: null,
  files_modified: null,
};

/** The ralph process that drives the task. */
export interface Driver {
  readonly pid: number;
  readonly pid_started_at: string;
  readonly boot_id: string;
  readonly host: string;
  /** Containers may share host name and boot id, and a pid means something only within its namespace. */
  readonly pid_namespace: string;
  /** Identifies the processes of this driver. */
  readonly run_id: string;
  /** The last heartbeat, as an ISO instant. */
  readonly beat_at: string;
}

/** What a task has in git besides its commits. */
export interface TaskGit {
  /** The prefix of the refs of its snapshots, such as `refs/ralph/fix-login@3f9a1c04`; null if it has none. */
  readonly snapshots: string | null;
  /** The work tree that ralph made for the task; null without `--worktree`. */
  readonly work_tree: OwnWorkTree | null;
  /** The branches that have commits of iterations, the branch of the newest commit last; absent without any. */
  readonly branches?: readonly string[] | undefined;
}

/** Returns the branches after one more commit. */
export function withCommitOn({ branches = [] }: TaskGit, branch: string): readonly string[] {
  return [...branches.filter((each) => each !== branch), branch];
}

/** A work tree that belongs to one task. */
export interface OwnWorkTree {
  /** Absolute path. */
  readonly path: string;
  /** The branch that is checked out in it, such as `ralph/fix-login`. */
  readonly branch: string;
  /** The commit at which the branch began. */
  readonly base: string;
  /** The branch from which the base was taken, such as `main`; null if it was not a branch. */
  readonly onto: string | null;
  /** Absolute path of the work tree in which the task was started. */
  readonly origin: string;
}

export const NOTHING_IN_GIT: TaskGit = { snapshots: null, work_tree: null };

/** The content of the state file: one task, its main settings, and its progress. */
export interface TaskState {
  readonly schema_version: number;
  readonly task_id: string;
  /** A preview; `prompt.md` in the task's folder contains the whole prompt. */
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
  /** The number of the running iteration, or of the last one. */
  readonly current_iteration: number;
  /** The number of the attempt in this iteration: 1 for the first start of the agent. */
  readonly attempt: number;
  readonly status: Status;
  readonly started_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
  readonly timeout_at: string;
  readonly exit_reason: string | null;
  /** The flags with which ralph would accept what ended the task; absent if there are none or it has not ended. */
  readonly accepting?: readonly string[];
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
  /** The agent of the running attempt, or of the last one; null before the first. */
  readonly agent: string | null;
  /** What is known about each agent of a task with several, by name; empty in a task with only one agent. */
  readonly agents: Readonly<Record<string, AgentStanding>>;
  /** The agent that judges claims of completion; absent until it is asked. */
  readonly judge?: JudgeStanding;
  /** The session of `agent` that can be resumed; null if there is none. */
  readonly session_id: string | null;
  /** The total usage that the agent last reported for its session; null if it reports no total. */
  readonly session_usage: SessionUsage | null;
  readonly git_base: string | null;
  readonly driver: Driver | null;
  /** The file in the task's folder with the rest of the loop's state. */
  readonly memory: string | null;
  /** Counts the saved steps: of two state files of the task, the one with the higher number is newer. */
  readonly save: number;
  /** What the task has in git besides its commits. */
  readonly git: TaskGit;
  /** Null if no run of the task had a sandbox. */
  readonly sandbox: TaskSandbox | null;
  /** Set if a program that uses ralph as a library stores the task. Such a task never has a driver. */
  readonly kept_by?: 'library';
}

/** Returns the instant `ms` milliseconds after `at`, both as ISO 8601 in UTC. */
export function laterBy(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

/** Milliseconds from one ISO instant to another; negative when `to` is earlier. */
export function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

/**
 * Returns the instant until which a task was worked on; later time does not count against its time limit. Time spent
 * waiting for a usage limit, an outage or a person does not count as work.
 */
export function lastWorkAt(task: TaskState): string {
  if (task.finished_at !== null) return task.finished_at;
  const beatAt = task.driver?.beat_at ?? task.updated_at;
  return isWorkedUntil(task, beatAt) ? beatAt : task.updated_at;
}

/** Returns the seconds from the start of a task until it was last worked on, rounded to a tenth. */
export function elapsedSeconds(task: TaskState): number {
  return Math.round(Math.max(0, msBetween(task.started_at, lastWorkAt(task))) / 100) / 10;
}

/** Whether the time from the last save of the state to a heartbeat counts against the task's time limit. */
export function isWorkedUntil(task: TaskState, beatAt: string): boolean {
  const waits = task.paused_for_approval || (task.wait !== null && task.wait.kind !== 'delay');
  return !waits && msBetween(task.updated_at, beatAt) >= 0;
}

/** Whether a task's ending is still to be announced. False for a completed task, whose state keeps no driver. */
export function hasUnannouncedEnding({ finished_at, driver }: TaskState): boolean {
  return finished_at !== null && driver !== null;
}

/** How many iterations and errors are stored. Older ones remain in the totals, so the file stays small. */
const ITERATIONS_KEPT = 60;

const ERRORS_KEPT = 40;

/** Appends an iteration and drops the oldest records, which remain part of `metrics` and `usage`. */
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

/** Appends an error and keeps only the newest. */
export function withError(task: TaskState, error: ErrorRecord): TaskState {
  return { ...task, errors: [...task.errors, error].slice(-ERRORS_KEPT) };
}

/** Returns the error message of the last iteration; null if that iteration did not fail. */
export function lastFailure({ iterations, errors }: TaskState): string | null {
  const last = iterations.at(-1);
  const error = errors.at(-1);
  const isOfLast = last?.outcome === 'errored' && error?.iteration === last.number;
  return isOfLast ? error.message : null;
}

/** The counters of the circuit breaker, which stops a loop that gets nowhere. */
export interface BreakerState {
  /** Iterations since the last one with progress. */
  readonly no_progress: number;
  /** Failed iterations with `last_error` since the last progress. */
  readonly same_error: number;
  /** The error in normalised form; null if there is none. */
  readonly last_error: string | null;
}

export const NO_BREAKER: BreakerState = { no_progress: 0, same_error: 0, last_error: null };

/** Returns the tool calls that were refused in the newest iteration. */
export function refusedLast({ iterations }: Pick<TaskState, 'iterations'>): readonly string[] {
  return iterations.at(-1)?.refused ?? [];
}
