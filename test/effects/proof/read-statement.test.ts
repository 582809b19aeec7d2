import { expect, test } from 'vitest';
import { proofStatement } from '../../../src/core/proof/statement.ts';
import { readStatement } from '../../../src/effects/proof/read-statement.ts';

const STATEMENT = proofStatement({
  tree: '1'.repeat(40),
  committedTree: null,
  commit: '3'.repeat(64),
  deciders: [{ name: 'Makefile', sha256: 'a'.repeat(64) }],
  checks: [
    {
      ...{ name: 'unit', command: 'npm test', exit_code: null, hasPassed: false, duration_ms: 1 },
      ...{ started_at: '2026-01-02T03:04:05.000Z', program: null, baseline: 'not-run' as const },
      ...{ where: 'clean' as const, tests: null, failed: null, log: null },
      known_failures: ['a'],
      other_failures: [],
      output_sha256: 'b'.repeat(64),
    },
  ],
  findings: [{ finding: 'fewer-tests', detail: 'none', held: true }],
  changedTestFiles: ['test/a.test.js', 'test/b.test.js'],
  setup: { folder: '', setup: null, copy: [], timeout_ms: 1_000 },
});

test('reads what was written, and leaves out what it does not know', () => {
  expect(readStatement(JSON.stringify(STATEMENT))).toEqual(STATEMENT);
  const predicate = { ...STATEMENT.predicate, url: 'x' };
  expect(readStatement(JSON.stringify({ ...STATEMENT, predicate, signed: true }))).toEqual(
    STATEMENT,
  );
});

test.for<readonly [string, object]>([
  ['another type', { _type: 'https://in-toto.io/Statement/v0.1' }],
  ['another predicate', { predicateType: 'https://slsa.dev/provenance/v1' }],
  ['no predicate', { predicate: null }],
  ['an id that is an option', { subject: [{ name: 'tree', digest: { gitTree: '--all' } }] }],
  ['an id that is too short', { subject: [{ name: 'tree', digest: { gitTree: '1234' } }] }],
])('is no proof with %s', ([, change]) => {
  expect(readStatement(JSON.stringify({ ...STATEMENT, ...change }))).toBeNull();
});

test.for<readonly [string, object]>([
  ['a folder above', { folder: '../other' }],
  ['a folder elsewhere', { folder: '/etc' }],
  ['more time than there is', { timeout_ms: 2 ** 31 }],
])('is no proof with %s', ([, change]) => {
  const { predicate } = STATEMENT;
  const ralph_setup = { ...predicate.ralph_setup, ...change };
  const changed = { ...STATEMENT, predicate: { ...predicate, ralph_setup } };
  expect(readStatement(JSON.stringify(changed))).toBeNull();
});

test.for(['', 'null', '[]', '{"_type"'])('is no proof: %s', (text) => {
  expect(readStatement(text)).toBeNull();
});
