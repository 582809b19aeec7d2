import { EXIT_ALREADY_ACTIVE, EXIT_FAILED, EXIT_USAGE, exitCodeFor } from './exit-codes.ts';
import { commandHere } from './printed-command.ts';

// Errors about one task. Each names its task and what a program can do about it; all other errors are in `errors.ts`.

/** An error about a task as JSON, for another program. */
export interface TaskErrorJson {
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly task_id: string | null;
    /** Whether the task can continue once `action_required` is done. */
    readonly recoverable: boolean;
    readonly action_required: string;
  };
}

/** The exit code of each error, whether the task can continue, and what a program has to do before that. */
const TABLE = {
  TaskNotFoundError: [EXIT_FAILED, 'final', 'abort_task'],
  TaskAlreadyActiveError: [EXIT_ALREADY_ACTIVE, 'recoverable', 'end_active_task'],
  WorkTreeError: [EXIT_FAILED, 'recoverable', 'check_work_tree'],
  InvalidStateError: [EXIT_FAILED, 'final', 'check_status'],
  LeftToPersonError: [EXIT_FAILED, 'recoverable', 'manual_review'],
  StateCorruptedError: [EXIT_FAILED, 'recoverable', 'recreate_state'],
  BaselineMisfitError: [EXIT_FAILED, 'recoverable', 'check_folder'],
  InvalidPromptError: [EXIT_USAGE, 'final', 'correct_prompt'],
  ApprovalPendingError: [exitCodeFor('paused', 'approval'), 'recoverable', 'answer_approval'],
  UntrustedTaskError: [EXIT_FAILED, 'recoverable', 'review_and_trust'],
  MaxIterationsExceededError: [
    exitCodeFor('max_iterations_reached', 'max_iterations'),
    'final',
    'manual_review',
  ],
  TimeoutError: [exitCodeFor('timeout', 'timeout'), 'final', 'notify_user'],
} as const;

/** An error about one task. `message` starts with the error's type, for logs of programs; people see `sentence`. */
abstract class TaskError extends Error {
  readonly exitCode: number;
  readonly taskId: string | null;
  readonly recoverable: boolean;
  readonly actionRequired: string;
  readonly sentence: string;

  /** `taskId` is null if the task has no id yet. */
  constructor(
    type: keyof typeof TABLE,
    taskId: string | null,
    sentence: string,
    exitCode: number = TABLE[type][0],
  ) {
    super(`${type}: ${sentence}`);
    this.name = type;
    this.exitCode = exitCode;
    this.taskId = taskId;
    this.recoverable = TABLE[type][1] === 'recoverable';
    this.actionRequired = TABLE[type][2];
    this.sentence = sentence;
  }

  toJSON(): TaskErrorJson {
    return {
      error: {
        type: this.name,
        message: this.sentence,
        task_id: this.taskId,
        recoverable: this.recoverable,
        action_required: this.actionRequired,
      },
    };
  }
}

/** The state folder contains no task with this id. */
export class TaskNotFoundError extends TaskError {
  constructor(
    taskId: string,
    stateDir: string,
    sentence = `there is no task '${taskId}' in ${stateDir}; check the id and --vault.`,
  ) {
    super('TaskNotFoundError', taskId, sentence);
  }
}

/** A live process of ralph already runs this task. */
export class TaskAlreadyActiveError extends TaskError {
  /** `where` says which process runs the loop: `pid 123, iteration 3/10`. */
  constructor(
    taskId: string,
    where: string,
    sentence = `a live loop already has task '${taskId}' (${where}).\nto end it: ${commandHere('stop', taskId)}`,
  ) {
    super('TaskAlreadyActiveError', taskId, sentence);
  }
}

/** Another task works in the work tree. */
export class WorkTreeTakenError extends TaskAlreadyActiveError {
  readonly who: string;

  /** `who` names the other task, with its vault: `task 'nightly' of the vault /notes`. */
  constructor(taskId: string, root: string, who: string) {
    super(
      taskId,
      who,
      `${who} works in the work tree ${root}, and two loops would undo each other's work; give this task a work tree of its own with --worktree, or wait until the other one has ended (--share-worktree lets both work there).`,
    );
    this.who = who;
  }
}

/** The task's own work tree cannot be made or used. */
export class WorkTreeError extends TaskError {
  /** `why` is a whole sentence without a full stop. */
  constructor(taskId: string, why: string) {
    super('WorkTreeError', taskId, `${why}.`);
  }
}

/** The task's state does not allow the request. */
export class InvalidStateError extends TaskError {
  /** `why` is a phrase: `it has already ended`; `next` a line: `to continue: npx ralph resume nightly`. */
  constructor(taskId: string, status: string, why: string | null, ...next: readonly string[]) {
    super(
      'InvalidStateError',
      taskId,
      [`task '${taskId}' is ${status}${why === null ? '' : `; ${why}`}.`, ...next].join('\n'),
    );
  }
}

/** The task used up its budget or was killed repeatedly, so a person decides whether it may spend more. */
export class LeftToPersonError extends TaskError {
  /** `ended` says how the task ended: `budget_spent`. `resume` is the command that resumes it. */
  constructor(taskId: string, ended: string, resume: string, exitCode: number) {
    super(
      'LeftToPersonError',
      taskId,
      `task '${taskId}' has ended (${ended}), and a new run could spend as much again, so a person decides; a run without --resume-if-open starts again.\nto continue: ${resume}`,
      exitCode,
    );
  }
}

/** The state file of the task cannot be read. */
export class StateCorruptedError extends TaskError {
  /** `why` says what is wrong with the file: `not a ralph state file`. */
  constructor(taskId: string, stateFile: string, why: string) {
    super(
      'StateCorruptedError',
      taskId,
      `the state of task '${taskId}' in ${stateFile} cannot be read (${why}); repair it, or start again with a run of --task-id ${taskId}.`,
    );
  }
}

/** The files recorded at a task's start differ from those in the folder where it would be resumed. */
export class BaselineMisfitError extends TaskError {
  /** `why` is a phrase: `/w/README is not as it was noted in /v`. */
  constructor(taskId: string, cwd: string, why: string) {
    super(
      'BaselineMisfitError',
      taskId,
      `task '${taskId}' cannot be resumed in ${cwd}, since the files there differ from those recorded at its start (${why}); resume it where it began, restore the files, or start again with a run of --task-id ${taskId}.`,
    );
  }
}

/** The prompt is invalid, for example empty or too long. */
export class InvalidPromptError extends TaskError {
  /** `what` completes the sentence: `is empty`. */
  constructor(taskId: string | null, what: string) {
    super('InvalidPromptError', taskId, `the prompt ${what}; 1 byte to 1 MB of text is expected.`);
  }
}

/** The task waits for a person's approval. */
export class ApprovalPendingError extends TaskError {
  /** `what` is a phrase about the state of the request and what to do; `commands` are lines that do it. */
  constructor(taskId: string, what: string, commands: readonly string[] = []) {
    super(
      'ApprovalPendingError',
      taskId,
      [`task '${taskId}' waits for an approval; ${what}.`, ...commands].join('\n'),
    );
  }
}

/** The task was not written here by this user, so none of its commands run before a person trusts it. */
export class UntrustedTaskError extends TaskError {
  /** `why` completes a sentence about the task; `rights` says in words what it would be allowed to do. */
  constructor(taskId: string, stateDir: string, why: string, rights: readonly string[]) {
    const asks = rights.length === 0 ? '' : ` It would be run with ${rights.join(', ')}.`;
    super(
      'UntrustedTaskError',
      taskId,
      `task '${taskId}' in ${stateDir} ${why}, so nothing of it is run.${asks}\nto look at it: ${commandHere('status', taskId)}\nto take it over, if it is yours: ${commandHere('resume', taskId, ['--trust'])}`,
    );
  }
}

/** The iterations of a task are used up. */
export class MaxIterationsExceededError extends TaskError {
  constructor(taskId: string, maxIterations: number) {
    super(
      'MaxIterationsExceededError',
      taskId,
      `task '${taskId}' has used its ${maxIterations} iterations; a person has to look at it.`,
    );
  }
}

/** The time limit of the whole task has passed. */
export class TimeoutError extends TaskError {
  constructor(taskId: string, timeoutAt: string) {
    super(
      'TimeoutError',
      taskId,
      `the time limit of task '${taskId}' passed at ${timeoutAt}; its work so far is kept.`,
    );
  }
}
