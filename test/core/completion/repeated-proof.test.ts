import { expect, test } from 'vitest';
import {
  checksOfProof,
  differencesFrom,
  judgeAgain,
} from '../../../src/core/completion/repeated-proof.ts';
import type { CheckProof, ProofFacts } from '../../../src/core/proof/statement.ts';
import { rawResult } from '../../helpers/checks.ts';

const CHECK: CheckProof = {
  ...{ name: 'unit', command: 'npm test', exit_code: 0, hasPassed: true, duration_ms: 1 },
  ...{ started_at: '2026-01-02T03:04:05.000Z', program: null, baseline: 'passed' },
  ...{ where: 'work-tree', tests: 3, failed: 0, known_failures: [], other_failures: [], log: null },
  output_sha256: 'b'.repeat(64),
};
const FACTS: ProofFacts = {
  ...{ tree: '1'.repeat(40), committedTree: null, commit: null, findings: [] },
  deciders: [{ name: 'a.config.ts', sha256: 'a'.repeat(64) }],
  checks: [CHECK],
  changedTestFiles: ['test/a.test.js', 'test/b.test.js'],
  setup: { folder: '', setup: null, copy: [], timeout_ms: 1_000 },
};

/** `npm test` as it went again. */
function again(exitCode: number, tests: number | null, failed: readonly string[] = []) {
  const result = { command: 'npm test', exitCode, timedOut: false, output: '' };
  return rawResult(result, { name: 'unit', tests, failed });
}

test('a check that ran twice runs once more, as it ran last', () => {
  const clean: CheckProof = { ...CHECK, where: 'clean' };
  const lint: CheckProof = { ...CHECK, name: 'lint', command: 'npm run lint' };
  expect(checksOfProof({ checks: [CHECK, lint, clean] })).toEqual([lint, clean]);
});

test.for<readonly [string, ReturnType<typeof again>, readonly string[]]>([
  ['as then', again(0, 3), []],
  ['more tests', again(0, 4), []],
  ['fewer tests', again(0, 2), ['fewer-tests']],
  ['no number of tests', again(0, null), ['fewer-tests']],
  ['red', again(1, 3, ['a']), ['check-failed']],
])('%s', ([, result, kinds]) => {
  const results = judgeAgain(FACTS, [result]);
  const differences = differencesFrom(FACTS, results, FACTS.deciders);
  expect(differences.map(({ kind }) => kind)).toEqual(kinds);
});

test('no test then and no test now are the same', () => {
  const facts = { ...FACTS, checks: [{ ...CHECK, tests: 0 }] };
  expect(differencesFrom(facts, judgeAgain(facts, [again(0, 0)]), FACTS.deciders)).toEqual([]);
});

test('tests that failed at the start may fail again', () => {
  const facts = { ...FACTS, checks: [{ ...CHECK, exit_code: 1, known_failures: ['a', 'b'] }] };
  const verdict = (failed: readonly string[]) =>
    judgeAgain(facts, [again(1, 3, failed)])[0]?.verdict;
  expect(verdict(['b'])).toBe('known-failures');
  expect(verdict(['b', 'c'])).toBe('failed');
});

test.for<readonly [string, ProofFacts['deciders']]>([
  ['is another file', [{ name: 'a.config.ts', sha256: 'c'.repeat(64) }]],
  ['is gone', []],
])('a judge file that %s is told', ([, deciders]) => {
  expect(differencesFrom(FACTS, judgeAgain(FACTS, [again(0, 3)]), deciders)).toEqual([
    { kind: 'judge-changed', name: 'a.config.ts' },
  ]);
});
