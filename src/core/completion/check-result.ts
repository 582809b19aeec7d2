import type { Check } from '../settings/checks.ts';
import type { Settings } from '../settings/settings.ts';
import type { LoopSettings } from '../task/policy.ts';
import type { MeasuredResult } from './command-result.ts';
import { type CheckAtStart, inTheWayOfKnown } from './known-failures.ts';

/** How a check ended. */
export interface CheckResult extends MeasuredResult {
  readonly name: string;
  readonly where: 'work-tree' | 'clean';
  /** Whether the check was not run, since the same tree had been checked before. */
  readonly isReused: boolean;
  /** The iteration in which it failed on this very tree (0: before the first one); absent if it did not. */
  readonly failedIn?: number;
  /**
   * `known-failures`: only tests failed that had failed at the start, and that is allowed. `failed-tests`: it ended with
   * 0, and tests failed all the same.
   */
  readonly verdict: 'passed' | 'known-failures' | 'failed-tests' | 'failed';
  /** Why known failures do not excuse it, as a clause; absent if they do, or may not. */
  readonly inTheWay?: string;
}

/** A result before it is judged. */
export type RawCheckResult = Omit<CheckResult, 'verdict' | 'inTheWay'>;

/** Names the result of a command that was run as a check in the folder of the work. */
export function asCheckResult({ name }: Check, result: MeasuredResult): RawCheckResult {
  return { ...result, name, where: 'work-tree', isReused: false };
}

/** What a result is judged by. */
export type JudgeRules = Pick<Settings, 'knownFailures' | 'acceptFewer' | 'acceptFailed'>;

/** Judges a result. `atStart` is how the checks stood before the first iteration, or null. */
export function judgeCheck(
  result: RawCheckResult,
  atStart: readonly CheckAtStart[] | null,
  rules: JudgeRules,
): CheckResult {
  const isZero = result.exitCode === 0;
  if (isZero && (rules.acceptFailed || (result.failures ?? 0) === 0)) {
    return { ...result, verdict: 'passed' };
  }
  const verdict = isZero ? 'failed-tests' : 'failed';
  if (rules.knownFailures !== 'allow' || result.exitCode === null) return { ...result, verdict };
  const inTheWay = inTheWayOfKnown(result, resultOf(result, atStart), rules);
  return inTheWay === null
    ? { ...result, verdict: 'known-failures' }
    : { ...result, verdict, inTheWay };
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

/** Returns the results of the checks that failed by their exit code. */
export function failedChecks<Result extends Pick<CheckResult, 'verdict'>>(
  results: readonly Result[],
): readonly Result[] {
  return results.filter(({ verdict }) => verdict === 'failed');
}

/** Returns the results of the checks that failed by their exit code or by what their runner says. */
export function redChecks<Result extends Pick<CheckResult, 'verdict'>>(
  results: readonly Result[],
): readonly Result[] {
  return results.filter(({ verdict }) => verdict === 'failed' || verdict === 'failed-tests');
}

/** Whether the checks run before the first iteration. */
export function wantsBaseline({ verify, baseline, knownFailures, proof }: LoopSettings): boolean {
  return verify.length > 0 && (baseline ?? (proof !== 'tell' || knownFailures === 'allow'));
}
