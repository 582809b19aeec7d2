import { describe, expect, test } from 'vitest';
import type { CheckResult, RawCheckResult } from '../../../../src/core/completion/check-result.ts';
import type { Claim } from '../../../../src/core/completion/claim.ts';
import {
  findAgainst,
  needsOldExam,
  oldExamOf,
} from '../../../../src/core/completion/claims/claim-findings.ts';
import type { FindingsView } from '../../../../src/core/completion/claims/findings-view.ts';
import type { Examination, Rerun } from '../../../../src/core/completion/examination.ts';
import { NOTHING_SEEN, type Sightings } from '../../../../src/core/completion/sightings.ts';
import type { ChangedDecider } from '../../../../src/core/proof/findings.ts';
import type { Policy } from '../../../../src/core/task/policy.ts';
import { checkResult, rawResult } from '../../../helpers/checks.ts';
import { decidersSeen } from '../../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../../helpers/loop-policy.ts';

const BY_WORDS: Claim = { evidence: { kind: 'promise', detail: 'DONE' }, byWords: true };
const BY_FILE: Claim = { evidence: { kind: 'watch-glob', detail: 'a.md' }, byWords: false };
const BY_PLAN: Claim = { evidence: { kind: 'plan-file', detail: 'P.md' }, byWords: false };

const BENT: ChangedDecider = { kind: 'file', path: 'check.sh', change: 'changed' };
const SWITCHED: ChangedDecider = {
  kind: 'program',
  name: 'npm',
  path: '/x/npm',
  pathAtStart: null,
};
const WORKED = { changed: true, usedTools: true };

function raw(tests: number | null, exitCode = 0, more: Partial<RawCheckResult> = {}) {
  const result = { command: 'npm test', exitCode, timedOut: false, output: '' };
  return rawResult(result, { name: 'unit', tests, ...more });
}

function check(tests: number | null, exitCode = 0): CheckResult {
  const { command, timedOut, output } = raw(tests);
  return checkResult({ command, exitCode, timedOut, output }, { name: 'unit', tests });
}

function exam(...results: readonly RawCheckResult[]): Rerun {
  return { kind: 'ran', results, folder: null };
}

const NOT_MADE: Rerun = { kind: 'not-made', why: 'the disk is full', setup: null, folder: null };

type Changes = Partial<FindingsView> & { readonly settings?: Partial<Policy> };

/** A claim by words that stands on work and a check, under `--proof hold`. */
function view({ settings = {}, ...changes }: Changes = {}): FindingsView {
  return {
    claim: BY_WORDS,
    sightings: NOTHING_SEEN,
    work: WORKED,
    checks: [check(3)],
    checksAtStart: null,
    examination: decidersSeen({ tree: 'tree' }),
    policy: loopPolicy({ proof: 'hold', acceptEmpty: false, ...settings }),
    ...changes,
  };
}

/** Each finding, in short: `bent-judge held`, `bent-judge told`, `bent-judge cleared`. */
function found(changes: Changes): readonly string[] {
  return findAgainst(view(changes)).map(
    ({ found: { finding }, held, isOpen }) =>
      `${finding} ${held ? 'held' : isOpen ? 'told' : 'cleared'}`,
  );
}

/** The same with the other degree: what was held is only told, and nothing else is different. */
function foundByTell({ settings = {}, ...changes }: Changes): readonly string[] {
  return found({ ...changes, settings: { ...settings, proof: 'tell' } });
}

test('nothing speaks against a claim that stands on work and checks', () => {
  expect(found({})).toEqual([]);
  expect(found({ checks: [], examination: {} })).toEqual([]);
});

describe('empty work', () => {
  const idle = { changed: false, usedTools: false };
  test.for<[what: string, changes: Changes, isFound: boolean]>([
    ['words, and nothing changed', { work: idle }, true],
    ['words, nothing changed, but a tool ran', { work: { ...idle, usedTools: true } }, false],
    ['words, and something changed', { work: { ...idle, changed: true } }, false],
    ['words outside git, and no tool ran', { work: { ...idle, changed: null } }, true],
    [
      'words outside git of an agent that reports no tools',
      { work: { ...idle, changed: null }, settings: { agent: 'command' } },
      false,
    ],
    [
      'words in git of an agent that reports no tools',
      { work: idle, settings: { agent: 'command' } },
      true,
    ],
    ['a file', { claim: BY_FILE, work: idle }, false],
    [
      'a plan, and nothing else changed',
      { claim: BY_PLAN, work: { ...idle, usedTools: true } },
      true,
    ],
    ['a plan, and something else changed', { claim: BY_PLAN, work: WORKED }, false],
    ['a plan outside git', { claim: BY_PLAN, work: { ...idle, changed: null } }, false],
    ['accepted', { work: idle, settings: { acceptEmpty: true } }, false],
    ['a plan, accepted', { claim: BY_PLAN, work: idle, settings: { acceptEmpty: true } }, false],
  ])('%s', ([, changes, isFound]) => {
    expect(found(changes)).toEqual(isFound ? ['empty-work held'] : []);
    expect(foundByTell(changes)).toEqual(isFound ? ['empty-work told'] : []);
  });

  test('says what the claim is', () => {
    const [words] = findAgainst(view({ work: idle }));
    expect(words?.found).toEqual({ finding: 'empty-work', claim: 'words' });
    const [plan] = findAgainst(view({ claim: BY_PLAN, work: idle }));
    expect(plan?.found).toEqual({ finding: 'empty-work', claim: 'plan' });
  });

  test('is not cleared by an old exam', () => {
    const examination = { ...decidersSeen({ bent: [BENT] }), oldExam: exam(raw(3)) };
    expect(found({ work: idle, examination })).toEqual(['empty-work held', 'bent-judge cleared']);
  });
});

describe('checks that passed before the work as they do now', () => {
  const before = { checksAtStart: [check(3)] };
  const withProof = (proof: Policy['proof']) => found({ ...before, settings: { proof } });

  test('are told, and hold under --proof strict alone', () => {
    expect(withProof('tell')).toEqual(['nothing-shown told']);
    expect(withProof('hold')).toEqual(['nothing-shown told']);
    expect(withProof('strict')).toEqual(['nothing-shown held']);
    expect(needsOldExam(view({ ...before, settings: { proof: 'strict' } }))).toBe(false);
  });

  test('say nothing where something else is found', () => {
    const examination = decidersSeen({ bent: [BENT], tree: 'tree' });
    expect(found({ ...before, examination })).toEqual(['bent-judge held']);
  });
});

test('--proof strict holds what hold does', () => {
  const examination = decidersSeen({ bent: [BENT], tree: 'tree' });
  const settings = { proof: 'strict' as const };
  expect(found({ examination, settings })).toEqual(['bent-judge held']);
  expect(needsOldExam(view({ examination, settings }))).toBe(true);
});

test('files that a check rewrote hold the claim', () => {
  const rewritten = [{ path: 'want.snap', entry: null }];
  const examination = decidersSeen({ rewritten });
  expect(found({ examination })).toEqual(['rewritten-files held']);
  expect(foundByTell({ examination })).toEqual(['rewritten-files told']);
});

describe('a check that ended with 0 although tests failed', () => {
  const piped: CheckResult = { ...check(3), failures: 2, verdict: 'failed-tests' };

  test('is found, and held by degree', () => {
    expect(found({ checks: [piped] })).toEqual(['failed-tests held']);
    expect(foundByTell({ checks: [piped] })).toEqual(['failed-tests told']);
    expect(findAgainst(view({ checks: [piped] })).map((each) => each.found)).toEqual([
      { finding: 'failed-tests', check: 'unit', failures: 2, ran: 3 },
    ]);
  });

  test('does not pass the old exam', () => {
    const deciders = decidersSeen({ tree: 'tree', bent: [BENT], stood: true });
    const examination = { ...deciders, oldExam: exam(raw(3, 0, { failures: 1 })) };
    expect(found({ examination })).toEqual(['bent-judge held']);
    const passed = { ...deciders, oldExam: exam(raw(3)) };
    expect(found({ examination: passed })).toEqual(['bent-judge cleared']);
  });
});

test('a check that failed on the same tree before is told, and nothing is held', () => {
  expect(found({ checks: [{ ...check(3), failedIn: 1 }] })).toEqual(['unsteady-check cleared']);
});

describe('a bent judge', () => {
  test.for<[what: string, more: Examination, held: string, told: string]>([
    ['is held before the old exam', {}, 'held', 'told'],
    ['is held where the old exam fails', { oldExam: exam(raw(3, 1)) }, 'held', 'told'],
    ['is held where it ran fewer tests', { oldExam: exam(raw(2)) }, 'held', 'told'],
    ['is held where it could not be made', { oldExam: NOT_MADE }, 'held', 'told'],
    ['is cleared where the old exam passes', { oldExam: exam(raw(3)) }, 'cleared', 'cleared'],
  ])('%s', ([, more, held, told]) => {
    const examination = { ...decidersSeen({ tree: 'tree', bent: [BENT] }), ...more };
    const changes = { examination, checksAtStart: [check(3, 1)] };
    expect(found(changes)).toEqual([`bent-judge ${held}`]);
    expect(foundByTell(changes)).toEqual([`bent-judge ${told}`]);
  });

  test.for<[what: string, examination: Examination, checksAtStart: readonly CheckResult[] | null]>([
    ['none stood at the start', decidersSeen({ bent: [BENT], stood: false }), null],
    ['it ran no test at the start', decidersSeen({ bent: [BENT] }), [check(0)]],
  ])('is the work of the task where %s', ([, examination, checksAtStart]) => {
    expect(found({ examination, checksAtStart })).toEqual(['bent-judge told']);
    expect(needsOldExam(view({ examination, checksAtStart }))).toBe(false);
  });

  test('had something to judge by where one of two ran a test, or the number is unknown', () => {
    const examination = decidersSeen({ bent: [BENT] });
    const other = { ...check(0), name: 'lint' };
    for (const checksAtStart of [[other, check(3)], [check(null)], []]) {
      expect(found({ examination, checksAtStart, checks: [check(3)] })).toEqual([
        'bent-judge held',
      ]);
    }
  });

  test.for<[what: string, bent: readonly ChangedDecider[], stood: boolean]>([
    ['alone', [SWITCHED], true],
    ['beside a file', [BENT, SWITCHED], true],
    ['although no file decided at the start', [SWITCHED], false],
  ])('that is a switched program is held, %s, whatever the old exam says', ([, bent, stood]) => {
    const examination = { ...decidersSeen({ bent, stood, tree: 'tree' }), oldExam: exam(raw(3)) };
    expect(found({ examination })).toEqual(['bent-judge held']);
    expect(foundByTell({ examination })).toEqual(['bent-judge told']);
  });

  test('is named with all that changed', () => {
    const [first] = findAgainst(view({ examination: decidersSeen({ bent: [BENT, SWITCHED] }) }));
    expect(first?.found).toEqual({ finding: 'bent-judge', deciders: [BENT, SWITCHED] });
  });
});

describe('fewer tests', () => {
  test.for<[what: string, now: number | null, atStart: number | null, isFound: boolean]>([
    ['as many', 3, 3, false],
    ['more', 4, 3, false],
    ['fewer', 2, 3, true],
    ['none', 0, 3, true],
    ['none, and none at the start', 0, 0, true],
    ['an unknown number that was known', null, 3, true],
    ['an unknown number that was unknown', null, null, false],
    ['some, and unknown at the start', 1, null, false],
  ])('%s', ([, now, atStart, isFound]) => {
    const changes = { checks: [check(now)], checksAtStart: [check(atStart, 1)] };
    expect(found(changes)).toEqual(isFound ? ['fewer-tests held'] : []);
    expect(foundByTell(changes)).toEqual(isFound ? ['fewer-tests told'] : []);
    expect(found({ ...changes, settings: { acceptFewer: true } })).toEqual([]);
  });

  test('no test at all is found without a baseline', () => {
    expect(found({ checks: [check(0)] })).toEqual(['fewer-tests held']);
  });

  test('are found for each check by itself', () => {
    const lint = (tests: number) => ({ ...check(tests), name: 'lint' });
    const checks = [check(2), lint(5)];
    expect(found({ checks, checksAtStart: [lint(9), check(1)] })).toEqual(['fewer-tests held']);
    expect(found({ checks, checksAtStart: [lint(9), check(3)] })).toHaveLength(2);
    // The name alone does not make it the same check.
    const other = { ...check(9), command: 'other' };
    expect(found({ checks, checksAtStart: [other] })).toEqual([]);
  });

  test('are cleared by an old exam that ran as many as at the start', () => {
    const changes = { checks: [check(2)], checksAtStart: [check(3, 1)] };
    const sat = (tests: number) => ({
      ...decidersSeen({ tree: 'tree' }),
      oldExam: exam(raw(tests)),
    });
    expect(found({ ...changes, examination: sat(3) })).toEqual(['fewer-tests cleared']);
    expect(found({ ...changes, examination: sat(2) })).toEqual(['fewer-tests held']);
  });
});

describe('fewer boxes', () => {
  const boxes = (open: number, done: number, atStart: Sightings['planAtStart']): Sightings => ({
    ...NOTHING_SEEN,
    plan: { open, done },
    ...(atStart === undefined ? {} : { planAtStart: atStart }),
  });
  const settings = { planFile: 'P.md' };
  const START = { open: 2, done: 1 };

  test.for<[what: string, changes: Changes, isFound: boolean]>([
    ['as many', { settings, sightings: boxes(0, 3, START) }, false],
    ['more', { settings, sightings: boxes(0, 4, START) }, false],
    ['fewer', { settings, sightings: boxes(0, 2, START) }, true],
    [
      'no plan any more, and words',
      { settings, sightings: { ...NOTHING_SEEN, planAtStart: START } },
      true,
    ],
    ['unknown at the start', { settings, sightings: boxes(0, 0, undefined) }, false],
    ['no plan at the start', { settings, sightings: boxes(0, 1, null) }, false],
    ['no plan is asked for', { sightings: boxes(0, 2, START) }, false],
    [
      'accepted',
      { settings: { ...settings, acceptFewer: true }, sightings: boxes(0, 2, START) },
      false,
    ],
  ])('%s', ([, changes, isFound]) => {
    expect(found(changes)).toEqual(isFound ? ['fewer-boxes held'] : []);
    expect(foundByTell(changes)).toEqual(isFound ? ['fewer-boxes told'] : []);
  });
});

describe('the old exam', () => {
  const bent = decidersSeen({ tree: 'tree', bent: [BENT] });

  test.for<[what: string, changes: Changes, isNeeded: boolean]>([
    ['a bent judge', { examination: bent }, true],
    ['fewer tests', { checks: [check(0)] }, true],
    ['nothing', {}, false],
    ['empty work alone', { work: { changed: false, usedTools: false } }, false],
    ['a bent judge under tell', { examination: bent, settings: { proof: 'tell' } }, false],
    ['a bent judge without a tree', { examination: decidersSeen({ bent: [BENT] }) }, false],
    ['a claim that was not looked into', { checks: [check(0)], examination: {} }, false],
  ])('decides %s: %s', ([, changes, isNeeded]) => {
    expect(needsOldExam(view(changes))).toBe(isNeeded);
  });

  test('allows known failures, and no other', () => {
    const settings = { knownFailures: 'allow' } as const;
    const checksAtStart = [{ ...check(3, 1), failed: ['a', 'b'] }];
    const sat = (failed: readonly string[]) =>
      oldExamOf(
        view({
          ...{ settings, checksAtStart },
          examination: { ...bent, oldExam: exam(raw(3, 1, { failed })) },
        }),
      );
    expect(sat(['a'])).toEqual({ kind: 'passed' });
    expect(sat(['a', 'c'])).toMatchObject({ kind: 'failed', failed: [{ name: 'unit' }] });
  });

  test('is not passed or failed before it was sat', () => {
    expect(oldExamOf(view({ examination: bent }))).toBeNull();
  });

  test('that ran fewer tests has failed, although no check did', () => {
    const examination = { ...bent, oldExam: exam(raw(1)) };
    const answer = oldExamOf(view({ examination, checksAtStart: [check(3)] }));
    expect(answer).toEqual({ kind: 'failed', failed: [], why: null });
  });
});
