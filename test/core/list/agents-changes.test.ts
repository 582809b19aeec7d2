import { expect, test } from 'vitest';
import { keptOf } from '../../../src/core/list/agents-changes.ts';
import { readList } from '../../../src/core/list/read-list.ts';

const A = '{ "id": "a", "title": "A", "passes": true }';
const B = '{ "id": "b", "title": "B", "criteria": ["red"], "passes": false, "notes": "" }';
const BEFORE = `{"project": "p", "items": [\n${A},\n${B}\n]}\n`;

function kept(after: string | null) {
  const before = readList('a.json', BEFORE);
  if ('problems' in before) throw new Error(before.problems.join());
  return keptOf(before.list, after === null ? null : readList('a.json', after), 'it is gone');
}

test.for<[name: string, after: string, text: string, what: string]>([
  ['nothing', BEFORE, BEFORE, 'unchanged'],
  ['a tick', BEFORE.replace('false', 'true'), BEFORE, 'marks-put-back'],
  ['an open mark', BEFORE.replace('true', 'false'), BEFORE, 'marks-put-back'],
  [
    'a note and a tick',
    BEFORE.replace('false, "notes": ""', 'true, "notes": "see x"'),
    BEFORE.replace('"notes": ""', '"notes": "see x"'),
    'marks-put-back',
  ],
  [
    'a new item that says it is done',
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "passes": true }\n]'),
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "passes": false }\n]'),
    'marks-put-back',
  ],
  [
    'a new item',
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "todo" }\n]'),
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "todo" }\n]'),
    'kept',
  ],
  [
    'a new item with a word for done',
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "Done" }\n]'),
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "open" }\n]'),
    'marks-put-back',
  ],
  [
    'a new item with an escaped word for done',
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "\\u0064one" }\n]'),
    BEFORE.replace('\n]', ',\n{ "id": "c", "title": "C", "status": "open" }\n]'),
    'marks-put-back',
  ],
  ['another order', `{"items": [${B}, ${A}]}`, `{"items": [${B}, ${A}]}`, 'kept'],
])('of a list in which the agent wrote %s', ([, after, text, what]) => {
  expect(kept(after)).toEqual({ text, what, why: null });
});

test.for<[name: string, after: string | null, why: RegExp]>([
  ['without an item', `{"items": [${A}]}`, /the item b is gone/],
  ['with another criterion', BEFORE.replace('red', 'green'), /the item b was rewritten/],
  [
    'with a further done field',
    BEFORE.replace('"notes": ""', '"done": true'),
    /item b has other done fields/,
  ],
  ['that is broken', BEFORE.slice(0, -5), /expects JSON/],
  ['that is gone', null, /it is gone/],
])('a list %s is put back whole', ([, after, why]) => {
  expect(kept(after)).toEqual({ text: BEFORE, what: 'put-back', why: expect.stringMatching(why) });
});

test('a box that the agent ticked in Markdown is open again', () => {
  const text = '- [ ] T1 one\n  - [  ] part\n- [\u{1F504}] T2 two\n';
  const before = readList('a.md', text);
  if ('problems' in before) throw new Error(before.problems.join());
  const after = `${text.replaceAll(/\[.+\]/g, '[x]')}- [x] T3 new\n`;
  expect(keptOf(before.list, readList('a.md', after), '')).toEqual({
    ...{ text: `${text}- [ ] T3 new\n`, what: 'marks-put-back', why: null },
  });
});

test.for([
  ['- [ ] B-1 b\n', '# Later\n- [ ] B-1 b\n', 'the item B-1 was moved out of its section'],
  ['# Later\n- [ ] B-1 b\n', '- [ ] B-1 b\n', 'the item B-1 was moved into the section'],
] as const)('an item cannot change its section: %j becomes %j', ([was, becomes, why]) => {
  const textOf = (end: string) => `# Now\n- [ ] A-1 a\n${end}`;
  const before = readList('a.md', textOf(was), ['Now']);
  if ('problems' in before) throw new Error(before.problems.join());
  const after = readList('a.md', textOf(becomes), ['Now']);
  expect(keptOf(before.list, after, '')).toEqual({
    ...{ text: textOf(was), what: 'put-back', why },
  });
});
