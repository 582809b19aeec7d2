import { startOfIteration } from '../core/machine/caller-events.ts';
import type { CallerEvent, IterationReport } from '../core/machine/loop-event.ts';
import { maskSecrets, preview } from '../core/secrets/secrets.ts';
import { writeDuration } from '../core/settings/duration.ts';
import { type Evidence, msBetween, type TaskState } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { openServiceStore } from '../effects/state/service-store.ts';
import { inTurns } from '../rescue/in-turns.ts';
import { InvalidStateError, MaxIterationsExceededError, TimeoutError } from '../task-errors.ts';
import { applyEvent, type CallerWorld } from './apply-event.ts';
import { grantedApproval } from './granted-approval.ts';
import { librarySettingsJson, readNewTask } from './new-task.ts';
import { type RalphServiceOptions, servicePlace } from './service-options.ts';
import { isOpen, isOver, type TaskLookup, taskLookup } from './task-lookup.ts';
import {
  type CompleteTaskOptions,
  checkApprovalId,
  checkCounts,
  checkProgress,
  checkReport,
  type ProgressUpdate,
  type StartTaskOptions,
} from './task-options.ts';

/** A new task and the path of its state file. */
export type StartedTask = TaskState & { readonly state_file: string };

/** A task after an iteration was counted. */
export type CountedTask = TaskState & {
  readonly iteration: number;
  /** False if the task is complete, or has no iterations or no time left. */
  readonly should_continue: boolean;
};

/** A task that ended incomplete, with a message for people. */
export type EndedTask = TaskState & { readonly message: string };

/**
 * Records tasks that the calling program works on itself: the service starts no agent, and no other process of ralph
 * drives these tasks. States, events and notes have the same form as those of the command, so `ralph status` shows the
 * tasks, too. Calls on one service run one after another, in order.
 *
 * Every method that takes a task id rejects with `TaskNotFoundError` for an unknown id (`getTaskState` resolves to
 * null), with `StateCorruptedError` for a damaged state, with `InvalidStateError` if the method is not allowed in the
 * task's status, with `TaskAlreadyActiveError` if a live process has it, and with the system's error if a file
 * cannot be read or written.
 */
export class RalphService {
  readonly #world: CallerWorld;
  readonly #lookup: TaskLookup;
  readonly #inTurn = inTurns();

  /** Throws a `UsageError` for an invalid option or variable. */
  constructor(options: RalphServiceOptions = {}) {
    const { now = () => new Date(), onEvent = () => undefined } = options;
    const place = servicePlace(options);
    const store = openServiceStore(place);
    this.#world = { place, store, now: () => now().toISOString(), onEvent };
    this.#lookup = taskLookup(store, place.stateDir);
  }

  /**
   * Starts a task: `running` from a prompt, `pending` from a task file until its first iteration.
   * Rejects with `InvalidPromptError` for an empty prompt or one over 1 MB; with `TaskNotFoundError`
   * for a missing task file; with `TaskAlreadyActiveError` if this task is running or waits for an approval, or,
   * for a prompt without a `taskId`, if another task of the library is running and has time left.
   */
  startTask(options: StartTaskOptions): Promise<StartedTask> {
    return this.#inTurn(async () => {
      const at = this.#now();
      const { prompt, task, isNamed } = readNewTask(options, this.#world.place, at);
      this.#lookup.refuseOpen(task.task_id, at);
      if (!isNamed) this.#lookup.refuseSecond(at);
      const files = { prompt, settings: librarySettingsJson(task, this.#world.place.vault) };
      const create = (): Promise<void> => this.#world.store.create(task, files);
      await this.#apply(task, { kind: 'started-by-caller', at }, create);
      const { paths } = this.#world.store.find(task.task_id);
      return { ...task, state_file: paths.stateFile };
    });
  }

  /**
   * Resolves to the state of any task, even one in the history, or to null if there is none. An active task without
   * time left is shown as `timeout`, but its stored state does not change.
   */
  getTaskState(taskId: string): Promise<TaskState | null> {
    return this.#inTurn(async () => {
      const task = this.#lookup.read(taskId);
      const isLate = task?.kept_by === 'library' && isOver(task, this.#now());
      return task !== null && isLate ? { ...task, status: 'timeout' } : task;
    });
  }

  /**
   * Whether a task is complete: it was completed, its file is in the done folder, or the last reported
   * context states its completion promise. Changes nothing: only `completeTask` ends the task.
   */
  checkTaskComplete(taskId: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const task = this.#lookup.known(taskId);
      if (!isOpen(task)) return task.status === 'completed';
      return (await this.#evidence(task)) !== null;
    });
  }

  /**
   * Counts an iteration. Rejects with `MaxIterationsExceededError` if none is left, and with
   * `TimeoutError` if the iteration began after the time limit of the whole task.
   */
  incrementIteration(taskId: string, report: IterationReport): Promise<CountedTask> {
    return this.#inTurn(async () => {
      checkReport(report);
      const at = this.#now();
      const task = this.#lookup.atWork(taskId, 'only a task at work has iterations');
      if (task.current_iteration >= task.max_iterations) {
        throw new MaxIterationsExceededError(taskId, task.max_iterations);
      }
      if (msBetween(startOfIteration(task, report, at), task.timeout_at) <= 0) {
        throw new TimeoutError(taskId, task.timeout_at);
      }
      if ('context' in report) await this.#world.store.saveContext(taskId, report.context);
      const counted = await this.#apply(task, { kind: 'reported-by-caller', at, report });
      const { current_iteration: iteration, max_iterations } = counted;
      const isLast = iteration >= max_iterations || isOver(counted, at);
      const should_continue = !isLast && (await this.#evidence(counted)) === null;
      return { ...counted, iteration, should_continue };
    });
  }

  /** Records a task's progress. */
  updateProgress(taskId: string, update: ProgressUpdate): Promise<TaskState> {
    return this.#inTurn(async () => {
      checkProgress(update);
      const task = this.#lookup.atWork(taskId, 'only a task at work makes progress');
      const { stepsTotal: total, stepsCompleted: done, currentStep } = update;
      const report = { done, total, step: preview(currentStep, 200) };
      return this.#apply(task, { kind: 'progressed-by-caller', at: this.#now(), report });
    });
  }

  /**
   * Pauses a task until a person answers: writes a request to allow `what` to `Pending_Approval`. The
   * time limit of the whole task is extended by the pause.
   */
  pauseTask(taskId: string, approvalId: string, what = approvalId): Promise<TaskState> {
    return this.#inTurn(async () => {
      checkApprovalId(approvalId);
      const at = this.#now();
      const task = this.#lookup.atWork(taskId, 'only a task at work can be paused');
      const request = { id: approvalId, what: oneLine(maskSecrets(what), 1_000), file: null };
      return this.#apply(task, { kind: 'paused-by-caller', at, request });
    });
  }

  /**
   * Resumes a paused task. Rejects with `ApprovalPendingError` until its request is in `Approved`, and
   * if a person has rejected the request.
   */
  resumeTask(taskId: string): Promise<TaskState> {
    return this.#inTurn(async () => {
      const task = this.#lookup.own(taskId);
      if (task.status !== 'paused_awaiting_approval' && task.status !== 'paused') {
        throw new InvalidStateError(taskId, task.status, 'only a paused task can be resumed');
      }
      const answer = await grantedApproval(task, this.#world.place.vault);
      return this.#apply(task, { kind: 'resumed-by-caller', at: this.#now(), answer });
    });
  }

  /** Ends a task as complete, and moves it to the history. */
  completeTask(taskId: string, options: CompleteTaskOptions = {}): Promise<TaskState> {
    return this.#inTurn(async () => {
      checkCounts(options);
      const task = this.#lookup.openTask(taskId);
      const evidence = await this.#evidence(task);
      const exitReason = oneLine(options.exitReason ?? '', 200) || 'completed';
      const { api_calls, files_created, files_modified } = task.metrics;
      const metrics = {
        ...task.metrics,
        api_calls: options.apiCalls ?? api_calls,
        files_created: options.filesCreated ?? files_created,
        files_modified: options.filesModified ?? files_modified,
      };
      return this.#end({ ...task, metrics }, { status: 'completed', exitReason, evidence });
    });
  }

  /** Ends a task as failed, with a note for a human. */
  failTask(taskId: string, errorMessage: string): Promise<TaskState> {
    return this.#inTurn(async () => {
      const error = oneLine(maskSecrets(errorMessage), 500);
      const how = { status: 'failed', exitReason: 'failed:reported', error } as const;
      return this.#end(this.#lookup.openTask(taskId), how);
    });
  }

  /** Ends a task whose time limit has passed, with a note for a human. A second call changes nothing. */
  handleTimeout(taskId: string): Promise<EndedTask> {
    return this.#inTurn(async () => {
      const task = await this.#endOnce(taskId, { status: 'timeout', exitReason: 'timeout' });
      const limit = writeDuration(Math.max(0, msBetween(task.started_at, task.timeout_at)));
      const message = `The task was not complete after ${limit}; its work so far is kept.`;
      return { ...task, message };
    });
  }

  /** Ends a task without iterations left, with a note for a human. A second call changes nothing. */
  handleMaxIterations(taskId: string): Promise<EndedTask> {
    return this.#inTurn(async () => {
      const how = { status: 'max_iterations_reached', exitReason: 'max_iterations' } as const;
      const task = await this.#endOnce(taskId, how);
      const message = `The task was not complete after ${task.max_iterations} iterations; a person has to look at it.`;
      return { ...task, message };
    });
  }

  async #endOnce(taskId: string, how: HowItEnds): Promise<TaskState> {
    const task = this.#lookup.own(taskId);
    return task.status === how.status ? task : this.#end(this.#lookup.openTask(taskId), how);
  }

  #end(task: TaskState, how: HowItEnds): Promise<TaskState> {
    return this.#apply(task, { kind: 'ended-by-caller', at: this.#now(), ending: how });
  }

  /** Returns the evidence that an open task is complete, or null. A moved file takes precedence over a promise. */
  async #evidence(task: TaskState): Promise<Evidence | null> {
    const arrived = await this.#world.store.arrived(task);
    return arrived === null ? task.evidence : { kind: 'file-moved', detail: arrived };
  }

  #apply(task: TaskState, event: CallerEvent, save?: () => Promise<void>): Promise<TaskState> {
    return applyEvent(this.#world, task, event, save);
  }

  #now(): string {
    return this.#world.now();
  }
}

type HowItEnds = Extract<CallerEvent, { kind: 'ended-by-caller' }>['ending'];
