import { countsPackages } from '../../proof/other-runners.ts';
import { type CheckResult, resultOf } from '../check-result.ts';

/** How the checks ended, and which tests the work has touched. */
export interface ShownView {
  readonly checks: readonly CheckResult[];
  /** How they stood before the first iteration; null if they were not run then. */
  readonly checksAtStart: readonly CheckResult[] | null;
  /** Test files that are new or changed since the start; null if that is unknown. */
  readonly touchedTests: number | null;
}

/**
 * Whether passing checks show that anything was done. A check shows it if it failed before the work, or ran fewer tests
 * then. If its number of tests does not tell, a touched test file is enough. Null if the start is unknown.
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
