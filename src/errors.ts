import type { Refusal } from './core/sandbox/refusals.ts';
import { EXIT_AWAY, EXIT_FAILED, EXIT_USAGE } from './exit-codes.ts';
import { commandHere } from './printed-command.ts';

/**
 * A command cannot do what it was asked to do. The message says what was expected, what was found and what to do. An
 * error gets a subclass only if some code catches it by its class.
 */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number = EXIT_FAILED) {
    super(sentence);
    this.name = new.target.name;
    this.exitCode = exitCode;
  }
}

/** The caller made mistakes, found before anything was started. Each of `problems` is one sentence. */
export class UsageError extends CommandError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), EXIT_USAGE);
    this.problems = problems;
  }
}

/** A newer ralph wrote the state file, so this version neither reads nor moves it. */
export class StateTooNewError extends CommandError {
  constructor(stateFile: string, version: number) {
    super(
      `${stateFile} was written by a newer ralph (schema ${version}); use that one, or another --task-id.`,
    );
  }
}

/** The task would start programs that the flags of the running `ralph rescue` or `ralph watch` do not allow. */
export class BeyondPassError extends CommandError {
  /** Each program as a flag: `--agent-command 'x'`. */
  readonly programs: readonly string[];

  constructor(taskId: string, programs: readonly string[]) {
    super(
      `task '${taskId}' would run ${programs.join(', ')}, which this pass was not given.\nto continue it: ${commandHere('resume', taskId)}`,
    );
    this.programs = programs;
  }
}

/** A command that only a person may give was started inside the run of a task, so perhaps by the agent. */
export class InsideLoopError extends CommandError {
  /** `taskId` names the task from whose own run the command came; null if the command is refused in every run. */
  constructor(command: string, taskId: string | null) {
    const refused =
      taskId === null
        ? 'is refused inside a loop'
        : `is refused inside the loop of task '${taskId}' itself`;
    super(`ralph ${command} ${refused}: that is for a person to decide, from another terminal.`);
  }
}

/** The user's command that prints a list of tasks has failed, or could not be started. */
export class ListCommandError extends CommandError {}

/** The sandbox of `--sandbox` is not available, so nothing was started. */
export class SandboxError extends CommandError {
  readonly code: Refusal['code'];

  constructor({ code, sentence }: Refusal) {
    super(sentence, EXIT_USAGE);
    this.code = code;
  }
}

/** A request to a fleet (machines that share a database of tasks) cannot be carried out. */
export class FleetError extends CommandError {
  constructor(sentence: string, exitCode: number = EXIT_USAGE) {
    super(sentence, exitCode);
  }
}

/** The database of a fleet cannot be reached at present. */
export class FleetAwayError extends CommandError {
  /** Whether the database can be reached, but a statement took too long. */
  readonly isSlow: boolean;

  constructor(fleet: string, why: string, isSlow = false) {
    super(`${fleet} ${isSlow ? 'is too slow' : 'cannot be reached'} (${why}).`, EXIT_AWAY);
    this.isSlow = isSlow;
  }
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
