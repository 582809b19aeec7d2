import type { Check } from '../settings/checks.ts';
import type { Settings } from '../settings/settings.ts';
import type { CommandResult } from './sightings.ts';

/** How a shell command ended, with all that its output says. */
export interface MeasuredResult extends CommandResult {
  /** ISO instant. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The number of tests that passed or failed; null if the output does not say it. */
  readonly tests: number | null;
  /** The names of all failed tests; null if they are not known. */
  readonly failed: readonly string[] | null;
  /** Of all bytes of standard output and standard error, in the order in which they came. */
  readonly outputSha256: string;
}

/** How a check ended. */
export interface CheckResult extends MeasuredResult {
  readonly name: string;
  readonly where: 'work-tree' | 'clean';
  /** Whether the check was not run, since the same tree had been checked before. */
  readonly isReused: boolean;
  /** `known-failures`: only tests failed that had failed at the start, and that is allowed. */
  readonly verdict: 'passed' | 'known-failures' | 'failed';
}

/** A result before it is judged. */
export type RawCheckResult = Omit<CheckResult, 'verdict'>;

/** Names the result of a command that was run as a check in the folder of the work. */
export function asCheckResult({ name }: Check, result: MeasuredResult): RawCheckResult {
  return { ...result, name, where: 'work-tree', isReused: false };
}

/** Judges a result. `atStart` is how the checks stood before the first iteration, or null. */
export function judgeCheck(
  result: RawCheckResult,
  atStart: readonly CheckResult[] | null,
  { knownFailures }: Pick<Settings, 'knownFailures'>,
): CheckResult {
  if (result.exitCode === 0) return { ...result, verdict: 'passed' };
  const isKnown =
    knownFailures === 'allow' &&
    result.exitCode !== null &&
    hasKnownFailuresOnly(result, atStart?.find((each) => isSameCheck(each, result))?.failed ?? []);
  return { ...result, verdict: isKnown ? 'known-failures' : 'failed' };
}

/** A name alone does not tell: a resume may give it to another command. */
function isSameCheck(one: RawCheckResult, other: RawCheckResult): boolean {
  return one.name === other.name && one.command === other.command;
}

function hasKnownFailuresOnly({ failed }: RawCheckResult, known: readonly string[]): boolean {
  return failed !== null && failed.length > 0 && failed.every((name) => known.includes(name));
}

/** Returns the results of the checks that failed. */
export function failedChecks<Result extends Pick<CheckResult, 'verdict'>>(
  results: readonly Result[],
): readonly Result[] {
  return results.filter(({ verdict }) => verdict === 'failed');
}

/** Whether the checks run before the first iteration. */
export function wantsBaseline({
  verify,
  baseline,
  knownFailures,
  proof,
}: Pick<Settings, 'verify' | 'baseline' | 'knownFailures' | 'proof'>): boolean {
  return verify.length > 0 && (baseline ?? (proof === 'hold' || knownFailures === 'allow'));
}
