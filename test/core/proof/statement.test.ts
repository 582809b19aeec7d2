import { expect, test } from 'vitest';
import {
  type CheckProof,
  factsOfStatement,
  type ProofFacts,
  proofStatement,
} from '../../../src/core/proof/statement.ts';

const CHECK: CheckProof = {
  name: 'unit',
  command: 'npm test',
  exit_code: 0,
  hasPassed: true,
  duration_ms: 1200,
  started_at: '2026-01-02T03:04:05.000Z',
  program: '/usr/bin/npm',
  baseline: 'failed',
  where: 'work-tree',
  tests: 214,
  failed: 0,
  known_failures: [],
  other_failures: [],
  output_sha256: 'b'.repeat(64),
  log: 'checks/unit.log',
};
const FACTS: ProofFacts = {
  tree: '1'.repeat(40),
  committedTree: '2'.repeat(40),
  commit: '3'.repeat(40),
  deciders: [{ name: 'vitest.config.ts', sha256: 'a'.repeat(64) }],
  checks: [CHECK],
  findings: [],
  changedTestFiles: ['test/a.test.js', 'test/b.test.js'],
  setup: { folder: 'web', setup: 'npm ci', copy: ['.env'], timeout_ms: 60_000 },
};
const TOLD = { finding: 'bent-judge', detail: 'vitest.config.ts changed', held: false };

test('is an in-toto statement of a test result', () => {
  expect(proofStatement({ ...FACTS, findings: [TOLD] })).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'tree', digest: { gitTree: '1'.repeat(40) } },
      { name: 'committed', digest: { gitTree: '2'.repeat(40) } },
      { name: 'commit', digest: { gitCommit: '3'.repeat(40) } },
    ],
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate: {
      result: 'WARNED',
      configuration: [{ name: 'vitest.config.ts', digest: { sha256: 'a'.repeat(64) } }],
      passedTests: ['unit'],
      warnedTests: [],
      failedTests: [],
      ralph_checks: [
        {
          name: 'unit',
          command: 'npm test',
          exit_code: 0,
          duration_ms: 1200,
          started_at: '2026-01-02T03:04:05.000Z',
          program: '/usr/bin/npm',
          baseline: 'failed',
          where: 'work-tree',
          tests: 214,
          failed: 0,
          known_failures: [],
          other_failures: [],
          output_sha256: 'b'.repeat(64),
          log: 'checks/unit.log',
        },
      ],
      ralph_findings: [TOLD],
      ralph_changed_tests: 2,
      ralph_changed_test_files: ['test/a.test.js', 'test/b.test.js'],
      ralph_setup: { folder: 'web', setup: 'npm ci', copy: ['.env'], timeout_ms: 60_000 },
    },
  });
});

test('names a subject only where there is one', () => {
  const namesOf = (facts: Partial<ProofFacts>) =>
    proofStatement({ ...FACTS, ...facts }).subject.map(({ name }) => name);
  expect(namesOf({ committedTree: FACTS.tree })).toEqual(['tree', 'commit']);
  expect(namesOf({ committedTree: null, commit: null })).toEqual(['tree']);
  expect(namesOf({ tree: null, committedTree: null, commit: null })).toEqual([]);
});

const CLEAN: CheckProof = { ...CHECK, where: 'clean' };
const FAILED = { exit_code: 1, hasPassed: false };

test.for<readonly [string, Partial<ProofFacts>, string, readonly (readonly string[])[]]>([
  ['a check that passed', {}, 'PASSED', [['unit'], [], []]],
  ['twice', { checks: [CHECK, CLEAN] }, 'PASSED', [['unit'], [], []]],
  ['no check', { checks: [] }, 'WARNED', [[], [], []]],
  ['known failures', { checks: [{ ...CHECK, exit_code: 1 }] }, 'WARNED', [[], ['unit'], []]],
  ['killed', { checks: [{ ...CHECK, ...FAILED, exit_code: null }] }, 'FAILED', [[], [], ['unit']]],
  [
    'red in the clean checkout alone',
    { checks: [CHECK, { ...CLEAN, ...FAILED }] },
    'FAILED',
    [[], [], ['unit']],
  ],
  [
    'one of two',
    { checks: [CHECK, { ...CHECK, ...FAILED, name: 'lint' }] },
    'FAILED',
    [['unit'], [], ['lint']],
  ],
  ['a finding that holds', { findings: [{ ...TOLD, held: true }] }, 'FAILED', [['unit'], [], []]],
])('the result of %s', ([, facts, result, names]) => {
  const { predicate } = proofStatement({ ...FACTS, ...facts });
  const { passedTests, warnedTests, failedTests } = predicate;
  expect(predicate.result).toBe(result);
  expect([passedTests, warnedTests, failedTests]).toEqual(names);
});

test('gives its facts back', () => {
  const facts = { ...FACTS, checks: [CHECK, CLEAN], findings: [TOLD] };
  expect(factsOfStatement(proofStatement(facts))).toEqual(facts);
  const bare = { ...FACTS, tree: null, committedTree: null, commit: null, checks: [] };
  expect(factsOfStatement(proofStatement(bare))).toEqual(bare);
});
