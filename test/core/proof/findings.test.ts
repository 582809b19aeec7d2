import { describe, expect, test } from 'vitest';
import {
  ACCEPTING_FLAG,
  acceptingFlags,
  type ChangedDecider,
  type Finding,
  fewerBoxes,
  fewerTests,
  findingDetail,
  findingText,
} from '../../../src/core/proof/findings.ts';

const file = (path: string, change: 'new' | 'changed' | 'removed' = 'changed'): ChangedDecider => ({
  kind: 'file',
  path,
  change,
});

const bent = (...deciders: readonly ChangedDecider[]): Finding => ({
  finding: 'bent-judge',
  deciders,
});

describe('what people read', () => {
  test.for<[Finding, string]>([
    [
      { finding: 'empty-work', claim: 'words' },
      'nothing was changed, and no tool of the agent succeeded; --accept-empty accepts it',
    ],
    [
      { finding: 'empty-work', claim: 'plan' },
      'nothing was changed but the plan; --accept-empty accepts it',
    ],
    [
      bent(file('vitest.config.ts')),
      'vitest.config.ts changed; --accept-changed vitest.config.ts accepts it',
    ],
    [
      bent(file("it's/Makefile", 'new'), { kind: 'script', file: 'a/package.json', name: 'test' }),
      "it's/Makefile is new, the script 'test' of a/package.json changed; --accept-changed 'it'\\''s/Makefile' --accept-changed a/package.json accepts it",
    ],
    [
      bent(file('a.mk', 'removed'), file('b.mk'), file('c.mk'), file('d.mk'), file('e.mk')),
      'a.mk is gone, b.mk changed, c.mk changed, 2 more of what decides the checks changed; --accept-changed GLOB accepts it',
    ],
    [
      bent({ kind: 'program', name: 'npm', path: '/x/npm', pathAtStart: null }),
      'npm is /x/npm now, and was found nowhere at the start; --accept-changed npm accepts it',
    ],
    [
      { finding: 'fewer-tests', check: 'npm test', ran: 0, ranAtStart: 12 },
      "'npm test' ran no test, and 12 at the start; --accept-fewer accepts it",
    ],
    [
      { finding: 'fewer-tests', check: 'unit', ran: 0, ranAtStart: null },
      "'unit' ran no test; --accept-fewer accepts it",
    ],
    [
      { finding: 'fewer-tests', check: 'unit', ran: 1, ranAtStart: 2 },
      "'unit' ran 1 test, and 2 at the start; --accept-fewer accepts it",
    ],
    [
      { finding: 'fewer-tests', check: 'unit', ran: null, ranAtStart: 2 },
      "'unit' does not say how many tests ran, and 2 at the start; --accept-fewer accepts it",
    ],
    [
      { finding: 'fewer-boxes', file: 'PLAN.md', boxes: 1, boxesAtStart: 3 },
      'PLAN.md has 1 checkbox, and had 3 at the start; --accept-fewer accepts it',
    ],
    [
      { finding: 'rewritten-files', checks: ['sh check.sh'], files: ['want.snap'] },
      "'sh check.sh' changed want.snap, and so compared with what it wrote itself; --accept-changed want.snap accepts it",
    ],
    [
      { finding: 'rewritten-files', checks: ['a', 'b'], files: ['1', '2', '3', '4', '5'] },
      "'a', 'b' changed 1, 2, 3 and 2 more, and so compared with what it wrote itself; --accept-changed GLOB accepts it",
    ],
    [
      { finding: 'unsteady-check', check: 'unit', iteration: 0 },
      "'unit' passes on a tree on which it failed before iteration 1; what was wrong may lie outside the tree",
    ],
    [
      { finding: 'nothing-shown', checks: ['unit'], noTest: false, hasKnown: true },
      'unit failed in the same tests before the work began as it does now; a new test, a check that failed before the work, or --proof hold accepts it',
    ],
    [
      { finding: 'stopped-subagents', count: 2 },
      'the system stopped 2 sub-agents before the end; a --verify command can vouch for the work',
    ],
  ])('%o', ([found, text]) => {
    expect(findingText(found)).toBe(text);
    expect(text.startsWith(findingDetail(found))).toBe(true);
  });
});

describe('the flags that accept what was found', () => {
  test.for<[Finding, readonly string[]]>([
    [{ finding: 'empty-work', claim: 'words' }, ['--accept-empty']],
    [bent(file('a'), file('b'), file('c'), file("it's")), ['a', 'b', 'c', "'it'\\''s'"]],
    [bent(file('a\nb'), file('c d')), ["'c d'"]],
    [{ finding: 'rewritten-files', checks: ['x'], files: ['want.snap'] }, ['want.snap']],
    [{ finding: 'fewer-tests', check: 'x', ran: 1, ranAtStart: 2 }, ['--accept-fewer']],
    [{ finding: 'nothing-shown', checks: ['x'], noTest: true, hasKnown: false }, ['--proof hold']],
    [{ finding: 'unsteady-check', check: 'x', iteration: 1 }, []],
  ])('%o', ([found, flags]) => {
    const whole = flags.map((flag) => (flag.startsWith('--') ? flag : `--accept-changed ${flag}`));
    expect(acceptingFlags(found)).toEqual(whole);
  });

  test.for([
    '--accept-empty; rm -rf ~',
    '--accept-changed $(id)',
    "--accept-changed 'a' ; id",
    "--accept-changed 'a\nb'",
    '--trust',
  ])('are not %j, which a state file may have', (words) => {
    expect(ACCEPTING_FLAG.test(words)).toBe(false);
  });
});

describe('fewer tests', () => {
  test.for<[ran: number | null, ranAtStart: number | null, isFound: boolean]>([
    [2, 2, false],
    [3, 2, false],
    [2, null, false],
    [null, null, false],
    [1, 2, true],
    [0, 2, true],
    [0, 0, true],
    [0, null, true],
    [null, 2, true],
    [null, 0, true],
  ])('%s now, %s at the start: %s', ([ran, ranAtStart, isFound]) => {
    const found = fewerTests('c', ran, ranAtStart);
    expect(found).toEqual(isFound ? { finding: 'fewer-tests', check: 'c', ran, ranAtStart } : null);
  });
});

test('fewer boxes', () => {
  const start = { open: 2, done: 1 };
  expect(fewerBoxes('P', { open: 0, done: 3 }, start)).toBeNull();
  expect(fewerBoxes('P', { open: 4, done: 0 }, start)).toBeNull();
  expect(fewerBoxes('P', { open: 0, done: 2 }, start)).toEqual({
    finding: 'fewer-boxes',
    file: 'P',
    boxes: 2,
    boxesAtStart: 3,
  });
});
