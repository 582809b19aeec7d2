import type { CheckResult } from '../check-result.ts';
import type { Examination } from '../examination.ts';

/** Matches what programs print if a script or a target does not exist. */
const NOT_THERE =
  /^(?:npm (?:ERR!|error) Missing script: |Error: no test specified$|make: \*\*\* No rule to make target [^,]*\.\s+Stop\.|.*ERR_PNPM_NO_SCRIPT|error Command "[^"]*" not found\.)/m;

/**
 * Whether a check had nothing to judge at the start: its script or command did not exist or could not be run, or it ran
 * no test. If there were test files, running no test means that they could not be loaded, which is a failure.
 */
export function judgedNothing(
  { exitCode, tests, output }: Pick<CheckResult, 'exitCode' | 'tests' | 'output'>,
  { deciders }: Examination,
): boolean {
  if (tests === null && exitCode !== 0 && NOT_THERE.test(output)) return true;
  return deciders?.hadTests !== true && (tests === 0 || exitCode === 126 || exitCode === 127);
}
