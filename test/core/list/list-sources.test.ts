import { describe, expect, test } from 'vitest';
import { itemAsJson, nameAsJson, withRecords } from '../../../src/core/list/kept-items.ts';
import type { TaskList } from '../../../src/core/list/list-item.ts';
import {
  isHostOfRemotes,
  readPrinted,
  repositoryVariables,
  sourceNamed,
} from '../../../src/core/list/list-sources.ts';
import {
  type ItemRecord,
  newListState,
  openedAgain,
  reopened,
} from '../../../src/core/list/list-state.ts';
import { readList } from '../../../src/core/list/read-list.ts';

function listOf(source: string, text: string, tags: readonly string[] = []): TaskList {
  const read = readPrinted(source, 'what it prints', text, { tags, label: 'agent' });
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.list;
}

const page = (...nodes: readonly object[]): string =>
  JSON.stringify({
    data: {
      repository: { nameWithOwner: 'me/app', url: 'https://ghe.me/me/app', issues: { nodes } },
    },
  });
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
    expect(repository).toBe('ghe.me/me/app');
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

  const at = (minute: number): string => `2026-01-01T00:0${minute}:00Z`;
  const event = (type: string, minute: number, name?: string): object => ({
    ...{ __typename: type, createdAt: at(minute) },
    ...(name === undefined ? {} : { label: { name } }),
  });
  const labelled = event('LabeledEvent', 2, 'Agent');

  test.for<[what: string, events: readonly object[], edited: number | null, at: number | null]>([
    ['labelled', [labelled], null, 2],
    ['edited before the label', [labelled], 1, 2],
    ['edited after the label', [labelled], 3, null],
    ['edited in the second of the label', [labelled], 2, null],
    ['renamed after the label', [labelled, event('RenamedTitleEvent', 3)], null, null],
    ['labelled again', [labelled, event('LabeledEvent', 4, 'agent')], 3, 4],
    ['given another label after an edit', [labelled, event('LabeledEvent', 4, 'bug')], 3, null],
    ['opened again', [labelled, event('ReopenedEvent', 5)], null, 5],
    ['edited, and labelled at a time that nobody knows', [], 1, null],
  ])('an issue that was %s', ([, nodes, edited, askedAt]) => {
    const more = { lastEditedAt: edited === null ? null : at(edited), timelineItems: { nodes } };
    const { items, notices } = listOf('github', page(issue(7, more)));
    const isLeftOut = askedAt === null;
    expect(items[0]?.standing).toBe(isLeftOut ? 'left-out' : 'open');
    if (!isLeftOut) expect(items[0]?.createdAt).toBe(at(askedAt));
    expect(notices).toEqual(
      isLeftOut ? [expect.stringMatching(/^issue 7 was edited after .* label it again\.$/)] : [],
    );
  });

  test('gh stays with the repository that answered', () => {
    expect(repositoryVariables('ghe.me/me/app')).toEqual({
      ...{ GH_REPO: 'ghe.me/me/app', GH_HOST: 'ghe.me' },
    });
    expect(repositoryVariables(undefined)).toEqual({});
  });

  test.for<[remote: string, isHost: boolean]>([
    ['https://github.com/me/app.git', true],
    ['https://me@github.com/me/app', true],
    ['git@github.com:me/app.git', true],
    ['ssh://git@ssh.github.com:443/me/app.git', true],
    ['git@github.com-work:me/app.git', true],
    ['git@work:me/app.git', true],
    ['/srv/app.git', true],
    ['https://ghe.me/me/app', false],
    ['git@ghe.me:me/app', false],
    ['ssh://git@ghe.me/me/github.com', false],
  ])('the answer of github.com is about the remote %s: %s', ([remote, isHost]) => {
    expect(isHostOfRemotes('github.com', `origin\t${remote} (fetch)\n`)).toBe(isHost);
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

  test.for<
    [name: string, record: ItemRecord, seen: readonly string[], shown: object, hides?: boolean]
  >([
    ['done here, and open there', record('a', { state: 'done' }), [], { standing: 'done' }],
    ['failed here', record('a', { state: 'blocked' }), [], { standing: 'open', name: 'A' }],
    ['done before, and gone', record('b', { state: 'done' }), [], { isWanted: false }],
    ['done in this run, and gone', record('b', { state: 'done' }), ['b'], { isWanted: true }],
    ['claimed, and gone', record('b', { claimed: true }), [], { isWanted: true, name: 'Kept b' }],
    ['not claimed, and gone', record('b'), ['b'], { isWanted: false, standing: 'open' }],
    [
      'claimed, not told, and gone',
      record('b', { state: 'done', claimed: true, told: false }),
      [],
      { isWanted: true },
    ],
    [
      'withdrawn in spite of a claim',
      record('b', { claimed: true }),
      [],
      { isWanted: false },
      false,
    ],
  ])('%s', ([, known, seen, shown, hides]) => {
    const { items } = withRecords(list, [known], new Set(seen), hides ?? true);
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

const DONE = { state: 'done', done_at: '2026-01-02T00:00:00Z' } as const;
test.for<[what: string, known: Partial<ItemRecord>, item: object, hides: boolean, isOpen: boolean]>(
  [
    ['done', DONE, {}, true, false],
    ['told, and printed by what prints everything', { ...DONE, told: true }, {}, false, false],
    ['told, and printed by what hides the closed', { ...DONE, told: true }, {}, true, true],
    ['asked for later', DONE, { createdAt: '2026-01-03T00:00:00Z' }, false, true],
    ['asked for earlier', DONE, { createdAt: '2026-01-01T00:00:00Z' }, false, false],
    ['done there as well', { ...DONE, told: true }, { done: true }, true, false],
    ['of another item, done', DONE, { title: 'Other' }, false, true],
    ['of another item, not told', { ...DONE, told: false }, { title: 'Other' }, false, true],
    ['of another item, stopped', {}, { title: 'Other' }, false, true],
    ['stopped', {}, {}, true, false],
  ],
)('a record is dropped if its item was opened again: %s', ([, known, more, hides, isOpen]) => {
  const { items } = listOf('from', JSON.stringify([{ id: 'a', title: 'Kept a', ...more }]));
  const state = {
    ...newListState({ list: 'x', file: 'x', sections: [] }),
    items: [record('a', known)],
  };
  expect(reopened(state, items, hides).ids).toEqual(isOpen ? ['a'] : []);
});
