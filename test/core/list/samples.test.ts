import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { itemStands, startOrder } from '../../../src/core/list/item-order.ts';
import { type TaskList, withEdits } from '../../../src/core/list/list-item.ts';
import { readList } from '../../../src/core/list/read-list.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'fixtures', 'lists');

interface Expected {
  readonly order?: readonly string[];
  readonly done?: readonly string[];
  readonly states?: Readonly<Record<string, string>>;
  readonly waits_for?: Readonly<Record<string, readonly string[]>>;
  readonly refused?: readonly string[];
  readonly with?: Readonly<Record<string, { readonly order: readonly string[] }>>;
}

const EXPECTED: Readonly<Record<string, Expected>> = JSON.parse(
  readFileSync(join(FOLDER, 'expected.json'), 'utf8'),
);
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');

function listOf(file: string, sections: readonly string[] = []): TaskList {
  const read = readList(file, textOf(file), sections);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  return read.list;
}

const ALL = { blocked: new Set<string>(), only: null };

/** Compares ids of which a sample may give only the beginning. */
function expectOrder(order: readonly string[], expected: readonly string[]): void {
  const cut = order.map((id, at) => {
    const [, start] = /^(.*)…$/.exec(expected[at] ?? '') ?? [];
    return start !== undefined && id.startsWith(start) ? `${start}…` : id;
  });
  expect(cut).toEqual(expected);
}

test('every sample has an expectation', () => {
  const names = readdirSync(FOLDER).filter((name) => name !== 'expected.json');
  expect(Object.keys(EXPECTED).sort()).toEqual(names.sort());
});

describe.for(Object.entries(EXPECTED))('%s', ([file, expected]) => {
  const { order, refused, states = {}, done = [], waits_for: waits = {} } = expected;

  const refusal = refused ?? [];
  test.for(refused === undefined ? [] : [file])('%s is refused in one line', () => {
    const read = readList(file, textOf(file));
    const problems = 'problems' in read ? read.problems : [];
    expect(problems).toHaveLength(1);
    for (const word of refusal) {
      expect(word.split(' or ').some((each) => problems[0]?.includes(each))).toBe(true);
    }
  });

  test.for(order === undefined ? [] : [file])('%s is worked on in this order', () => {
    const { items } = listOf(file);
    expectOrder(startOrder(items, ALL), order ?? []);
    const stands = itemStands(items, ALL);
    const stateOf = (id: string) => stands.find(({ item }) => item.id === id);
    for (const [id, state] of Object.entries(states)) expect(stateOf(id)?.state).toBe(state);
    for (const id of done) expect(stateOf(id)?.state).toBe('done');
    for (const [id, blockers] of Object.entries(waits)) {
      expect(stateOf(id)?.waitsFor).toEqual(blockers);
    }
  });

  test.for(Object.entries(expected.with ?? {}))('with %s', ([flag, { order: wanted }]) => {
    const section = flag.replace(/^--section /, '').replaceAll('"', '');
    expectOrder(startOrder(listOf(file, [section]).items, ALL), wanted);
  });
});

/** Ticks all that can be started, one item after the other, and returns the lines that differ. */
function ticked(file: string): readonly string[] {
  const before = textOf(file);
  let text = before;
  for (const id of startOrder(listOf(file).items, ALL)) {
    const read = readList(file, text);
    const item = 'list' in read ? read.list.items.find((each) => each.id === id) : undefined;
    text = withEdits(text, item?.tick ?? []);
  }
  const after = text.split('\n');
  const lines = before.split('\n');
  expect(after).toHaveLength(lines.length);
  return after.flatMap((line, at) => (line === lines[at] ? [] : `${at + 1}: ${line.trim()}`));
}

test.for<[string, readonly (string | RegExp)[]]>([
  ['stories.json', [25, 34, 43, 61].map((line) => `${line}: "passes": true,`)],
  ['bare.json', ['12: "passes": true', '18: "passes": true', '24: "passes": true']],
  [
    'features.json',
    [/^5: .*"dependencies": \[1\], "status": "done" \},$/, /^6: .*"status": "done" \},$/],
  ],
  [
    'issues.jsonl',
    [/^1: .*"status":"closed","priority":1/, /^2: .*"status":"closed","priority":0/],
  ],
  [
    'plan.md',
    [
      /^13: - \[x\] Pour/,
      /^15: - \[x\] wait/,
      /^17: - \[x\] Close/,
      /^23: - \[x\]/,
      /^24: - \[x\]/,
    ],
  ],
  [
    'mixed.json',
    [/^4: .*"passes": true, "status": "done"/, /^5: .*"passes": true, "status": "done"/],
  ],
  [
    'statusless.json',
    [
      '3: { "name": "Label the keys", "status": "DONE" },',
      '4: { "name": "Hang up the keys", "status": "DONE" }',
    ],
  ],
])('a tick changes the done fields of %s and nothing else', ([file, expected]) => {
  const lines = ticked(file);
  expect(lines).toHaveLength(expected.length);
  lines.forEach((line, at) => {
    const wanted = expected[at] ?? '';
    if (typeof wanted === 'string') expect(line).toBe(wanted);
    else expect(line).toMatch(wanted);
  });
});

test('the steps of a ticked item are ticked with it', () => {
  const lines = ticked('taskmaster.json');
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(line).toContain('"status": "done"');
});
