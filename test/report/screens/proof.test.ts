import { expect, test } from 'vitest';
import type { CheckProof, ProofFacts } from '../../../src/core/proof/statement.ts';
import { proofScreen } from '../../../src/report/screens/proof.ts';

const CHECK: CheckProof = {
  ...{ name: 'unit', command: 'npm test', exit_code: 0, hasPassed: true, duration_ms: 3_200 },
  ...{ started_at: '2026-01-02T03:04:05.000Z', program: null, baseline: 'failed' },
  ...{
    where: 'work-tree',
    tests: 214,
    failed: 0,
    known_failures: [],
    other_failures: [],
    log: null,
  },
  output_sha256: 'b'.repeat(64),
};
const FACTS: ProofFacts = {
  tree: '1'.repeat(40),
  committedTree: null,
  commit: null,
  deciders: [],
  checks: [CHECK, { ...CHECK, where: 'clean' }],
  findings: [],
  changedTestFiles: ['test/a.test.js', 'test/b.test.js'],
  setup: { folder: '', setup: null, copy: [], timeout_ms: 1_000 },
};

test('says of each check how it went', () => {
  expect(proofScreen(FACTS, 'PASSED')).toBe(
    [
      'result     passed',
      `tree       ${FACTS.tree}`,
      'check      unit (npm test): passed, 214 tests, 3.2s, also in a clean checkout, failed at the start',
      'judged by  2 test files changed: test/a.test.js, test/b.test.js',
      '',
    ].join('\n'),
  );
});

test('takes ten lines at most', () => {
  const checks = ['a', 'b', 'c', 'd'].map((name) => ({ ...CHECK, name, command: name }));
  const deciders = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, sha256: '' }));
  const findings = ['one', 'two', 'three'].map((detail) => ({ finding: 'x', detail, held: false }));
  const ids = { committedTree: '2'.repeat(40), commit: '3'.repeat(40) };
  const text = proofScreen({ ...FACTS, ...ids, checks, deciders, findings }, 'WARNED');
  expect(text.trimEnd().split('\n')).toHaveLength(10);
  expect(text).toContain('check      2 more checks\n');
  expect(text).toContain(
    'judged by  a, b, c, d and 1 more; 2 test files changed: test/a.test.js, test/b.test.js\n',
  );
  expect(text).toContain('finding    one\nfinding    2 more findings\n');
});

test('tells a check that failed, one with known failures, and that there was none', () => {
  const failed = { ...CHECK, exit_code: null, hasPassed: false, tests: null };
  const known = { ...CHECK, name: 'lint', exit_code: 1, known_failures: ['a'] };
  const text = proofScreen({ ...FACTS, checks: [failed, known] }, 'FAILED');
  expect(text).toContain('unit (npm test): failed (killed), 3.2s');
  expect(text).toContain('lint (npm test): passed, with known failures, 214 tests');
  expect(proofScreen({ ...FACTS, checks: [] }, 'WARNED')).toContain('no check was asked for');
});
