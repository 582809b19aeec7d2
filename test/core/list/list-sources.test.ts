import { describe, expect, test } from 'vitest';
import { itemAsJson, nameAsJson, withRecords } from '../../../src/core/list/kept-items.ts';
import type { TaskList } from '../../../src/core/list/list-item.ts';
import { readPrinted, sourceNamed } from '../../../src/core/list/list-sources.ts';
import { type ItemRecord, newListState, openedAgain } from '../../../src/core/list/list-state.ts';
import { readList } from '../../../src/core/list/read-list.ts';

function listOf(source: string, text: string, tags: readonly string[] = []): TaskList {
  const read = readPrinted(source, 'what it prints', text, tags);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.list;
}

const page = (...nodes: readonly object[]): string =>
  JSON.stringify({ data: { repository: { nameWithOwner: 'me/app', issues: { nodes } } } });
const issue = (number: number, more: object = {}): object => ({
  ...{ number, title: `Issue ${number}`, body: 'Do\r\nit', createdAt: '2026-01-01T00:00:00Z' },
  ...{ labels: { nodes: [{ name: 'agent' }] }, blockedBy: { nodes: [] } },
  ...more,
});
const blocker = (number: number, state: string, nameWithOwner = 'me/app'): object => ({
  ...{ number, state, repository: { nameWithOwner } },
});

describe('github', () => {
  test('reads the pages that gh prints one behind the other', () => {
    const { items, repository } = listOf('github', `${page(issue(7))}${page(issue(9))}\n`);
    expect(repository).toBe('me/app');
    expect(items).toMatchObject([
      ...[{ id: '7', name: 'Issue 7', standing: 'open', createdAt: '2026-01-01T00:00:00Z' }],
      ...[{ id: '9', name: 'Issue 9', blockers: [] }],
    ]);
    expect(JSON.parse(items[0]?.text ?? '')).toMatchObject({ body: 'Do\r\nit', labels: ['agent'] });
  });

  test('takes open blockers alone, and tells those of other repositories apart', () => {
    const blocks = [blocker(1, 'OPEN'), blocker(2, 'CLOSED'), blocker(3, 'OPEN', 'you/lib')];
    const { items } = listOf('github', page(issue(7, { blockedBy: { nodes: blocks } })));
    expect(items[0]?.blockers).toEqual(['1', 'you/lib#3']);
  });

  test.for([
    ['nothing', ''],
    ['no JSON', 'gh: Not Found'],
    ['an answer without a repository', '{"data":{"repository":null}}'],
  ] as const)('refuses %s', ([, text]) => {
    expect(readPrinted('github', 'what github prints', text)).toEqual({
      problems: ['what github prints expects pages with the issues of a repository; found none.'],
    });
  });

  test('asks for the issues with a label by a variable, page by page, and changes nothing', () => {
    const { list, claim, done } = sourceNamed('github') ?? { list: '', claim: '', done: '' };
    expect(list).toMatch(/^gh api graphql --paginate .*-f label="\$RALPH_LABEL" -f query='query\(/);
    expect(list).toContain('$endCursor');
    expect(list).not.toContain('mutation');
    expect([claim, done]).toEqual([null, null]);
  });
});

describe('beads', () => {
  const issues = [
    {
      ...{ id: 'bd-7', title: 'Seven', status: 'open', priority: 2 },
      dependencies: [{ issue_id: 'bd-7', depends_on_id: 'bd-1', type: 'blocks' }],
      created_at: '2026-01-01T00:00:00Z',
    },
    { id: 'bd-9', title: 'Nine', status: 'open', priority: 0 },
  ];

  test.for([
    ['bare', issues],
    ['with a version', { schema_version: 1, items: issues }],
    ['none', []],
  ] as const)('reads issues: %s', ([, printed]) => {
    const { items } = listOf('beads', JSON.stringify(printed));
    // What `bd ready` prints waits for nothing any more.
    const read = items.map(({ id, blockers, priority }) => [id, blockers, priority]);
    expect(read).toEqual(
      'length' in printed && printed.length === 0
        ? []
        : [
            ['bd-7', [], 2],
            ['bd-9', [], 0],
          ],
    );
  });
});

describe('--from', () => {
  test('an item that does not say whether it is done is open', () => {
    const { items } = listOf('from', '[{"title":"One"},{"id":2,"title":"Two","done":true}]');
    expect(items.map(({ id, standing }) => [id, standing])).toEqual([
      ['one', 'open'],
      ['2', 'done'],
    ]);
  });

  test.for([
    ['no JSON', 'oops', /line 1, column 1 has 'oops'/],
    ['no list', '{"a":1}', /expects a list/],
    ['several lists', '{"a":{"tasks":[]},"b":{"tasks":[]}}', /--section/],
    ['a circle', '[{"id":1,"title":"a","dependsOn":[1]}]', /wait for each other/],
    ['an id like a flag', '[{"id":"--web","title":"a"}]', /without a dash in front.*"--web"/],
    ['an id of two lines', '[{"id":"a\\nb","title":"a"}]', /without control signs.*"a\\nb"/],
    ['a long id', JSON.stringify([{ id: 'x'.repeat(201), title: 'a' }]), /at most 200/],
  ] as const)('refuses %s', ([, text, problem]) => {
    const read = readPrinted('from', 'what --from prints', text);
    expect('problems' in read && read.problems[0]).toMatch(problem);
  });

  test('takes one of several lists by its tag', () => {
    const text = '{"a":{"tasks":[]},"b":{"tasks":[{"title":"One"}]}}';
    expect(listOf('from', text, ['b']).items).toHaveLength(1);
  });
});

const record = (id: string, more: Partial<ItemRecord> = {}): ItemRecord => ({
  ...{ id, state: 'working', task_id: `from.${id}`, earlier: null, reason: null, proof: null },
  kept: JSON.stringify({ id, title: `Kept ${id}` }),
  ...more,
});

describe('what ralph knows of a printed list', () => {
  const list = listOf('from', '[{"id":"a","title":"A"}]');

  test.for<[name: string, record: ItemRecord, seen: readonly string[], shown: object]>([
    ['done here, and open there', record('a', { state: 'done' }), [], { standing: 'done' }],
    ['failed here', record('a', { state: 'blocked' }), [], { standing: 'open', name: 'A' }],
    ['done before, and gone', record('b', { state: 'done' }), [], { isWanted: false }],
    ['done in this run, and gone', record('b', { state: 'done' }), ['b'], { isWanted: true }],
    ['claimed, and gone', record('b', { claimed: true }), [], { isWanted: true, name: 'Kept b' }],
    ['not claimed, and gone', record('b'), ['b'], { isWanted: false, standing: 'open' }],
  ])('%s', ([, known, seen, shown]) => {
    const { items } = withRecords(list, [known], new Set(seen));
    expect(items.find(({ id }) => id === known.id)).toMatchObject(shown);
  });

  test('an item is kept as it was read, whatever list it is of', () => {
    const markdown = readList('a.md', '- [ ] T1 one\n');
    const [box] = 'list' in markdown ? markdown.list.items : [];
    const [json] = listOf('from', '[{"id":4,"name":"Four","body":"x","status":"open"}]').items;
    expect([box, json].map((item) => item && JSON.parse(itemAsJson(item)))).toEqual([
      { text: '- [ ] T1 one', id: 'T1', title: 'one' },
      { id: '4', name: 'Four', title: 'Four', body: 'x' },
    ]);
    expect(nameAsJson('{"id":"4","title":"Four","body":"x"}')).toBe('{"id":"4","title":"Four"}');
  });
});

test.for<[again: readonly string[], isPrinted: boolean, states: object]>([
  [['b'], false, { d: 'done', w: 'working' }],
  [['all'], true, { b: 'open', d: 'done', w: 'working' }],
  [['d', 'w'], true, { b: 'blocked', d: 'open', w: 'working' }],
  [['d'], false, { b: 'blocked', d: 'done', w: 'working' }],
])('--again %s, printed: %s', ([again, isPrinted, states]) => {
  const items = [
    record('b', { state: 'blocked' }),
    record('d', { state: 'done', told: true }),
    record('w'),
  ];
  const state = { ...newListState({ list: 'x', file: 'x', sections: [] }), items };
  const opened = openedAgain(state, again, isPrinted).items;
  expect(Object.fromEntries(opened.map((each) => [each.id, each.state]))).toEqual(states);
  expect(opened.find((each) => each.state === 'open')?.told).toBeUndefined();
});
