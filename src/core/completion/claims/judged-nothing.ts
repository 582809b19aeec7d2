import type { CheckResult } from '../check-result.ts';

/** What programs say of a script or a target that is not there. */
const NOT_THERE =
  /^(?:npm (?:ERR!|error) Missing script: |Error: no test specified$|make: \*\*\* No rule to make target [^,]*\.\s+Stop\.|.*ERR_PNPM_NO_SCRIPT|error Command "[^"]*" not found\.)/m;

/**
 * Whether a check had nothing to judge by at the start: what it names was not there, or it ran no test. Where test files
 * stood, they could not be loaded: that is red.
 */
export function judgedNothing(
  { exitCode, tests, output }: Pick<CheckResult, 'exitCode' | 'tests' | 'output'>,
  hadTests: boolean,
): boolean {
  if (tests === null && exitCode !== 0 && NOT_THERE.test(output)) return true;
  return !hadTests && (tests === 0 || exitCode === 126 || exitCode === 127);
}
