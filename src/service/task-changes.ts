import { judgePromise } from '../core/completion/promise.ts';
import { end, type HowItEnded } from '../core/machine/ending.ts';
import type { Ending } from '../core/machine/loop-state.ts';
import { initialState } from '../core/machine/transition.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import {
  type Approval,
  type Evidence,
  type IterationRecord,
  laterBy,
  msBetween,
  newTaskState,
  type TaskState,
  withError,
  withIteration,
} from '../core/task/task-state.ts';
import { oneLine, withoutControls } from '../core/text/untrusted-text.ts';
import type {
  CompleteTaskOptions,
  IterationReport,
  ProgressUpdate,
  TaskSettings,
} from './task-options.ts';

/*
 * How each method of the library changes a task. All functions are pure: the time is an argument.
 *
 *   pending ──► running ◄──► paused_awaiting_approval
 *      │           │                  │
 *      └───────────┴──────────────────┴──► completed, failed, timeout, max_iterations_reached
 */

const PREVIEW_CHARS = 200;
const PROMPT_CHARS = 1_000;

/** The data of a new task. */
export interface NewBookTask {
  readonly taskId: string;
  readonly prompt: string;
  readonly promptSha256: string;
  readonly settings: TaskSettings;
  /** Absolute path, or null if the prompt did not come from a file. */
  readonly taskFile: string | null;
  readonly doneFolder: string;
}

/** Creates a task: `pending` until its first iteration if it comes from a file, otherwise `running`. */
export function newBookTask(task: NewBookTask, at: string): TaskState {
  const { settings, taskFile } = task;
  const named = settings.strategy === 'file_movement' ? `${task.taskId}.md` : null;
  const state = newTaskState(
    {
      taskId: task.taskId,
      promptPreview: promptPreview(task.prompt, PROMPT_CHARS),
      promptSha256: task.promptSha256,
      taskType: settings.taskType,
      promise: settings.promise,
      match: 'statement',
      watchGlobs: [],
      watchFile: taskFile ?? named,
      doneFolder: task.doneFolder,
      maxIterations: settings.maxIterations,
      taskTimeoutMs: settings.timeoutMs,
      driver: null,
      gitBase: null,
    },
    at,
  );
  const status = taskFile === null ? 'running' : 'pending';
  return { ...state, status, task_file: taskFile, kept_by: 'library' };
}

/** The beginning of a prompt, without control characters and secrets. */
function promptPreview(prompt: string, length: number): string {
  return withoutControls(maskSecrets(prompt)).slice(0, length);
}

function preview(text: string): string {
  return oneLine(maskSecrets(text), PREVIEW_CHARS);
}

/** Counts an iteration that ended at `at`. */
export function withReport(task: TaskState, report: IterationReport, at: string): TaskState {
  const startedAt = startOfIteration(task, report, at);
  const number = task.current_iteration + 1;
  const evidence = statedIn(task, report);
  const isGood = 'context' in report || report.result === 'success';
  const record: IterationRecord = {
    number,
    started_at: startedAt,
    duration_ms: Math.max(0, msBetween(startedAt, at)),
    outcome: isGood ? 'answered' : 'errored',
    exit_code: null,
    completed: evidence !== null,
    near_miss: false,
    cost_usd: 0,
    input_tokens: 0,
    output_tokens: 0,
    turns: 0,
    tools: 0,
    refused: [],
    files_changed: null,
    output_preview: preview('context' in report ? report.context : report.action),
  };
  const counted: TaskState = {
    ...withIteration(task, record),
    status: 'running',
    current_iteration: number,
    attempt: 1,
    updated_at: at,
    evidence,
  };
  if (isGood) return counted;
  const message = oneLine(maskSecrets(report.result), 500);
  return withError(counted, { at, iteration: number, attempt: 1, kind: 'reported', message });
}

/** When the iteration that ends at `at` began: as reported, or at the end of the previous one. */
export function startOfIteration(task: TaskState, report: IterationReport, at: string): string {
  if (!('context' in report)) return laterBy(at, -Math.round(report.durationSeconds * 1_000));
  const last = task.iterations.at(-1);
  return last === undefined ? task.started_at : laterBy(last.started_at, last.duration_ms);
}

/** Looks for the promise in a reported output, by the same rule as `ralph run`. */
function statedIn(task: TaskState, report: IterationReport): Evidence | null {
  if (!('context' in report) || task.completion_promise === null) return null;
  const verdict = judgePromise(report.context, task.completion_promise, task.match, []);
  return verdict.kind === 'stated' ? { kind: 'promise', detail: maskSecrets(verdict.line) } : null;
}

export function withProgress(task: TaskState, update: ProgressUpdate, at: string): TaskState {
  const { stepsTotal, stepsCompleted } = update;
  return {
    ...task,
    status: 'running',
    updated_at: at,
    progress: {
      steps_total: stepsTotal,
      steps_completed: stepsCompleted,
      current_step: preview(update.currentStep),
      percentage: Math.round((1_000 * stepsCompleted) / stepsTotal) / 10,
    },
  };
}

export function paused(
  task: TaskState,
  approval: Approval,
  at: string,
): TaskState & { readonly approval: Approval } {
  return {
    ...task,
    approval,
    status: 'paused_awaiting_approval',
    paused_for_approval: true,
    updated_at: at,
  };
}

/** Resumes a task, and extends its time limit by the time it was paused. */
export function resumed(task: TaskState, answerFile: string | null, at: string): TaskState {
  const waitedMs = Math.max(0, msBetween(task.updated_at, at));
  const { approval } = task;
  return {
    ...task,
    approval:
      approval === null
        ? null
        : { ...approval, decision: 'approved', answered_at: at, answer_file: answerFile },
    status: 'running',
    paused_for_approval: false,
    timeout_at: laterBy(task.timeout_at, waitedMs),
    updated_at: at,
  };
}

/** How the calling program ends a task. */
export type BookEnd = Extract<
  HowItEnded,
  { status: 'completed' | 'failed' | 'timeout' | 'max_iterations_reached' }
>;

/** Ends a task exactly as the loop does. */
export function ended(
  task: TaskState,
  how: BookEnd,
  at: string,
): { readonly task: TaskState; readonly ending: Ending } {
  const { state, actions } = end(initialState(task), at, how);
  const stop = actions.find((action) => action.kind === 'stop');
  if (stop === undefined) throw new Error('an ended task has no ending');
  return {
    task: { ...state.task, updated_at: at, paused_for_approval: false },
    ending: stop.ending,
  };
}

/** Adds the counts that the calling program reports. */
export function withCounts(task: TaskState, counts: CompleteTaskOptions): TaskState {
  return {
    ...task,
    metrics: {
      ...task.metrics,
      api_calls: counts.apiCalls ?? task.metrics.api_calls,
      files_created: counts.filesCreated ?? task.metrics.files_created,
      files_modified: counts.filesModified ?? task.metrics.files_modified,
    },
  };
}

export function isOpen({ status }: TaskState): boolean {
  return isAtWork(status) || status === 'paused_awaiting_approval';
}

export function isAtWork(status: TaskState['status']): boolean {
  return status === 'pending' || status === 'running';
}

/** Whether a task is pending or running and has no time left. */
export function isOver(task: TaskState, at: string): boolean {
  return isAtWork(task.status) && msBetween(at, task.timeout_at) <= 0;
}
