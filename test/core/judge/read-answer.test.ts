import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../../src/core/judge/read-answer.ts';

const criteria = [
  { id: 'c1', text: 'it adds' },
  { id: 'c2', text: 'it is documented' },
];
const asked = { criteria, nonce: 'heron-17' };

function object(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ nonce: 'heron-17', criteria: [said('c1'), said('c2')], ...changes });
}

function said(id: string, changes: Readonly<Record<string, unknown>> = {}) {
  return { id, verdict: 'met', evidence: 'seen', where: [{ file: 'a.ts', line: 1 }], ...changes };
}

function read(message: string | null, structured: unknown = null) {
  const answer = readAnswer({ structured, message }, asked);
  return answer.kind === 'none' ? answer.why : answer.criteria.map(({ verdict }) => verdict);
}

describe('a verdict is read from', () => {
  test.each([
    ['a bare object', object()],
    ['an object in a fence behind prose', `I looked.\n\n\`\`\`json\n${object()}\n\`\`\`\n`],
    ['an object with words behind it', `${object()}\n\nThat is all {really}.`],
    ['an object in an array', `[${object()}]`],
    ['an object in another one', `{"answer": ${object()}}`],
    [
      'an object whose nonce comes last',
      JSON.stringify({ criteria: [said('c1'), said('c2')], nonce: 'heron-17' }),
    ],
    ['an object with further keys', object({ confidence: 0.9, nested: { deep: [] } })],
    [
      'raw line ends in a string',
      object({ criteria: [said('c1', { evidence: 'one\ntwo\tthree' }), said('c2')] })
        .replaceAll('\\n', '\n')
        .replaceAll('\\t', '\t'),
    ],
    [
      'braces in a string',
      object({ criteria: [said('c1', { evidence: 'a } b { "c' }), said('c2')] }),
    ],
    ['an open brace and a quote before it', `if (x) { say "no\n${object()}`],
    ['the nonce in the prose behind it', `${object()}\nnonce: heron-17`],
  ])('%s', (_, message) => {
    expect(read(message)).toEqual(['met', 'met']);
  });

  test('what the agent reports apart from its words, and not from these', () => {
    const structured = JSON.parse(
      object({ criteria: [said('c1', { verdict: 'not-met' }), said('c2')] }),
    );
    expect(read(object(), structured)).toEqual(['not-met', 'met']);
  });

  test('the last of two objects', () => {
    const first = object({ criteria: [said('c1', { verdict: 'not-met' }), said('c2')] });
    expect(read(`${first}\n\nOn second thought:\n${object()}`)).toEqual(['met', 'met']);
    expect(read(`${object()}\n${first}`)).toEqual(['not-met', 'met']);
  });

  test('the end of a long answer, in the order of the criteria', () => {
    const swapped = object({ criteria: [said('c2', { verdict: 'unclear' }), said('c1')] });
    expect(read(`${'{ "x'.repeat(100_000)}"\n${swapped}`)).toEqual(['met', 'unclear']);
  });
});

const NO_OBJECT = 'it had no object with the nonce of this call in the form that was asked for';

describe('there is no verdict in', () => {
  test.each([
    ['no message', null, 'it was empty'],
    ['an empty answer', ' \n', 'it was empty'],
    ['prose', 'PASS. All criteria are met: c1 met, c2 met.', NO_OBJECT],
    ['prose with the nonce', 'heron-17: everything is met', NO_OBJECT],
    ['an object that is cut off', object().slice(0, -8), NO_OBJECT],
    ['an object with another nonce', object({ nonce: 'crane-9' }), NO_OBJECT],
    ['an object without a nonce', object({ nonce: undefined }), NO_OBJECT],
    [
      'a list in place of the criteria',
      object({ criteria: { c1: 'met' } }),
      'it had no list of criteria',
    ],
    [
      'a criterion that is a word',
      object({ criteria: ['met', 'met'] }),
      'a criterion in it was no object',
    ],
    [
      'an unknown word',
      object({ criteria: [said('c1', { verdict: 'pass' }), said('c2')] }),
      'its verdict on c1 was not one of met, not-met, unclear',
    ],
    [
      'an unknown id',
      object({ criteria: [said('c1'), said('c2'), said('c3')] }),
      'it named a criterion that was not asked for',
    ],
    ['a missing id', object({ criteria: [said('c1')] }), 'it did not name c2'],
    [
      'a doubled id',
      object({ criteria: [said('c1'), said('c2'), said('c1')] }),
      'it named c1 twice',
    ],
    [
      'a last object that is wrong, although the first is right',
      `${object()}\n${object({ criteria: [said('c1')] })}`,
      'it did not name c2',
    ],
  ])('%s', (_, message, why) => {
    expect(read(message)).toBe(why);
  });

  test('a reported object with another nonce', () => {
    expect(read(object(), JSON.parse(object({ nonce: 'crane-9' })))).toBe(
      'its nonce was not that of this call',
    );
  });
});

test('reads places, and leaves out what is none', () => {
  const where = [
    { file: 'a.ts', line: 3 },
    { file: 'b.ts' },
    { file: 'c.ts', line: '4' },
    { file: 'd.md', missing: true },
    { file: '' },
    { path: 'e.ts' },
    'f.ts',
  ];
  const answer = readAnswer(
    {
      structured: null,
      message: object({ criteria: [said('c1', { where }), said('c2', { where: null })] }),
    },
    asked,
  );
  const [first, second] = answer.kind === 'read' ? answer.criteria : [];
  expect(first?.where).toEqual([
    { file: 'a.ts', line: 3, missing: false },
    { file: 'b.ts', line: null, missing: false },
    { file: 'c.ts', line: Number.NaN, missing: false },
    { file: 'd.md', line: null, missing: true },
  ]);
  expect(second?.where).toEqual([]);
});

test('gives up on an answer that would take long to search', () => {
  const hostile = `${'{'.repeat(100_000)}heron-17`;
  expect(read(hostile)).toBe(NO_OBJECT);
});
