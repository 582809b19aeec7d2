import { expect, test } from 'vitest';
import {
  type JudgeRules,
  judgeCheck,
  type RawCheckResult,
} from '../../../src/core/completion/check-result.ts';
import { rawResult } from '../../helpers/checks.ts';

const RULES: JudgeRules = { knownFailures: 'allow', acceptFewer: false, acceptFailed: false };

/** `pytest`, in which `failed` of `tests` failed. */
function ran(failed: readonly string[], more: Partial<RawCheckResult> = {}): RawCheckResult {
  const exitCode = failed.length === 0 ? 0 : 1;
  const result = { command: more.command ?? 'pytest', exitCode, timedOut: false, output: '' };
  return rawResult(result, { tests: 3, failures: failed.length, failed, ...more });
}

const START = ran(['a', 'b'], { otherFailures: ['make: *** [Makefile:: test] Error '] });

function judged(now: RawCheckResult, rules: Partial<JudgeRules> = {}, start = START) {
  const { verdict, inTheWay } = judgeCheck(now, [start], { ...RULES, ...rules });
  return inTheWay ?? verdict;
}

test.for<readonly [string, RawCheckResult]>([
  ['the same tests', ran(['a', 'b'])],
  ['fewer of them', ran(['b'])],
  ['more tests, which pass', ran(['a'], { tests: 4 })],
  ['the failure beside them that was there', { ...START }],
])('known failures excuse %s', ([, now]) => {
  expect(judged(now)).toBe('known-failures');
});

test.for<readonly [string, RawCheckResult, string]>([
  ['a new failure', ran(['a', 'c']), "'c' did not fail at the start"],
  ['no failed test', ran([], { exitCode: 1 }), 'no test failed'],
  ['no name', ran(['a'], { failed: null }), 'not everything that failed has a name of its own'],
  ['another exit code', ran(['a'], { exitCode: 2 }), 'its exit code at the start was 1'],
  ['fewer tests', ran(['a'], { tests: 2 }), 'it ran 2 tests, and 3 at the start'],
  [
    'no number of tests',
    ran(['a'], { tests: null }),
    'it ran an unknown number of tests, and 3 at the start',
  ],
  [
    'a runner that says that it stopped',
    ran(['a'], { stoppedEarly: true }),
    'the runner left out the tests after a failed one',
  ],
  [
    'another failure beside the tests',
    ran(['a'], { otherFailures: ["SyntaxError: Unexpected token '='"] }),
    "something else failed: SyntaxError: Unexpected token '='",
  ],
  [
    'one more of the failures beside the tests',
    { ...START, otherFailures: [...START.otherFailures, ...START.otherFailures] },
    'something else failed: make: *** [Makefile:: test] Error',
  ],
])('known failures do not excuse %s', ([, now, why]) => {
  expect(judged(now)).toBe(why);
});

test('a word of the check that stops at the first failure is in the way', () => {
  const start = ran(['a'], { command: 'pytest -x', name: 'unit' });
  expect(judged({ ...start }, {}, start)).toBe('-x leaves out the tests after a failed one');
});

test('nothing is excused that was not there at the start, or was killed', () => {
  const other = ran(['a'], { command: 'npm test', name: 'npm test' });
  expect(judged(other)).toBe('how it ended at the start is unknown');
  expect(judged(ran(['a'], { exitCode: null }))).toBe('failed');
  expect(judged(ran(['a']), {}, { ...START, failed: null })).toBe(
    'the names of what failed at the start are unknown',
  );
});

test('flags accept what is in the way, and excuse nothing by default', () => {
  expect(judged(ran(['a'], { tests: 2 }), { acceptFewer: true })).toBe('known-failures');
  expect(judged(ran(['a']), { knownFailures: 'refuse' })).toBe('failed');
});

test('exit code 0 is not enough where the runner says that tests failed', () => {
  const piped = ran(['c'], { exitCode: 0 });
  expect(judged(piped, { knownFailures: 'refuse' })).toBe('failed-tests');
  expect(judged(piped, { acceptFailed: true })).toBe('passed');
  expect(judged(piped, {}, { ...piped })).toBe('known-failures');
  expect(judged(ran([]), { knownFailures: 'refuse' })).toBe('passed');
});
