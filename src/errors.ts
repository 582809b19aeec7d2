import { EXIT_ALREADY_ACTIVE, EXIT_FAILED, EXIT_USAGE } from './exit-codes.ts';

/**
 * A mistake of the caller's, found before anything was started. Carries every problem at once, each
 * one sentence: what was expected, what was found, what to do.
 */
export class UsageError extends Error {
  readonly exitCode = EXIT_USAGE;
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'UsageError';
    this.problems = problems;
  }
}

/** A state file that a newer ralph has written: it is neither read nor moved. */
export class StateTooNewError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(stateFile: string, version: number) {
    super(
      `${stateFile} was written by a newer ralph (schema ${version}); use that one, or another --task-id.`,
    );
    this.name = 'StateTooNewError';
  }
}

/** No task has this id here. */
export class TaskNotFoundError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(taskId: string, stateDir: string) {
    super(
      `TaskNotFoundError: there is no task '${taskId}' in ${stateDir}; check the id and --vault.`,
    );
    this.name = 'TaskNotFoundError';
  }
}

/** A live loop has this task. */
export class TaskAlreadyActiveError extends Error {
  readonly exitCode = EXIT_ALREADY_ACTIVE;

  /** `where` says who drives it: `pid 123, iteration 3/10`. */
  constructor(taskId: string, where: string) {
    super(
      `TaskAlreadyActiveError: a live loop already has task '${taskId}' (${where}); look with ralph status, end it with ralph stop ${taskId}.`,
    );
    this.name = 'TaskAlreadyActiveError';
  }
}

/** What was asked for does not go with how the task stands. */
export class InvalidStateError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(taskId: string, status: string) {
    super(`InvalidStateError: task '${taskId}' is ${status}; a hint reaches a running task only.`);
    this.name = 'InvalidStateError';
  }
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
