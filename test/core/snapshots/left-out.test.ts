import { expect, test } from 'vitest';
import { type LeftOutKind, leftOutSentences } from '../../../src/core/snapshots/left-out.ts';

const KINDS: readonly LeftOutKind[] = [
  'too-large',
  'unreadable',
  'unnameable',
  'empty-repository',
  'uncommitted',
  'secret',
];

test.for(KINDS)('%s is said once, with the path', (kind) => {
  const said = new Set<string>();
  const [sentence, ...more] = leftOutSentences([{ path: 'd/x', kind }], said);
  expect(sentence).toContain('d/x');
  expect(more).toEqual([]);
  expect(leftOutSentences([{ path: 'd/x', kind }], said)).toEqual([]);
  expect(leftOutSentences([{ path: 'd/y', kind }], said)).toHaveLength(1);
});

test('a path is said again for another reason', () => {
  const said = new Set<string>();
  leftOutSentences([{ path: 'x', kind: 'unreadable' }], said);
  expect(leftOutSentences([{ path: 'x', kind: 'too-large' }], said)).toHaveLength(1);
});

test('of many paths the first are named and the rest is counted', () => {
  const all = Array.from({ length: 12 }, (_, index) => ({
    path: `file-${index}`,
    kind: 'too-large' as const,
  }));
  const sentences = leftOutSentences(all, new Set());
  expect(sentences).toHaveLength(6);
  expect(sentences.at(-1)).toBe('7 more files are larger than --snapshot-limit.');
});

test.for([
  ['.env', '/.env'],
  ['a b/[x]*.pem', '/a b/\\[x\\]\\*.pem'],
])('the line for .gitignore means %s alone', ([path = '', line]) => {
  const [sentence] = leftOutSentences([{ path, kind: 'secret' }], new Set());
  expect(sentence?.endsWith(`.gitignore: ${line}`)).toBe(true);
});

test('a path cannot write to the terminal', () => {
  const [sentence] = leftOutSentences([{ path: 'a\u001b[31m\nb', kind: 'unreadable' }], new Set());
  expect(sentence).not.toContain('\u001b');
  expect(sentence).not.toContain('\n');
});
