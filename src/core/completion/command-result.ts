/** How one of the user's shell commands ended. */
export interface CommandResult {
  readonly command: string;
  /** Null if the command was killed, for example by its time limit. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Standard output and standard error together, limited in size. */
  readonly output: string;
}

/** How a shell command ended, with all that its output says. */
export interface MeasuredResult extends CommandResult {
  /** ISO instant. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The number of tests that passed or failed; null if the output does not say it. */
  readonly tests: number | null;
  /** How many tests, files and hooks failed; null if no known test runner spoke. */
  readonly failures: number | null;
  /** The names of all failed tests; null if they are not known. */
  readonly failed: readonly string[] | null;
  /** Whether the runner left out tests since one had failed. */
  readonly stoppedEarly: boolean;
  /** The lines that tell of a failure which is no test, without their digits; 51 stand for more. */
  readonly otherFailures: readonly string[];
  /** Of all bytes of standard output and standard error, in the order in which they came. */
  readonly outputSha256: string;
}
