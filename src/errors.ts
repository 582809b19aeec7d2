import type { SandboxRefusal } from './core/sandbox/rules.ts';
import { EXIT_AWAY, EXIT_FAILED, EXIT_USAGE } from './exit-codes.ts';
import { commandHere } from './printed-command.ts';

/**
 * A mistake of the caller, found before anything was started. Contains all problems, each as one
 * sentence: what was expected, what was found, what to do.
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

/** A newer ralph wrote the state file, so this one neither reads nor moves the file. */
export class StateTooNewError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(stateFile: string, version: number) {
    super(
      `${stateFile} was written by a newer ralph (schema ${version}); use that one, or another --task-id.`,
    );
    this.name = 'StateTooNewError';
  }
}

/** The task would start programs that `ralph rescue` or `ralph watch` was not given. */
export class BeyondPassError extends Error {
  readonly exitCode = EXIT_FAILED;
  /** Each program as a flag: `--agent-command 'x'`. */
  readonly programs: readonly string[];

  constructor(taskId: string, programs: readonly string[]) {
    super(
      `task '${taskId}' would run ${programs.join(', ')}, which this pass was not given.\nto continue it: ${commandHere('resume', taskId)}`,
    );
    this.name = 'BeyondPassError';
    this.programs = programs;
  }
}

/** A request to a task could not be written. */
export class RequestNotLeftError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(folder: string, why: string) {
    super(`The request could not be written to ${folder} (${why}); nothing was asked.`);
    this.name = 'RequestNotLeftError';
  }
}

/** A request that only a person may make came from inside the task's own loop. */
export class InsideOwnLoopError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(command: string, taskId: string) {
    super(
      `ralph ${command} is refused inside the loop of task '${taskId}' itself: that is for a person to decide, from another terminal.`,
    );
    this.name = 'InsideOwnLoopError';
  }
}

/** A request that only a person may make came from inside the loop of any task. */
export class InsideLoopError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(command: string) {
    super(
      `ralph ${command} is refused inside a loop: that is for a person to decide, from another terminal.`,
    );
    this.name = 'InsideLoopError';
  }
}

/** A file that ralph refuses to read: `EINVAL` if it is not regular, `EFBIG` if it is too large. */
export class FileRefusedError extends Error {
  readonly exitCode = EXIT_FAILED;
  readonly code: 'EFBIG' | 'EINVAL';

  constructor(code: 'EFBIG' | 'EINVAL', message: string) {
    super(message);
    this.name = 'FileRefusedError';
    this.code = code;
  }
}

/** The state folder exists but cannot be read. */
export class StateFolderError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(folder: string, cause: unknown) {
    super(`${folder} cannot be read (${messageOf(cause)}); check its owner and mode.`);
    this.name = 'StateFolderError';
  }
}

/** A folder of the vault that cannot be used. */
export class VaultFolderError extends Error {
  readonly exitCode = EXIT_FAILED;

  constructor(folder: string, why: string) {
    super(`${folder} ${why}.`);
    this.name = 'VaultFolderError';
  }
}

/** What a command about snapshots needs is not there, or could not be done. */
export class SnapshotsError extends Error {
  readonly exitCode = EXIT_FAILED;

  /** `sentence` says what was expected, what was found and what to do. */
  constructor(sentence: string) {
    super(sentence);
    this.name = 'SnapshotsError';
  }
}

/** `--sandbox` cannot be had, so nothing was started. */
export class SandboxError extends Error {
  readonly exitCode = EXIT_USAGE;
  readonly code: SandboxRefusal;

  /** `sentence` says what was expected, what was found and what to do. */
  constructor(code: SandboxRefusal, sentence: string) {
    super(sentence);
    this.name = 'SandboxError';
    this.code = code;
  }
}

/** A fleet cannot be used as it was asked to; `sentence` says what was expected, what was found and what to do. */
export class FleetError extends Error {
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number = EXIT_USAGE) {
    super(sentence);
    this.name = 'FleetError';
    this.exitCode = exitCode;
  }
}

/** The database of a fleet cannot be reached at present. */
export class FleetAwayError extends Error {
  readonly exitCode = EXIT_AWAY;
  /** It is there, but a statement took too long. */
  readonly isSlow: boolean;

  constructor(fleet: string, why: string, isSlow = false) {
    super(`${fleet} ${isSlow ? 'is too slow' : 'cannot be reached'} (${why}).`);
    this.name = 'FleetAwayError';
    this.isSlow = isSlow;
  }
}

/** A proof cannot be read, or what it is about is not there. */
export class ProofError extends Error {
  readonly exitCode = EXIT_FAILED;

  /** `sentence` says what was expected, what was found and what to do. */
  constructor(sentence: string) {
    super(sentence);
    this.name = 'ProofError';
  }
}

/** A command of a list failed: the one that prints it, or one that cannot be started. */
export class ListCommandError extends Error {
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number = EXIT_FAILED) {
    super(sentence);
    this.name = 'ListCommandError';
    this.exitCode = exitCode;
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
