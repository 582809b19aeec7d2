import { newFailure, stoppingWord } from '../proof/other-failures.ts';
import type { Check } from '../settings/checks.ts';
import type { MeasuredResult } from './command-result.ts';

/** A check and its result at the start of the task. */
export type CheckAtStart = Check &
  Pick<MeasuredResult, 'exitCode' | 'tests' | 'failed' | 'otherFailures'>;

/**
 * Says in a clause why the tests that failed at the start do not excuse a failed check; null if they do. A check may
 * fail for other reasons than its tests, so in doubt it is not excused.
 */
export function inTheWayOfKnown(
  now: MeasuredResult,
  start: CheckAtStart | undefined,
  { acceptFewer }: { readonly acceptFewer: boolean },
): string | null {
  if (start === undefined) return 'how it ended at the start is unknown';
  return (
    unknownName(now, start) ??
    otherExitCode(now, start) ??
    (acceptFewer ? null : fewerTests(now, start)) ??
    earlyStop(now) ??
    otherFailure(now, start)
  );
}

function unknownName({ failed }: MeasuredResult, start: CheckAtStart): string | null {
  if (failed === null) return 'not everything that failed has a name of its own';
  if (failed.length === 0) return 'no test failed';
  if (start.failed === null) return 'the names of what failed at the start are unknown';
  const known = new Set(start.failed);
  const unknown = failed.find((name) => !known.has(name));
  return unknown === undefined ? null : `'${unknown}' did not fail at the start`;
}

function otherExitCode({ exitCode }: MeasuredResult, start: CheckAtStart): string | null {
  if (exitCode === start.exitCode) return null;
  return `its exit code at the start was ${start.exitCode ?? 'a signal'}`;
}

function fewerTests({ tests }: MeasuredResult, start: CheckAtStart): string | null {
  if ((tests ?? 0) >= (start.tests ?? 0)) return null;
  return `it ran ${tests ?? 'an unknown number of'} tests, and ${start.tests} at the start`;
}

function earlyStop({ command, stoppedEarly }: MeasuredResult): string | null {
  const word = stoppingWord(command);
  if (word !== null) return `${word} leaves out the tests after a failed one`;
  return stoppedEarly ? 'the runner left out the tests after a failed one' : null;
}

function otherFailure({ otherFailures }: MeasuredResult, start: CheckAtStart): string | null {
  const line = newFailure(otherFailures, start.otherFailures);
  return line === null ? null : `something else failed: ${line.trim()}`;
}
