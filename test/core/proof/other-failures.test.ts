import { expect, test } from 'vitest';
import { newFailure, stoppingWord } from '../../../src/core/proof/other-failures.ts';
import { OutputReader } from '../../../src/core/proof/test-counts.ts';

function reportOf(...streams: readonly string[]) {
  const readers = streams.map((text) => {
    const reader = new OutputReader();
    reader.read(text);
    return reader;
  });
  return OutputReader.reportOf(readers);
}

test.for([
  ['make: *** [Makefile:3: lint] Error 1'],
  ['gmake[1]: *** [all] Error 2'],
  ['npm error Lifecycle script `test` failed with error:'],
  ['npm ERR! code ELIFECYCLE'],
  [' ELIFECYCLE  Test failed. See above for more details.'],
  ['error Command failed with exit code 1.'],
  ['sh: 1: eslint: not found'],
  ['bash: line 1: ruff: command not found'],
  ['ERROR: Coverage for lines (35%) does not meet global threshold (80%)'],
  ['Jest: "global" coverage threshold for lines (80%) not met: 35%'],
  ['FAIL Required test coverage of 80% not reached. Total coverage: 35.00%'],
  ["SyntaxError: Unexpected token '='"],
  ['TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string.'],
  ['java.lang.IllegalStateException: no build'],
  ["src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."],
  ["src/a.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'."],
  ["main.c:4:7: error: expected ';' before 'return'"],
  ['app/a.py:3: error: Incompatible return value type  [return-value]'],
  ['  3:5  error  Unexpected console statement  no-console'],
  ['error[E0308]: mismatched types'],
  ['error: could not compile `demo` (lib) due to 1 previous error'],
  ['panic: runtime error: index out of range [3] with length 3'],
  ['fatal: not a git repository'],
  ['@org/web:build: error TS5083: Cannot read file'],
  ['Segmentation fault (core dumped)'],
  ['FAILURE: Build completed with 2 failures.'],
  ['> Task :core:compileTestJava FAILED'],
])('%s tells of a failure that is no test', ([line = '']) => {
  expect(reportOf(`${line}\n`).otherFailures).toHaveLength(1);
});

test.for([
  ['ok 3 - SyntaxError: is thrown for an empty file'],
  ['  ✔ Error: has a code (0.2ms)'],
  ['tests/test_a.py::test_error_is_raised PASSED'],
  ['PASS src/error.test.ts'],
  ['AssertionError: expected 1 to be 2'],
  ['    Error: inside of a failed test'],
  ['E       ValueError: bad'],
  ['0 errors, 3 warnings'],
  ['FAILED tests/test_a.py::test_error - ValueError: bad'],
])('%s does not', ([line = '']) => {
  expect(reportOf(`${line}\n`).otherFailures).toEqual([]);
});

test('lines are compared without their digits, each as often as it was there', () => {
  const [then, now] = ['make: *** [Makefile:3: a] Error 1', 'make: *** [Makefile:12: a] Error 2'];
  const start = reportOf(`${then}\n`).otherFailures;
  expect(newFailure(reportOf('', `${now}\n`).otherFailures, start)).toBeNull();
  const [brief, long] = ['[ERROR] bad  Time elapsed: 0 s', '[ERROR] bad  Time elapsed: 0.02 s'];
  expect(newFailure(reportOf(brief).otherFailures, reportOf(long).otherFailures)).toBeNull();
  const twice = reportOf(`${now}\n${now}\n`).otherFailures;
  expect(newFailure(twice, start)).toBe('make: *** [Makefile:: a] Error ');
});

test.for([
  [' Test Files  1 failed | 1 passed (2)'],
  ['      Tests  1 failed | 2 passed | 1 expected fail | 3 skipped | 1 todo (8)'],
  ['Test Suites: 1 failed, 2 passed, 3 total'],
])('a runner went on that prints: %s', ([line = '']) => {
  expect(reportOf(`${line}\n`).stoppedEarly).toBe(false);
});

test('the target of cargo that failed is compared as a whole', () => {
  const [then, now] = [1, 2].map((day) =>
    reportOf('', `error: test failed, to rerun pass \`-p day${day} --lib\`\n`),
  );
  expect(newFailure(now?.otherFailures ?? [], then?.otherFailures ?? [])).toBe(
    'error: test failed, to rerun pass `-p day2 --lib`',
  );
});

test('cargo went on behind a target that failed if it sums up all of them', () => {
  const [lib, doc] = [
    'test failed, to rerun pass `--lib`',
    'doctest failed, to rerun pass `--doc`',
  ];
  const stops = (...lines: readonly string[]) =>
    reportOf(lines.map((line) => `error: ${line}\n`).join('')).stoppedEarly;
  expect(stops(lib)).toBe(true);
  expect(stops(doc)).toBe(true);
  expect(stops(lib, doc, '2 targets failed:')).toBe(false);
  expect(stops(lib, '1 target failed:', lib)).toBe(true);
});

test('too many lines are never the same', () => {
  const many = reportOf('Error: no\n'.repeat(100)).otherFailures;
  expect(newFailure(many, many)).toBe('more than 50 lines that tell of other failures');
});

test('names and numbers that stand in two streams belong together', () => {
  const out =
    ' Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n   Start at  12:00:00\n';
  const error = ' FAIL  a.test.js > bad\nAssertionError: expected 1 to be 2\n';
  expect(reportOf(out, error)).toMatchObject({ ran: 3, failures: 1, failed: ['a.test.js > bad'] });
});

test.for<readonly [string, string | null]>([
  ['pytest -x -q', '-x'],
  ['python -m pytest -qx tests', '-qx'],
  ['pytest --maxfail=1', '--maxfail'],
  ['npx vitest run --bail 1', '--bail'],
  ['go test -failfast ./...', '-failfast'],
  ['rspec --fail-fast', '--fail-fast'],
  ['python -m unittest -f', '-f'],
  ['mocha -b', '-b'],
  ['phpunit --stop-on-failure', '--stop-on-failure'],
  ['jest --bail=0', null],
  ['pytest --maxfail 0', null],
  ['sh -x ci.sh', null],
  ['make -f ci.mk && mocha', null],
  ['cargo test --no-fail-fast', null],
])('%s is told to stop early by %s', ([command, word]) => {
  expect(stoppingWord(command)).toBe(word);
});

test.for([
  ['!!!!!!!!!! stopping after 1 failures !!!!!!!!!!'],
  ['!!!!!!!! xdist.dsession.Interrupted: stopping after 1 failures !!!!!!!!'],
  ['!!!!!!!! Interrupted: Test failed, continuing from this test next run. !!!!!!!!'],
  ['!!!!!!!!!! _pytest.outcomes.Exit: no !!!!!!!!!!'],
  ['Test Suites: 1 failed, 1 passed, 2 of 3 total'],
  [' Test Files  1 failed (2)'],
  ['      Tests  1 failed | 2 passed (4)'],
  ['Bailed out after 1 failure'],
  ['> vitest run --bail 1'],
  ['$ pytest -x'],
])('a runner stopped early that prints: %s', ([line = '']) => {
  expect(reportOf(`${line}\n`).stoppedEarly).toBe(true);
  expect(reportOf(`x ${line}\n`).stoppedEarly).toBe(false);
});
