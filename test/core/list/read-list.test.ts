import { expect, test } from 'vitest';
import { listName, taskIdOf } from '../../../src/core/list/item-ids.ts';
import { nextItem } from '../../../src/core/list/item-order.ts';
import { type TaskList, withEdits } from '../../../src/core/list/list-item.ts';
import { LIST_MAX_ITEMS, readList } from '../../../src/core/list/read-list.ts';
import { isTaskId } from '../../../src/core/task/task-id.ts';

function listOf(file: string, text: string, sections: readonly string[] = []): TaskList {
  const read = readList(file, text, sections);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.list;
}

/** Returns the text after one item was ticked. */
function tick(file: string, text: string, id: string): string {
  const item = listOf(file, text).items.find((each) => each.id === id);
  return withEdits(text, item?.tick ?? []);
}

test.for<[name: string, file: string, text: string, problem: RegExp]>([
  ['an empty file', 'a.json', '', /line 1, column 1 has nothing where a value is expected/],
  [
    'a comment',
    'a.json',
    '[\n // no\n]',
    /line 2, column 2 has '\/\/' where JSON without comments/,
  ],
  ['a raw line break in a text', 'a.json', '["a\nb"]', /line 1, column 2/],
  ['no quotes', 'a.json', '{a:1}', /column 2 has 'a:1}' where a value or a name in double quotes/],
  ['no name', 'a.json', '{1:1}', /column 2 has '1:1}' where a name in double quotes/],
  ['a trailing comma', 'a.json', '[1,]', /column 4 has ']' where a value is expected/],
  ['no comma', 'a.json', '[1\r\n2]', /line 2, column 1 has '2]' where a comma or a closing br/],
  ['an open object', 'a.json', '{"a":1', /column 7 has nothing where a comma or }/],
  ['an open array', 'a.json', '\uFEFF[1', /column 4 has nothing where a comma or ]/],
  ['more than one value', 'a.json', '[1] [2]', /column 5 has '\[2]' where the end is expected/],
  ['half a number', 'a.json', '[1.]', /column 2 has '1\.]' where a complete number/],
  [
    'an unknown escape',
    'a.json',
    '["C:\\d"]',
    /column 2 .* where a text with \\\\ for a backslash/,
  ],
  ['a short escape', 'a.json', '["\\u12"]', /column 2 .* where a text with four digits after \\u/],
  ['a control sign', 'a.json', '["\u0007"]', /column 2 .* where a text without control signs/],
  ['deep nesting', 'a.json', '['.repeat(5_000), /at most 200 levels is expected/],
  [
    'no list',
    'a.json',
    '{"a":[]}',
    /under userStories, stories, items, features, tasks or TAG\.tasks/,
  ],
  ['no object', 'a.json', '[{"title":"a","done":false}, "b"]', /item 2\) expects an object/],
  ['no name', 'a.json', '[{"id":1,"done":false}]', /item 1\) expects a title, name or description/],
  [
    'an id twice',
    'a.json',
    '[{"id":1,"title":"a","done":false},{"id":"1","title":"b"}]',
    /found twice: 1\./,
  ],
  ['nothing to tick', 'a.json', '[{"title":"a"}]', /nothing to tick/],
  [
    'a bad line',
    'a.jsonl',
    '{"title":"a","done":false}\n{"title"}\n',
    /line 2, column 9 has '}' where a colon/,
  ],
  [
    'a comma after the first of several lines',
    'a.jsonl',
    '{"title":"a","done":false},\n{"title":"b"}\n',
    /line 1, column 27 has ',' where a value/,
  ],
  ['no boxes', 'a.md', '# Plan\n- nothing\n', /a\.md expects boxes/],
  [
    'no such heading',
    'a.md',
    '# One\n- [ ] a\n',
    /--section expects a heading of a\.md; it has none named 'Two'/,
  ],
  [
    'an array for a tag',
    'a.json',
    '[{"title":"a","done":false}]',
    /--section expects a list Two\.tasks/,
  ],
  [
    'another list than that of the tag',
    'a.json',
    '{"tasks":[{"title":"a","done":false}]}',
    /--section expects a list Two\.tasks/,
  ],
  [
    'lines for a tag',
    'a.jsonl',
    '{"title":"a","done":false}',
    /--section expects a list in JSON or/,
  ],
  ['an item that waits for itself', 'a.md', '- [ ] T1 a (depends on T1)\n', /T1 → T1/],
])('%s is refused in one sentence', ([, file, text, problem]) => {
  const sections = problem.source.startsWith('--section') ? ['Two'] : [];
  const read = readList(file, text, sections);
  expect('problems' in read && read.problems).toEqual([expect.stringMatching(problem)]);
});

test('a list that is too long is refused', () => {
  const items = Array.from({ length: LIST_MAX_ITEMS + 1 }, (_, id) => ({
    id,
    title: 'a',
    done: false,
  }));
  expect(readList('a.json', JSON.stringify(items))).toEqual({
    problems: [expect.stringMatching(/5001 items/)],
  });
});

test('a chain of blockers as long as the list may be is read', () => {
  const items = Array.from({ length: LIST_MAX_ITEMS }, (_, id) => ({
    ...{ id, title: 'a', done: false },
    dependsOn: id === 0 ? [] : [id - 1],
  }));
  expect(listOf('a.json', JSON.stringify(items.toReversed())).items).toHaveLength(LIST_MAX_ITEMS);
});

test.for<[name: string, before: string, id: string, after: string]>([
  [
    'a byte-order mark',
    '\uFEFF[{"id":1,"title":"a","done":false}]',
    '1',
    '\uFEFF[{"id":1,"title":"a","done":true}]',
  ],
  [
    'CR LF',
    '[\r\n{"title":"a",\r\n"passes" : false}\r\n]',
    'a',
    '[\r\n{"title":"a",\r\n"passes" : true}\r\n]',
  ],
  [
    'a missing field on lines of its own',
    '[{"title":"b","passes":true},{\n  "title": "a",\n  "n": 1\n}]',
    'a',
    '[{"title":"b","passes":true},{\n  "title": "a",\n  "n": 1,\n  "passes": true\n}]',
  ],
  [
    'a field of one member',
    '[{"title":"b","status":"x"},{"title":"a"}]',
    'a',
    '[{"title":"b","status":"x"},{"title":"a", "status":"done"}]',
  ],
  [
    'a done field that is neither true nor false',
    '[{"title":"b","passes":true},{"title":"a","passes":null,"n":1}]',
    'a',
    '[{"title":"b","passes":true},{"title":"a","passes":true,"n":1}]',
  ],
  [
    'an empty list in front',
    '{"stories":[],"tasks":[{"title":"a","done":false}]}',
    'a',
    '{"stories":[],"tasks":[{"title":"a","done":true}]}',
  ],
  [
    'a word of the list',
    '[{"title":"b","state":"Closed"},{"title":"a","state":"open"}]',
    'a',
    '[{"title":"b","state":"Closed"},{"title":"a","state":"Closed"}]',
  ],
  [
    'cancelled, which is no word for done',
    '[{"title":"b","state":"cancelled"},{"title":"a","state":"open"}]',
    'a',
    '[{"title":"b","state":"cancelled"},{"title":"a","state":"done"}]',
  ],
  [
    'steps',
    '[{"title":"a","done":false,"steps":[{"done":false},{"status":"deferred"}]}]',
    'a',
    '[{"title":"a","done":true,"steps":[{"done":true},{"status":"deferred"}]}]',
  ],
])('a tick in JSON with %s', ([, before, id, after]) => {
  expect(tick('a.json', before, id)).toBe(after);
});

test('an empty list in JSON is not replaced by that of a tag which nobody named', () => {
  const text = '{"tasks":[],"backlog":{"tasks":[{"title":"b","done":false}]}}';
  expect(readList('a.json', text)).toMatchObject({ list: { items: [] } });
});

test('a tick in JSON lines', () => {
  // As after `cat one.jsonl two.jsonl`.
  const lines = '\uFEFF{"title":"a","done":false}\n\uFEFF{"title":"b","done":false}{"title":"c"}';
  expect(tick('a.jsonl', lines, 'b')).toBe(lines.replace('b","done":false', 'b","done":true'));
  expect(tick('a.jsonl', lines, 'c')).toBe(lines.replace('"c"', '"c", "done":true'));
});

test.for<[name: string, before: string, id: string, after: string]>([
  ['another sign', '- [-] one\r\n- [ ] two\r\n', 'one', '- [x] one\r\n- [ ] two\r\n'],
  ['an empty box', '1. [] one', 'one', '1. [x] one'],
  ['two blanks in it', '- [  ] one', 'one', '- [x] one'],
  ['a sign of two characters', '- [\u26A0\uFE0F] one', 'one', '- [x] one'],
  [
    'a line that begins with an omission',
    '- [ ] one\n  - [...] two\n- [->] three',
    'one',
    '- [x] one\n  - [...] two\n- [->] three',
  ],
  ['no space around it', '-[ ]one', 'one', '-[x]one'],
  ['a byte-order mark', '\uFEFF- [ ] one\n  - [ ] two', 'one', '\uFEFF- [x] one\n  - [x] two'],
  ['a line separator in its text', '- [ ] T1 a\u2028b', 'T1', '- [x] T1 a\u2028b'],
  ['tabs', '- [ ] one\n\t- [ ] part\n* [ ] two', 'one', '- [x] one\n\t- [x] part\n* [ ] two'],
  [
    'boxes below a plain item',
    '- phase\n  - [ ] one\n  - [ ] two\n',
    'one',
    '- phase\n  - [x] one\n  - [ ] two\n',
  ],
  ['an unclosed fence', '- [ ] one\n```\n- [ ] two\n', 'two', '- [ ] one\n```\n- [x] two\n'],
  [
    'a bold id',
    '- [ ] **US-3:** pay\n- [ ] US-4: go\n',
    'US-3',
    '- [x] **US-3:** pay\n- [ ] US-4: go\n',
  ],
])('a tick in Markdown with %s', ([, before, id, after]) => {
  expect(tick('a.md', before, id)).toBe(after);
});

test('open boxes of Markdown that are no items are named', () => {
  const { notices } = listOf(
    'a.md',
    '- [x] one\n> - [ ] two\n- [ ]* three\n- [a](b)\n## [ ] four\n',
  );
  expect(notices).toEqual([expect.stringMatching(/^a\.md has open boxes .* in line 2, 3, 5: /)]);
  expect(listOf('a.md', '- [ ] one\n  - [/] two\n').notices).toEqual([]);
});

test('what belongs to an item of Markdown is its text', () => {
  const text =
    '- [ ] T1 one\n  more\n\n  ```\n  - [ ] no item\n  ```\n  - part\n\nProse.\n- [ ] T2 two\n';
  expect(listOf('a.md', text).items.map((item) => [item.id, item.text])).toEqual([
    ['T1', '- [ ] T1 one\n  more\n\n  ```\n  - [ ] no item\n  ```\n  - part'],
    ['T2', '- [ ] T2 two'],
  ]);
});

test('the fields that count among several', () => {
  const [one, two, three, four] = listOf(
    'a.json',
    JSON.stringify([
      { id: 1, title: 'a', status: 'In Review', state: 'done', priority: 'High', blockedBy: 2 },
      { id: 2, name: 'b', passes: true, status: 'blocked' },
      { description: 'c', status: "Won't fix", priority: 'P0' },
      {
        title: 'd',
        status: 'WONT_FIX',
        dependencies: [{ id: 9, type: 'related' }, { depends_on_id: 1 }],
      },
    ]),
  ).items;
  expect(one).toMatchObject({ standing: 'open', priority: 1, blockers: ['2'] });
  expect(two).toMatchObject({ standing: 'done', name: 'b' });
  expect(three).toMatchObject({ id: 'c', priority: 0 });
  expect(four).toMatchObject({ standing: 'left-out', blockers: ['1'] });
});

test('checks come from several fields, and each counts once', () => {
  const item = {
    title: 'a',
    done: false,
    verify: 'make',
    gate: ['make', 'sh x'],
    layers: [{ cmd: 'ls' }],
  };
  expect(listOf('a.json', JSON.stringify([item])).items[0]?.checks).toEqual(['make', 'sh x', 'ls']);
});

test('the next item is a ready one that is wanted, by priority and then by place', () => {
  const { items } = listOf(
    'a.json',
    JSON.stringify([
      { id: 'a', title: 'a', done: false },
      { id: 'b', title: 'b', done: false, priority: 2 },
      { id: 'c', title: 'c', done: false, priority: 1, dependsOn: ['b'] },
      { id: 'd', title: 'd', done: false, priority: 2 },
    ]),
  );
  const next = (blocked: string[], only: string[] | null = null) =>
    nextItem(items, {
      ...{ blocked: new Set(blocked), only: only && new Set(only) },
      atWork: new Set(),
    })?.id;
  expect(next([])).toBe('b');
  expect(next(['b'])).toBe('d');
  expect(next(['b', 'd'])).toBe('a');
  expect(next([], ['c'])).toBe(undefined);
});

test.for([
  ['prd.json', 'US-1', 'prd.US-1'],
  ['.taskmaster/tasks/tasks.json', '1.2', 'taskmaster-tasks-tasks.1.2'],
  ['plan.md', 'über-uns', /^plan\.ber-uns-[0-9a-f]{6}$/],
  ['plan.md', 'a b', /^plan\.a-b-[0-9a-f]{6}$/],
  ['plan.md', 'a/b', /^plan\.a-b-[0-9a-f]{6}$/],
  ['plan.md', '日本', /^plan\.item-[0-9a-f]{6}$/],
  ['plan.md', 'x.json', /^plan\.x-json-[0-9a-f]{6}$/],
  [`${'a'.repeat(200)}.json`, 'b'.repeat(200), /^a{53}-[0-9a-f]{6}\.b{53}-[0-9a-f]{6}$/],
] as const)('%s and %s make a task id', ([file, item, expected]) => {
  const id = taskIdOf(listName(file), item);
  if (typeof expected === 'string') expect(id).toBe(expected);
  else expect(id).toMatch(expected);
  expect(isTaskId(id)).toBe(true);
});

test('the lists of one JSON file have names of their own', () => {
  expect([listName('tags.json', ['printing']), listName('plan.md', ['Phase 1'])]).toEqual([
    'tags-printing',
    'plan',
  ]);
});

test.for<[file: string, item: string, criteria: readonly string[]]>([
  ['a.json', '"acceptance":[],"steps":["one",{"description":" two "},3]', ['one', 'two']],
  ['a.json', '"acceptanceCriteria":"all of it","steps":["one"]', ['all of it']],
  ['a.json', '"subtasks":["one"]', []],
  ['a.md', '- [ ] a\n  - [x] one\n  - note\n    1. [ ] two\n', ['one', 'two']],
])('%s: the criteria of %s are %j', ([file, item, criteria]) => {
  const text = file === 'a.json' ? `[{"title":"a","done":false,${item}}]` : item;
  expect(listOf(file, text).items[0]?.criteria).toEqual(criteria);
});

test.for<[text: string, ids: readonly string[]]>([
  ['- [ ] a\n - [ ] b\n', ['a', 'b']],
  ['- [ ] a\n  - [ ] b\n', ['a']],
  ['- [ ] a\n\t- [ ] b\n', ['a']],
  [' - [ ] a\n- [ ] b\n  - [ ] c\n', ['a', 'b']],
])('of the boxes in %j, %j are items', ([text, ids]) => {
  expect(listOf('a.md', text).items.map(({ id }) => id)).toEqual(ids);
});
