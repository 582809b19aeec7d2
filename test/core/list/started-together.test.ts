import { expect, test } from 'vitest';
import { nextItem } from '../../../src/core/list/item-order.ts';
import { readList } from '../../../src/core/list/read-list.ts';

/** Returns the ids of the items that start together, at most `places` of them. */
function started(
  file: string,
  text: string,
  { places = 9, blocked = [], only = null, atWork = [] }: Partial<Facts> = {},
): string {
  const read = readList(file, text);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const busy = new Set(atWork);
  const facts = { blocked: new Set(blocked), only: only && new Set(only), atWork: busy };
  for (let next = nextItem(read.list.items, facts); next !== null && busy.size < places; ) {
    busy.add(next.id);
    next = nextItem(read.list.items, facts);
  }
  return [...busy].join(' ');
}

interface Facts {
  readonly places: number;
  readonly blocked: readonly string[];
  readonly only: readonly string[] | null;
  readonly atWork: readonly string[];
}

const PHASES = `# Set-up
- [x] T1 [P] one
- [ ] T2 [P] two
- [ ] T3 [P] three
- [ ] T4 four
- [ ] T5 [P] five
# Next
- [ ] T6 [P] six
- [ ] T7 [P] seven
- [ ] T8 eight (depends on T9)
- [ ] T9 nine
`;

test.for<[name: string, facts: Partial<Facts>, ids: string]>([
  ['neighbours that are marked start together', {}, 'T2 T3'],
  ['no more than there are places for', { places: 1 }, 'T2'],
  ['the first of the next lane waits for the last of this one', { atWork: ['T3'] }, 'T3 T2'],
  ['one that is not marked starts alone', { blocked: ['T2', 'T3'] }, 'T4'],
  ['what is blocked above holds nothing up', { blocked: ['T2', 'T3', 'T4'] }, 'T5'],
  ['a heading parts neighbours', { blocked: ['T2', 'T3', 'T4'], atWork: ['T5'] }, 'T5'],
  ['what is not meant above holds nothing up', { only: ['T6', 'T7', 'T4'] }, 'T4'],
  ['marked ones under one heading', { only: ['T6', 'T7', 'T9'] }, 'T6 T7'],
  ['one that waits for one below holds nothing up', { only: ['T8', 'T9'] }, 'T9'],
])('in Markdown: %s', ([, facts, ids]) => {
  expect(started('plan.md', PHASES, facts)).toBe(ids);
});

test('a mark counts only where it stands for itself', () => {
  const text =
    '- [ ] T1 a [P](link)\n- [ ] T2 the `[P]` mark\n- [ ] T3 [US1] [P] c\n- [ ] T4 [P] d\n';
  expect(started('plan.md', text)).toBe('T1');
  expect(started('plan.md', text, { blocked: ['T1'] })).toBe('T2');
  expect(started('plan.md', text, { blocked: ['T1', 'T2'] })).toBe('T3 T4');
});

const ITEMS = JSON.stringify([
  { id: 'a', title: 'a', done: false, priority: 2 },
  { id: 'b', title: 'b', done: false, priority: 1 },
  { id: 'c', title: 'c', done: false, dependsOn: ['a'] },
  { id: 'd', title: 'd', done: false },
]);

test.for<[facts: Partial<Facts>, ids: string]>([
  [{}, 'b a d'],
  [{ places: 2 }, 'b a'],
  [{ blocked: ['a'] }, 'b d'],
  [{ only: ['a', 'c'] }, 'a'],
])('in JSON, what is ready starts: %o', ([facts, ids]) => {
  expect(started('prd.json', ITEMS, facts)).toBe(ids);
});
