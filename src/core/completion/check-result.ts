import type { Check } from '../settings/checks.ts';
import type { Settings } from '../settings/settings.ts';
import type { LoopSettings } from '../task/policy.ts';
import type { MeasuredResult } from './command-result.ts';
import { type CheckAtStart, inTheWayOfKnown } from './known-failures.ts';

/** The result of a check. */
export interface CheckResult extends MeasuredResult {
  readonly name: string;
  readonly where: 'work-tree' | 'clean';
  /** Whether the check was not run and this is its result from before, since the tree is the same. */
  readonly isReused: boolean;
  /** The iteration in which the check failed on this same tree (0: before the first one); absent if it did not fail. */
  readonly failedIn?: number;
  /**
   * `known-failures`: the only failed tests had failed at the start, too, and the settings allow that.
   * `failed-tests`: the check exited with 0 although tests failed.
   */
  readonly verdict: 'passed' | 'known-failures' | 'failed-tests' | 'failed';
  /** Why failures known from the start do not excuse the check (a clause); absent if they do or may excuse none. */
  readonly inTheWay?: string;
}

/** The result of a check before it is judged. */
export type RawCheckResult = Omit<CheckResult, 'verdict' | 'inTheWay'>;

/** Turns the result of a command that ran in the work tree into the result of a check. */
export function asCheckResult({ name }: Check, result: MeasuredResult): RawCheckResult {
  return { ...result, name, where: 'work-tree', isReused: false };
}

/** The settings by which a result is judged. */
export type JudgeRules = Pick<Settings, 'knownFailures' | 'acceptFewer' | 'acceptFailed'>;

/** Judges a result. `atStart` holds the results before the first iteration; null if the checks were not run then. */
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

/** Finds the result of a check among the results of another run; undefined if there is none. */
export function resultOf<Result extends Check>(
  check: Check,
  results: readonly Result[] | null,
): Result | undefined {
  return results?.find((each) => isSameCheck(each, check));
}

/** Whether two checks are the same. The name is not enough, since a resume can give it to another command. */
export function isSameCheck(one: Check, other: Check): boolean {
  return one.name === other.name && one.command === other.command;
}

/** Returns the results of the checks that failed by their exit code. */
export function failedChecks<Result extends Pick<CheckResult, 'verdict'>>(
  results: readonly Result[],
): readonly Result[] {
  return results.filter(({ verdict }) => verdict === 'failed');
}

/** Returns the results of the checks that failed by their exit code or by the output of their test runner. */
export function redChecks<Result extends Pick<CheckResult, 'verdict'>>(
  results: readonly Result[],
): readonly Result[] {
  return results.filter(({ verdict }) => verdict === 'failed' || verdict === 'failed-tests');
}

/** Whether the checks have to run before the first iteration. */
export function wantsBaseline({ verify, baseline, knownFailures, proof }: LoopSettings): boolean {
  return verify.length > 0 && (baseline ?? (proof !== 'tell' || knownFailures === 'allow'));
}
