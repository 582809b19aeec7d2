import { EXIT_USAGE } from './exit-codes.ts';

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
