/** The result of one of the user's shell commands. */
export interface CommandResult {
  readonly command: string;
  /** Null if the command was killed, for example by its time limit. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Standard output and standard error together, limited in size. */
  readonly output: string;
}

/** The result of a shell command, with what its output says about tests. */
export interface MeasuredResult extends CommandResult {
  /** ISO instant. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The number of tests that passed or failed; null if the output does not say it. */
  readonly tests: number | null;
  /** How many tests, files and hooks failed; null if the output is not from a known test runner. */
  readonly failures: number | null;
  /** The names of all failed tests; null if unknown. */
  readonly failed: readonly string[] | null;
  /** Whether the runner left out tests because one had failed. */
  readonly stoppedEarly: boolean;
  /** The lines that report a failure other than a test, without digits. 51 lines mean that there were even more. */
  readonly otherFailures: readonly string[];
  /** The hash of all bytes of standard output and standard error, in the order of their arrival. */
  readonly outputSha256: string;
}
