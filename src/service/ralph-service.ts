import { type EventBody, type RalphEvent, stamped } from '../core/machine/events.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { writeDuration } from '../core/settings/duration.ts';
import { type Evidence, msBetween, type TaskState } from '../core/task/task-state.ts';
import { oneLine, withoutControls } from '../core/text/untrusted-text.ts';
import { openTaskBooks, type TaskBooks } from '../effects/state/service-store.ts';
import { InvalidStateError, MaxIterationsExceededError, TimeoutError } from '../errors.ts';
import { endingEvent } from './ending-event.ts';
import { leaveAlone } from './leave-alone.ts';
import { readNewTask, settingsJson } from './new-task.ts';
import { askApproval, grantedApproval } from './service-approval.ts';
import { leaveNote } from './service-note.ts';
import { type RalphServiceOptions, type ServicePlace, servicePlace } from './service-options.ts';
import {
  type BookEnd,
  ended,
  isOpen,
  isOver,
  paused,
  resumed,
  startOfIteration,
  withCounts,
  withProgress,
  withReport,
} from './task-changes.ts';
import { type TaskLookup, taskLookup } from './task-lookup.ts';
import {
  type CompleteTaskOptions,
  checkApprovalId,
  checkCounts,
  checkProgress,
  checkReport,
  type IterationReport,
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
 * Records tasks that the calling program works on itself: it starts no agent, and its tasks have no
 * driver. States, events and notes have the same form as those of the command, so `ralph status` shows
 * these tasks, too. Calls on one service run one after another, in order.
 *
 * Every method that takes a task id rejects with `TaskNotFoundError` for an unknown id (`getTaskState`
 * resolves to null), with `StateCorruptedError` for a damaged state, with `InvalidStateError` if the
 * method is not allowed in the task's status, with `TaskAlreadyActiveError` if a live loop has the
 * task, and with the system's error if a file cannot be read or written.
 */
export class RalphService {
  readonly #place: ServicePlace;
  readonly #books: TaskBooks;
  readonly #lookup: TaskLookup;
  readonly #now: () => Date;
  readonly #onEvent: (event: RalphEvent) => void;
  /** Runs calls one after another. */
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws a `UsageError` for an invalid option or variable. */
  constructor(options: RalphServiceOptions = {}) {
    this.#place = servicePlace(options);
    this.#books = openTaskBooks(this.#place);
    this.#lookup = taskLookup(this.#books, this.#place.stateDir);
    this.#now = options.now ?? (() => new Date());
    this.#onEvent = options.onEvent ?? (() => undefined);
  }

  /**
   * Starts a task: `running` from a prompt, `pending` from a task file until its first iteration.
   * Rejects with `InvalidPromptError` for an empty prompt or one over 1 MB; with `TaskNotFoundError`
   * for a missing task file; with `TaskAlreadyActiveError` if this task is open, or, for a prompt
   * without a `taskId`, if another task of the library is running and has time left.
   */
  startTask(options: StartTaskOptions): Promise<StartedTask> {
    return this.#inTurn(async () => {
      const at = this.#at();
      const { prompt, task, isNamed } = readNewTask(options, this.#place, at);
      this.#lookup.refuseOpen(task.task_id, at);
      if (!isNamed) await this.#lookup.refuseSecond(at);
      await this.#books.create(task, { prompt, settings: settingsJson(task, this.#place.vault) });
      const { paths } = this.#books.find(task.task_id);
      this.#tell(task, {
        event: 'task_started',
        prompt: oneLine(task.task_prompt, 500),
        max_iterations: task.max_iterations,
      });
      return { ...task, state_file: paths.stateFile };
    });
  }

  /**
   * Resolves to the state of any task, also one in the history, or to null if there is none. An active
   * task without time left is shown as `timeout`, but its stored state does not change.
   */
  getTaskState(taskId: string): Promise<TaskState | null> {
    return this.#inTurn(async () => {
      const task = this.#lookup.read(taskId);
      const isLate = task?.kept_by === 'library' && isOver(task, this.#at());
      return task !== null && isLate ? { ...task, status: 'timeout' } : task;
    });
  }

  /**
   * Whether a task is complete: it was completed, its file is in the done folder, or the last reported
   * context states its promise. Changes nothing; `completeTask` does.
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
   * `TimeoutError` if it began after the time limit of the whole task.
   */
  incrementIteration(taskId: string, report: IterationReport): Promise<CountedTask> {
    return this.#inTurn(async () => {
      checkReport(report);
      const at = this.#at();
      const task = this.#lookup.atWork(taskId, 'only a task at work has iterations');
      if (task.current_iteration >= task.max_iterations) {
        throw new MaxIterationsExceededError(taskId, task.max_iterations);
      }
      if (msBetween(startOfIteration(task, report, at), task.timeout_at) <= 0) {
        throw new TimeoutError(taskId, task.timeout_at);
      }
      const counted = withReport(task, report, at);
      if ('context' in report) await this.#books.saveContext(taskId, report.context);
      await this.#books.save(counted);
      const { current_iteration: iteration, max_iterations } = counted;
      this.#tell(counted, taskIterated(counted));
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
      const moved = withProgress(task, update, this.#at());
      await this.#books.save(moved);
      return moved;
    });
  }

  /**
   * Pauses a task until a person answers: writes a request to allow `what` to `Pending_Approval`. The
   * time limit of the whole task is extended by the pause.
   */
  pauseTask(taskId: string, approvalId: string, what = approvalId): Promise<TaskState> {
    return this.#inTurn(async () => {
      checkApprovalId(approvalId);
      const at = this.#at();
      const task = this.#lookup.atWork(taskId, 'only a task at work can be paused');
      const logDir = this.#books.find(taskId).paths.folder;
      const request = { task, approvalId, what, logDir };
      const held = paused(task, await askApproval(request, this.#place.vault, at), at);
      await this.#books.save(held);
      const { id: approval_id, file } = held.approval;
      const wanted = held.approval.what;
      this.#tell(held, { event: 'task_paused', approval_id, what: wanted, file });
      return held;
    });
  }

  /**
   * Resumes a paused task. Rejects with `ApprovalPendingError` until its request is in `Approved`, and
   * if a person has rejected it.
   */
  resumeTask(taskId: string): Promise<TaskState> {
    return this.#inTurn(async () => {
      const task = this.#lookup.own(taskId);
      if (task.status !== 'paused_awaiting_approval' && task.status !== 'paused') {
        throw new InvalidStateError(taskId, task.status, 'only a paused task can be resumed');
      }
      const answerFile = await grantedApproval(task, this.#place.vault);
      const goingOn = resumed(task, answerFile, this.#at());
      await this.#books.save(goingOn);
      this.#tell(goingOn, taskResumed(goingOn));
      return goingOn;
    });
  }

  /** Ends a task as complete, and moves it to the history. */
  completeTask(taskId: string, options: CompleteTaskOptions = {}): Promise<TaskState> {
    return this.#inTurn(async () => {
      checkCounts(options);
      const task = this.#lookup.openTask(taskId);
      const evidence = await this.#evidence(task);
      const exitReason = oneLine(options.exitReason ?? '', 200) || 'completed';
      const how: BookEnd = { status: 'completed', exitReason, evidence };
      return this.#end(withCounts(task, options), how);
    });
  }

  /** Ends a task as failed, with a note for a human. */
  failTask(taskId: string, errorMessage: string): Promise<TaskState> {
    return this.#inTurn(async () => {
      const error = oneLine(maskSecrets(errorMessage), 500);
      return this.#end(this.#lookup.openTask(taskId), {
        status: 'failed',
        exitReason: 'failed:reported',
        error,
      });
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
      const task = await this.#endOnce(taskId, {
        status: 'max_iterations_reached',
        exitReason: 'max_iterations',
      });
      const message = `The task was not complete after ${task.max_iterations} iterations; a person has to look at it.`;
      return { ...task, message };
    });
  }

  async #endOnce(taskId: string, how: BookEnd): Promise<TaskState> {
    const task = this.#lookup.own(taskId);
    return task.status === how.status ? task : this.#end(this.#lookup.openTask(taskId), how);
  }

  /** Saves the state before it publishes the event. */
  async #end(task: TaskState, how: BookEnd): Promise<TaskState> {
    const at = this.#at();
    const over = ended(task, how, at);
    const taskId = task.task_id;
    const lastOutput = await this.#books.context(taskId);
    await this.#books.save(over.task);
    const isComplete = how.status === 'completed';
    const paths = isComplete ? await this.#books.archive(taskId) : this.#books.find(taskId).paths;
    const whole = { ...over, stateFile: paths.stateFile, logDir: paths.folder };
    const shown = lastOutput === null ? null : withoutControls(maskSecrets(lastOutput));
    const note = await leaveNote(whole, this.#place, shown, at).catch((error: unknown) => ({
      error,
    }));
    const isLeft = note === null || typeof note === 'string';
    this.#tell(over.task, endingEvent(whole, isLeft ? note : null, shown));
    if (!isLeft) throw note.error;
    return over.task;
  }

  /** Returns the evidence that an open task is complete, or null. A moved file counts before a promise. */
  async #evidence(task: TaskState): Promise<Evidence | null> {
    const arrived = await this.#books.arrived(task);
    return arrived === null ? task.evidence : { kind: 'file-moved', detail: arrived };
  }

  #tell(task: TaskState, body: EventBody): void {
    this.#publish(stamped(body, this.#at(), task.task_id));
  }

  #publish(event: RalphEvent): void {
    this.#books.append(event);
    leaveAlone(this.#onEvent(event));
  }

  #at(): string {
    return this.#now().toISOString();
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(action);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }
}

function taskResumed({ current_iteration, max_iterations, approval }: TaskState): EventBody {
  const body = { event: 'task_resumed' as const, iteration: current_iteration, max_iterations };
  if (approval === null || approval.answer_file === null) return body;
  return { ...body, approval_id: approval.id, decision: 'approved', file: approval.answer_file };
}

function taskIterated(task: TaskState): EventBody {
  const last = task.iterations.at(-1);
  if (last === undefined) throw new Error('the counted iteration is missing');
  const { number, ...record } = last;
  const error = record.outcome === 'errored' ? (task.errors.at(-1)?.message ?? '') : '';
  return { event: 'task_iterated', iteration: number, ...record, detail: error };
}
