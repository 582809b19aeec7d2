import { describe, expect, test } from 'vitest';
import type { CheckResult, RawCheckResult } from '../../../../src/core/completion/check-result.ts';
import {
  findAgainst,
  needsOldExam,
  needsStartTests,
} from '../../../../src/core/completion/claims/claim-findings.ts';
import type { FindingsView } from '../../../../src/core/completion/claims/findings-view.ts';
import type { Rerun } from '../../../../src/core/completion/examination.ts';
import { NOTHING_SEEN } from '../../../../src/core/completion/sightings.ts';
import { findingText } from '../../../../src/core/proof/findings.ts';
import { rawResult } from '../../../helpers/checks.ts';
import { decidersSeen } from '../../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../../helpers/loop-policy.ts';

const FILES = [{ path: 'test/a.test.js', change: 'changed' }] as const;
const BENT = [{ kind: 'file', path: 'Makefile', change: 'changed' }] as const;

function raw(exitCode: number, tests: number | null, failed: readonly string[] | null = null) {
  const result = { command: 'npm test', exitCode, timedOut: false, output: '' };
  return rawResult(result, { name: 'unit', tests, failed });
}

function atStart(...of: Parameters<typeof raw>): CheckResult {
  return { ...raw(...of), verdict: of[0] === 0 ? 'passed' : 'failed' };
}

const ran = (result: RawCheckResult): Rerun => ({ kind: 'ran', results: [result], folder: null });

/** A claim whose one check passes now, and failed at the start. */
function view(
  start: CheckResult,
  rerun: Rerun | null,
  {
    proof = 'hold',
    ...seen
  }: Parameters<typeof decidersSeen>[0] & { proof?: 'tell' | 'hold' } = {},
): FindingsView {
  const deciders = decidersSeen({ tree: 't', openTestFiles: FILES, hadTests: true, ...seen });
  return {
    claim: { evidence: { kind: 'promise', detail: 'DONE' }, byWords: true },
    sightings: NOTHING_SEEN,
    work: { changed: true, usedTools: true },
    checks: [atStart(0, 3)],
    checksAtStart: [start],
    examination: { ...deciders, ...(rerun === null ? {} : { startTests: rerun }) },
    policy: loopPolicy({ proof, acceptEmpty: false }),
  };
}

const RED = atStart(1, 3, ['adds', 'adds much']);

describe('red tests that were changed', () => {
  test.for<[what: string, start: CheckResult, rerun: RawCheckResult, isHeld: boolean]>([
    ['pass in the form in which they were red', RED, raw(0, 3), false],
    ['still fail', RED, raw(1, 3, ['adds']), true],
    ['pass, and another one that was green fails', RED, raw(1, 3, ['nothing']), false],
    ['pass, another one fails, and fewer ran', RED, raw(1, 2, ['nothing']), true],
    ['cannot be told apart', RED, raw(1, 3, null), true],
    ['had no names', atStart(1, 3, null), raw(1, 3, ['nothing']), true],
    ['could not be loaded, and pass', atStart(1, 0), raw(0, 2), false],
    ['could not be loaded, and fail', atStart(1, 0, []), raw(1, 2, ['adds']), true],
    [
      'could not be loaded beside others',
      atStart(1, 1, ['test/a.test.js', 'b.test.js > b']),
      raw(1, 3, ['a.test.js > adds']),
      true,
    ],
    [
      'of unittest pass, and another one fails',
      atStart(1, 3, ['test_a (test_b.T.test_a)']),
      raw(1, 3, ['test_c (test_b.T.test_c)']),
      false,
    ],
    ['of which nothing is known', atStart(1, null), raw(1, null), true],
  ])('%s', ([, start, rerun, isHeld]) => {
    const found = findAgainst(view(start, ran(rerun)));
    expect(found.map(({ found: { finding }, held }) => [finding, held])).toEqual(
      isHeld ? [['changed-tests', true]] : [],
    );
  });

  test.for<[what: string, seen: FindingsView, asks: boolean]>([
    ['a check that was red', view(RED, null), true],
    ['a check that was green', view(atStart(0, 3), null), false],
    ['no test file of the start', view(RED, null, { openTestFiles: [] }), false],
    ['no tree', view(RED, null, { tree: null }), false],
    ['`tell`', view(RED, null, { proof: 'tell' }), false],
    ['tests that could not be loaded', view(atStart(1, 0), null), true],
    ['no test file at the start', view(atStart(1, 0), null, { hadTests: false }), false],
    ['a program that was not there', view(atStart(127, null), null, { hadTests: false }), false],
    ['tests whose program was not there', view(atStart(127, null), null), true],
  ])('are asked for: %s', ([, seen, asks]) => {
    expect([needsOldExam(seen), needsStartTests(seen)]).toEqual([false, asks]);
  });

  test('are held where the tests of the start cannot be run', () => {
    const rerun: Rerun = { kind: 'not-made', why: 'the disk is full', setup: null, folder: null };
    expect(findAgainst(view(RED, rerun))).toMatchObject([{ held: true, isOpen: true }]);
  });

  test('are named, with the flags that accept them', () => {
    const files = [...FILES, { path: 'b test.js', change: 'removed' }] as const;
    const text = (open: Parameters<typeof decidersSeen>[0]) =>
      findAgainst(view(RED, ran(raw(1, 3)), open)).map(({ found }) => findingText(found));
    expect(text({ openTestFiles: files })).toEqual([
      'test/a.test.js changed, b test.js is gone, and with the tests of the start unit still fails; --accept-changed test/a.test.js --accept-fewer accepts it',
    ]);
    const [removed] = text({ openTestFiles: files.slice(1) });
    expect(removed).toMatch(/; --accept-fewer accepts it$/);
  });
});

describe('a configuration that the work needs', () => {
  const failing = ran(raw(1, 0));
  const second = (start: CheckResult, rerun: Rerun | null): FindingsView => {
    const seen = view(start, rerun, { bent: BENT, openTestFiles: [] });
    return { ...seen, examination: { ...seen.examination, oldExam: failing } };
  };

  test.for<[what: string, start: CheckResult, rerun: RawCheckResult, isHeld: boolean]>([
    ['with which all tests of the start pass', RED, raw(0, 3), false],
    ['with which one fails', RED, raw(1, 3, ['adds']), true],
    ['with which fewer run', RED, raw(0, 2), true],
    ['with which nothing says how many ran', RED, raw(0, null), true],
    ['where nothing said how many ran', atStart(1, null), raw(0, null), true],
    ['which loads tests that could not be loaded', atStart(1, 0), raw(0, 2), false],
    ['which leaves those out', atStart(1, 0), raw(0, 0), true],
    ['which loads one of two files', atStart(1, 2, ['a.test.js']), raw(0, 3), false],
    ['which leaves it out', atStart(1, 2, ['a.test.js']), raw(0, 2), true],
  ])('%s', ([, start, rerun, isHeld]) => {
    expect(findAgainst(second(start, ran(rerun)))).toMatchObject([
      { found: { finding: 'bent-judge' }, held: isHeld, isOpen: true },
    ]);
  });

  test.for<[what: string, lint: [old: number, second: number], isHeld: boolean]>([
    ['that the old exam cleared', [0, 1], false],
    ['that it did not clear, and that counts no tests', [1, 0], true],
  ])('beside a check %s', ([, [old, again], isHeld]) => {
    const lint = (code: number) => ({ ...raw(code, null), name: 'lint', command: 'lint' });
    const seen = second(RED, null);
    const both = (unit: RawCheckResult, code: number): Rerun => ({
      ...{ kind: 'ran', results: [unit, lint(code)], folder: null },
    });
    const answer = findAgainst({
      ...seen,
      checks: [...seen.checks, { ...lint(0), verdict: 'passed' }],
      checksAtStart: [RED, { ...lint(0), verdict: 'passed' }],
      examination: {
        ...seen.examination,
        oldExam: both(raw(1, 0), old),
        startTests: both(raw(0, 3), again),
      },
    });
    expect(answer).toMatchObject([{ held: isHeld, isOpen: true }]);
  });

  test('is asked for once the old exam has failed', () => {
    expect(needsStartTests(second(RED, null))).toBe(true);
    expect(needsStartTests(second(atStart(1, null), null))).toBe(false);
  });
});
