import { untagged } from '../core/completion/promise.ts';
import type { IterationReport } from '../core/machine/loop-event.ts';
import { DEFAULT_PROMISE } from '../core/settings/rows/completion.ts';
import { isPayment } from '../core/settings/task-type.ts';
import { isTaskId, TASK_ID_RULE } from '../core/task/task-id.ts';
import { UsageError } from '../errors.ts';
import type { ServicePlace } from './service-options.ts';

/** `promise`: a reported text states the completion promise. `file_movement`: the task's file is moved. */
export type CompletionStrategy = 'promise' | 'file_movement';

/** The options of a new task: a prompt or a task file, and limits. */
export interface StartTaskOptions {
  readonly prompt?: string;
  /** A path, first looked up in the vault (folder of task files). In the done folder, the file counts as complete. */
  readonly taskFile?: string;
  /** Default: the file's name without its extension, or date, time and six digits. */
  readonly taskId?: string;
  readonly taskType?: string;
  /** Default `promise`; a task file in the done folder counts with either strategy. */
  readonly completionStrategy?: CompletionStrategy;
  /** Default `TASK_COMPLETE`. */
  readonly completionPromise?: string;
  /** Default 10, or `RALPH_MAX_ITERATIONS`. */
  readonly maxIterations?: number;
  /** Default 30, or `RALPH_TIMEOUT_MINUTES`. Time in a pause does not count. */
  readonly timeoutMinutes?: number;
}

export interface ProgressUpdate {
  readonly stepsTotal: number;
  readonly stepsCompleted: number;
  readonly currentStep: string;
}

/** Facts about a completed task, as far as the caller knows them. */
export interface CompleteTaskOptions {
  /** Default `completed`. */
  readonly exitReason?: string;
  readonly apiCalls?: number;
  readonly filesCreated?: number;
  readonly filesModified?: number;
}

/** One thousand years: a longer limit might end beyond the range of a JavaScript date. */
const LONGEST_MINUTES = 365_000 * 1_440;

/** Returns the settings of a new task, checked. Throws a `UsageError` with all problems. */
export function taskSettings(options: StartTaskOptions, place: ServicePlace) {
  const problems: string[] = [];
  const {
    prompt,
    taskFile,
    taskId = null,
    taskType = 'default',
    completionStrategy: strategy = 'promise',
    completionPromise = DEFAULT_PROMISE,
    maxIterations = place.maxIterations,
    timeoutMinutes = place.timeoutMs / 60_000,
  } = options;
  if (prompt !== undefined && taskFile !== undefined) {
    problems.push('startTask expects a prompt or a taskFile; found both.');
  }
  if (taskId !== null && !isTaskId(taskId)) {
    problems.push(`taskId expects ${TASK_ID_RULE}; found '${taskId}'.`);
  }
  if (isPayment(taskType)) {
    problems.push(`taskType '${taskType}' is a payment: ralph never automates payments.`);
  }
  if (strategy !== 'promise' && strategy !== 'file_movement') {
    problems.push(`completionStrategy expects 'promise' or 'file_movement'; found '${strategy}'.`);
  }
  const promise = untagged(completionPromise);
  if (promise === '') {
    problems.push(
      'completionPromise expects words; found an empty text, which every output contains.',
    );
  }
  if (!isCount(maxIterations, 1)) {
    problems.push(`maxIterations expects a whole number, at least 1; found ${maxIterations}.`);
  }
  if (!(timeoutMinutes > 0 && timeoutMinutes <= LONGEST_MINUTES)) {
    problems.push(`timeoutMinutes expects a number above 0; found ${timeoutMinutes}.`);
  }
  if (problems.length > 0) throw new UsageError(problems);
  return {
    taskId,
    taskType,
    strategy,
    promise: strategy === 'promise' ? promise : null,
    maxIterations,
    timeoutMs: Math.round(timeoutMinutes * 60_000),
  };
}

/** Throws a `UsageError` if the report of an iteration is invalid. */
export function checkReport(report: IterationReport): void {
  if ('context' in report) {
    if (typeof report.context === 'string') return;
    throw new UsageError(['incrementIteration expects a context of text.']);
  }
  const { action, result, durationSeconds } = report;
  const isGood = typeof action === 'string' && typeof result === 'string' && durationSeconds >= 0;
  if (isGood && Number.isFinite(durationSeconds)) return;
  throw new UsageError([
    'incrementIteration expects {context}, or {action, result, durationSeconds} with texts and a number of seconds.',
  ]);
}

/** Throws a `UsageError` if the step counts are invalid. */
export function checkProgress({ stepsTotal, stepsCompleted, currentStep }: ProgressUpdate): void {
  const isGood =
    isCount(stepsTotal, 1) && isCount(stepsCompleted, 0) && stepsCompleted <= stepsTotal;
  if (isGood && typeof currentStep === 'string') return;
  throw new UsageError([
    `updateProgress expects whole numbers, with stepsTotal at least 1 and stepsCompleted at most stepsTotal; found ${stepsCompleted} of ${stepsTotal}.`,
  ]);
}

/** Throws a `UsageError` if an approval's id is invalid. The id becomes part of a file name. */
export function checkApprovalId(approvalId: string): void {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(approvalId)) return;
  throw new UsageError([
    `approvalId expects 1 to 64 characters of A-Z a-z 0-9 . _ -, not beginning with a dot; found '${approvalId}'.`,
  ]);
}

/** Throws a `UsageError` if a count of a completed task is invalid. */
export function checkCounts(options: CompleteTaskOptions): void {
  const { apiCalls = 0, filesCreated = 0, filesModified = 0 } = options;
  if ([apiCalls, filesCreated, filesModified].every((count) => isCount(count, 0))) return;
  throw new UsageError(['completeTask expects counts that are whole numbers, at least 0.']);
}

function isCount(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}
