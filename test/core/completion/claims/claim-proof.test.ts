import { describe, expect, test } from 'vitest';
import type { RawCheckResult } from '../../../../src/core/completion/check-result.ts';
import { claimProof, findingProofs } from '../../../../src/core/completion/claims/claim-proof.ts';
import type { FindingsView } from '../../../../src/core/completion/claims/findings-view.ts';
import { NOTHING_SEEN } from '../../../../src/core/completion/sightings.ts';
import type { ChangedDecider } from '../../../../src/core/proof/findings.ts';
import type { Evidence } from '../../../../src/core/task/task-state.ts';
import { checkResult, rawResult } from '../../../helpers/checks.ts';
import { decidersSeen } from '../../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../../helpers/loop-policy.ts';
import { START } from '../../../helpers/new-task.ts';

const TREE = '3f2a91c0000000000000000000000000000000aa';
const BENT: ChangedDecider = { kind: 'file', path: 'vitest.config.ts', change: 'changed' };
const ended = (command: string, exitCode = 0) => ({
  ...{ command, exitCode, timedOut: false, output: '' },
});
const UNIT = checkResult(ended('npm test'), { name: 'unit', tests: 214 });
const LINT = checkResult(ended('npm run lint'), { name: 'lint' });
const inClean = (result: RawCheckResult): RawCheckResult => ({ ...result, where: 'clean' });

function view(changes: Partial<FindingsView> = {}, kind: Evidence['kind'] = 'promise') {
  const view: FindingsView = {
    claim: { evidence: { kind, detail: 'DONE' }, byWords: kind === 'promise' },
    sightings: NOTHING_SEEN,
    work: { changed: true, usedTools: true },
    checks: [UNIT, LINT],
    checksAtStart: null,
    examination: decidersSeen({ tree: TREE, programs: { 'npm test': '/usr/bin/npm' } }),
    policy: loopPolicy({ acceptEmpty: false }),
    ...changes,
  };
  return view;
}

function words(changes: Partial<FindingsView>, kind?: Evidence['kind']) {
  const { proven, text } = claimProof(view(changes, kind)).evidence;
  return `${proven ? 'proven' : 'not proven'}: ${text}`;
}

describe('in a line', () => {
  test.for<[string, Partial<FindingsView>]>([
    ['proven: unit (214 tests), lint', {}],
    ['proven: unit (214 tests), lint', { examination: decidersSeen() }],
    ['proven: unit (1 test)', { checks: [{ ...UNIT, tests: 1 }], examination: decidersSeen() }],
    [
      'proven: unit (214 tests), lint in a clean checkout',
      {
        examination: {
          ...decidersSeen({ tree: TREE }),
          cleanCheckout: { kind: 'ran', results: [inClean(UNIT), inClean(LINT)], folder: null },
        },
      },
    ],
    ['not proven: vitest.config.ts changed', { examination: decidersSeen({ bent: [BENT] }) }],
    [
      'proven: unit (214 tests); it failed on the same tree in iteration 1',
      { checks: [{ ...UNIT, failedIn: 1 }] },
    ],
    [
      "proven: unit (214 tests), lint; 'lint' failed on the same tree before iteration 1",
      { checks: [UNIT, { ...LINT, failedIn: 0 }] },
    ],
    [
      'proven: unit (214 tests), lint; 1 test file changed: test/a.test.ts',
      { examination: decidersSeen({ changedTestFiles: ['test/a.test.ts'] }) },
    ],
    [
      'not proven: vitest.config.ts changed; 5 test files changed: a.py, b.py, c.py and 2 more',
      {
        examination: decidersSeen({
          bent: [BENT],
          changedTestFiles: ['a.py', 'b.py', 'c.py', 'd.py', 'e.py'],
        }),
      },
    ],
    [
      'not proven: unit (214 tests), lint passed before the work began as they do now',
      { checksAtStart: [UNIT, LINT], examination: decidersSeen({ touchedTests: null }) },
    ],
    [
      'not proven: unit (214 tests) passed before the work began as it does now, and no test is new',
      { checks: [UNIT], checksAtStart: [UNIT], examination: decidersSeen({ touchedTests: 0 }) },
    ],
    [
      'proven: unit (214 tests), lint',
      {
        examination: {
          ...decidersSeen({ bent: [BENT], tree: TREE }),
          oldExam: { kind: 'ran', results: [inClean(UNIT), inClean(LINT)], folder: null },
        },
      },
    ],
    [
      'not proven: nothing was changed, and no tool of the agent succeeded',
      { checks: [], work: { changed: false, usedTools: false } },
    ],
  ])('%s', ([text, changes]) => {
    expect(words(changes)).toBe(text);
  });

  test('without a check, it is not proven by anything else', () => {
    const NO_CHECK = 'not proven: no check was named (--verify "npm test")';
    for (const kind of ['promise', 'watch-glob', 'file-moved', 'plan-file', 'signal'] as const) {
      expect(words({ checks: [], examination: {} }, kind)).toBe(NO_CHECK);
    }
  });

  test('says how the checks stood before the work', () => {
    const failed = { ...UNIT, verdict: 'failed', exitCode: 1 } as const;
    const said = (failures: number | null): string =>
      words({ checks: [UNIT], checksAtStart: [{ ...failed, failures }] });
    expect(said(3)).toBe('proven: unit (214 tests; 3 failed at the start)');
    expect(said(null)).toBe('proven: unit (214 tests; failed at the start)');
  });
});

describe('the facts', () => {
  test('name each check, how it stood at the start, and how it went here and elsewhere', () => {
    const failedThen = { name: 'unit', tests: 200, failed: ['a', 'b', 'c'] };
    const checksAtStart = [checkResult(ended('npm test', 1), failedThen)];
    const failed = { failures: 2, failed: ['a', 'b'] };
    const known = { ...UNIT, ...failed, exitCode: 1, verdict: 'known-failures' as const };
    const examination = {
      ...decidersSeen({ tree: TREE, programs: { 'npm test': '/usr/bin/npm' } }),
      cleanCheckout: {
        kind: 'ran' as const,
        results: [inClean(rawResult(ended('npm run lint'), { name: 'lint' }))],
        folder: null,
      },
    };
    const proof = claimProof(view({ checks: [known, LINT], checksAtStart, examination }));
    expect(proof.tree).toBe(TREE);
    expect(proof.checks).toEqual([
      {
        ...{ name: 'unit', command: 'npm test', exit_code: 1, hasPassed: true },
        ...{ duration_ms: 1_000, started_at: START, program: '/usr/bin/npm', baseline: 'failed' },
        ...{ where: 'work-tree', tests: 214, failed: 2, output_sha256: '', log: null },
        known_failures: ['a', 'b', 'c'],
        other_failures: [],
      },
      {
        ...{ name: 'lint', command: 'npm run lint', exit_code: 0, hasPassed: true },
        ...{ duration_ms: 1_000, started_at: START, program: null, baseline: 'not-run' },
        ...{ where: 'work-tree', tests: null, failed: null, output_sha256: '', log: null },
        known_failures: [],
        other_failures: [],
      },
      expect.objectContaining({ name: 'lint', where: 'clean', baseline: 'not-run' }),
    ]);
  });

  test('say that a check passed at the start', () => {
    const { checks } = claimProof(view({ checksAtStart: [UNIT] }));
    expect(checks.map(({ baseline }) => baseline)).toEqual(['passed', 'not-run']);
  });

  test('have each finding in one line, held or not', () => {
    const path = `a\n${'b'.repeat(400)}`;
    const examination = decidersSeen({ bent: [{ kind: 'file', path, change: 'new' }] });
    const [told] = findingProofs(view({ examination }));
    expect(told).toMatchObject({ finding: 'bent-judge', held: false });
    expect(told?.detail).not.toContain('\n');
    expect(told?.detail.length).toBeLessThanOrEqual(300);
    const policy = loopPolicy({ proof: 'hold' });
    expect(findingProofs(view({ examination, policy }))).toMatchObject([{ held: true }]);
    expect(claimProof(view({ examination })).evidence.findings).toEqual([told?.detail]);
  });
});
