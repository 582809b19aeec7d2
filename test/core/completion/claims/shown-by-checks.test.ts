import { describe, expect, test } from 'vitest';
import type { CheckResult } from '../../../../src/core/completion/check-result.ts';
import { isAnythingShown } from '../../../../src/core/completion/claims/shown-by-checks.ts';
import { checkResult } from '../../../helpers/checks.ts';

type Told = Partial<Pick<CheckResult, 'tests' | 'failed' | 'verdict' | 'output' | 'command'>>;

function check({ command = 'npm test', output = '', ...more }: Told = {}): CheckResult {
  const result = { command, exitCode: 0, timedOut: false, output };
  return { ...checkResult(result), tests: 3, verdict: 'passed', ...more };
}

const KNOWN = { verdict: 'known-failures' as const };
const GO = 'ok  \tmodule/shop\t0.002s\n';

describe('whether the checks show that anything was done', () => {
  test.for<[why: string, start: Told, now: Told, touchedTests: number | null, expected: boolean]>([
    ['the same number passed before', {}, {}, 0, false],
    ['a test file was changed, and none is new', {}, {}, 1, false],
    ['fewer tests pass', {}, { tests: 2 }, 1, false],
    ['one more test passes', {}, { tests: 4 }, 1, true],
    ['it failed before', { verdict: 'failed' }, {}, 0, true],
    ['it did not load before', { verdict: 'failed', tests: null }, {}, 0, true],
    [
      'two known failures are left of three',
      { ...KNOWN, failed: ['a', 'b', 'c'] },
      { ...KNOWN, failed: ['a', 'b'] },
      0,
      true,
    ],
    [
      'all known failures are left',
      { ...KNOWN, failed: ['a'] },
      { ...KNOWN, failed: ['a'] },
      1,
      false,
    ],
    ['a check counts no tests, and none was touched', { tests: null }, { tests: null }, 0, false],
    ['a check counts no tests, and one was touched', { tests: null }, { tests: null }, 1, true],
    [
      'a check counts no tests, and nobody knows of any',
      { tests: null },
      { tests: null },
      null,
      false,
    ],
    [
      'known failures are left, and a new test passes',
      { ...KNOWN, verdict: 'failed', failed: ['a'] },
      { ...KNOWN, failed: ['a'], tests: 4 },
      1,
      true,
    ],
    ['go counts packages, and a test was touched', { tests: 1 }, { tests: 1, output: GO }, 1, true],
    [
      'go counts packages, and no test was touched',
      { tests: 1 },
      { tests: 1, output: GO },
      0,
      false,
    ],
  ])('where %s: %s', ([, start, now, touchedTests, expected]) => {
    const view = { checks: [check(now)], checksAtStart: [check(start)], touchedTests };
    expect(isAnythingShown(view)).toBe(expected);
  });

  test('one of two checks is enough', () => {
    const lint = check({ command: 'npm run lint', tests: null });
    const view = { checks: [lint, check()], touchedTests: 0 };
    const red = check({ verdict: 'failed' });
    expect(isAnythingShown({ ...view, checksAtStart: [lint, check()] })).toBe(false);
    expect(isAnythingShown({ ...view, checksAtStart: [lint, red] })).toBe(true);
  });

  test('is not known where one did not run at the start', () => {
    const view = { checks: [check()], touchedTests: 0 };
    expect(isAnythingShown({ ...view, checksAtStart: null })).toBeNull();
    const other = check({ command: 'make test' });
    expect(isAnythingShown({ ...view, checksAtStart: [other] })).toBeNull();
  });
});
