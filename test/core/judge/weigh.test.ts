import { describe, expect, test } from 'vitest';
import type { CitedPlace } from '../../../src/core/judge/read-answer.ts';
import {
  countsText,
  criterionLine,
  judgedText,
  type VerdictWord,
  verdictOf,
} from '../../../src/core/judge/verdict.ts';
import { type AtPath, weigh } from '../../../src/core/judge/weigh.ts';

const FILES: Readonly<Record<string, AtPath>> = {
  'README.md': { kind: 'file', lines: 3 },
  'app/src/a.ts': { kind: 'file', lines: 12 },
  app: { kind: 'other' },
  'app/src': { kind: 'other' },
};
const tree = {
  roots: ['/tmp/checkout', '/private/tmp/checkout'],
  below: 'app',
  look: (path: string): AtPath => FILES[path] ?? { kind: 'nothing' },
};

function weighed(verdict: VerdictWord, ...where: readonly Partial<CitedPlace>[]) {
  const places = where.map((place) => ({ file: '', line: null, missing: false, ...place }));
  const [one] = weigh(
    [{ id: 'c1', text: 'it adds', verdict, evidence: 'seen', where: places }],
    tree,
  );
  return one;
}

describe('a place counts', () => {
  test.each([
    ['relative to the root', { file: 'README.md' }, { file: 'README.md' }],
    ['with its last line', { file: 'README.md', line: 3 }, { file: 'README.md', line: 3 }],
    [
      "relative to the judge's folder",
      { file: 'src/a.ts', line: 12 },
      { file: 'app/src/a.ts', line: 12 },
    ],
    ['absolute in the checkout', { file: '/tmp/checkout/app/src/a.ts' }, { file: 'app/src/a.ts' }],
    [
      'absolute by another path',
      { file: '/private/tmp/checkout/README.md' },
      { file: 'README.md' },
    ],
    ['with dots', { file: './src/../../README.md' }, { file: 'README.md' }],
    [
      'that is missing',
      { file: 'docs/api.md', missing: true },
      { file: 'docs/api.md', missing: true },
    ],
  ])('%s', (_, place, where) => {
    expect(weighed('not-met', place)).toMatchObject({ verdict: 'not-met', where: [where] });
  });
});

describe('a verdict without a place that counts is unclear', () => {
  test.each([
    ['no place', []],
    ['a file that is not there', [{ file: 'nothing.ts' }]],
    ['a folder', [{ file: 'app/src' }]],
    ['a line behind the end', [{ file: 'README.md', line: 4 }]],
    ['line 0', [{ file: 'README.md', line: 0 }]],
    ['no line', [{ file: 'README.md', line: Number.NaN }]],
    ['a file outside', [{ file: '/etc/passwd' }, { file: '../../outside.md', missing: true }]],
    ['a missing file that is there', [{ file: 'README.md', missing: true }]],
    ["a missing file that is in the judge's folder", [{ file: 'src/a.ts', missing: true }]],
    ['a missing file that is a folder', [{ file: 'src', missing: true }]],
    ['the root', [{ file: '.', missing: true }]],
  ])('%s', (_, places) => {
    expect(weighed('not-met', ...places)).toMatchObject({ verdict: 'unclear', where: [] });
    expect(weighed('met', ...places)).toMatchObject({ verdict: 'unclear' });
  });
});

test('keeps only the places that count', () => {
  const one = weighed('met', { file: 'nothing.ts' }, { file: 'README.md', line: 1 });
  expect(one).toMatchObject({ verdict: 'met', where: [{ file: 'README.md', line: 1 }] });
});

test('masks what the judge quotes, and what a criterion says', () => {
  const text = `the key is sk-ant-api03-${'a'.repeat(90)}`;
  const asked = { id: 'c1', text, verdict: 'unclear', evidence: text, where: [] } as const;
  const [one] = weigh([asked], tree);
  expect(one?.evidence).not.toContain('aaaa');
  expect(one?.text).not.toContain('aaaa');
});

const judged = (...verdicts: readonly VerdictWord[]) =>
  verdicts.map((verdict, at) => ({
    id: `c${at + 1}`,
    text: 't',
    verdict,
    evidence: '',
    where: [],
  }));

test.each([
  [['met', 'met'], 'met', 'codex: 2 of 2 met'],
  [['met', 'unclear'], 'unclear', 'codex: 1 of 2 met, unclear: c2'],
  [['not-met', 'unclear', 'met'], 'not-met', 'codex: 1 of 3 met, not met: c1, unclear: c2'],
] as const)('%j together', (verdicts, word, text) => {
  const criteria = judged(...verdicts);
  expect(verdictOf(criteria)).toBe(word);
  expect(countsText({ agent: 'codex', criteria })).toBe(text);
});

test('says why nothing was judged', () => {
  const verdict = {
    agent: 'codex',
    model: null,
    tree: null,
    verdict: 'none',
    why: 'codex gave no verdict',
    criteria: [],
    cost_usd: 0,
  } as const;
  expect(judgedText(verdict)).toBe('not judged: codex gave no verdict');
});

test('says in one line what is said of a criterion', () => {
  const where = [
    { file: 'a.ts', line: 2 },
    { file: 'b.md', missing: true as const },
  ];
  const one = {
    id: 'c1',
    text: 'it adds',
    verdict: 'not-met' as const,
    evidence: 'it\nsubtracts',
    where,
  };
  expect(criterionLine(one)).toBe('c1 not met: it adds — it subtracts (a.ts:2, b.md is missing)');
});
