import { countsPackages } from '../../proof/other-runners.ts';
import { type CheckResult, resultOf } from '../check-result.ts';

/** The results of the checks, and how many test files the work has touched. */
export interface ShownView {
  readonly checks: readonly CheckResult[];
  /** The results of the checks before the first iteration; null if they were not run then. */
  readonly checksAtStart: readonly CheckResult[] | null;
  /** How many test files are new or changed since the start; null if unknown. */
  readonly touchedTests: number | null;
}

/**
 * Whether passing checks show that work was done. A check shows it if before the work it failed, had more failed tests
 * or ran fewer tests. If a number of tests is unknown, a touched test file is enough. Null without a result then.
 */
export function isAnythingShown({
  checks,
  checksAtStart,
  touchedTests,
}: ShownView): boolean | null {
  const pairs = checks.map((now) => ({ now, start: resultOf(now, checksAtStart) }));
  if (pairs.some(({ start }) => start === undefined)) return null;
  return pairs.some(({ now, start }) => start !== undefined && shows(now, start, touchedTests));
}

function shows(now: CheckResult, start: CheckResult, touchedTests: number | null): boolean {
  if (start.verdict !== 'passed' && now.verdict === 'passed') return true;
  if (isFewer(now.failed?.length, start.failed?.length)) return true;
  if (now.tests === null || start.tests === null || countsPackages(now.output)) {
    return (touchedTests ?? 0) > 0;
  }
  return now.tests > start.tests;
}

function isFewer(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one < other;
}
