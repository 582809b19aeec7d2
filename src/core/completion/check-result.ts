import type { Check } from '../settings/checks.ts';
import type { Settings } from '../settings/settings.ts';
import type { MeasuredResult } from './command-result.ts';

/** How a check ended. */
export interface CheckResult extends MeasuredResult {
  readonly name: string;
  readonly where: 'work-tree' | 'clean';
  /** Whether the check was not run, since the same tree had been checked before. */
  readonly isReused: boolean;
  /** The iteration in which it failed on this very tree (0: before the first one); absent if it did not. */
  readonly failedIn?: number;
  /** `known-failures`: only tests failed that had failed at the start, and that is allowed. */
  readonly verdict: 'passed' | 'known-failures' | 'failed';
}

/** A result before it is judged. */
export type RawCheckResult = Omit<CheckResult, 'verdict'>;

/** Names the result of a command that was run as a check in the folder of the work. */
export function asCheckResult({ name }: Check, result: MeasuredResult): RawCheckResult {
  return { ...result, name, where: 'work-tree', isReused: false };
}

/** A check, and which of its tests failed at the start. */
export interface CheckAtStart extends Check {
  /** Their names; null if they are unknown. */
  readonly failed: readonly string[] | null;
}

/** Judges a result. `atStart` is how the checks stood before the first iteration, or null. */
export function judgeCheck(
  result: RawCheckResult,
  atStart: readonly CheckAtStart[] | null,
  { knownFailures }: Pick<Settings, 'knownFailures'>,
): CheckResult {
  if (result.exitCode === 0) return { ...result, verdict: 'passed' };
  const isKnown =
    knownFailures === 'allow' &&
    result.exitCode !== null &&
    hasKnownFailuresOnly(result, resultOf(result, atStart)?.failed ?? []);
  return { ...result, verdict: isKnown ? 'known-failures' : 'failed' };
}

/** Finds the result of a check among those of another run; undefined if it has none. */
export function resultOf<Result extends Check>(
  check: Check,
  results: readonly Result[] | null,
): Result | undefined {
  return results?.find((each) => isSameCheck(each, check));
}

/** Whether both are of the same check. A name alone does not tell: a resume may give it to another command. */
export function isSameCheck(one: Check, other: Check): boolean {
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
  return verify.length > 0 && (baseline ?? (proof !== 'tell' || knownFailures === 'allow'));
}
