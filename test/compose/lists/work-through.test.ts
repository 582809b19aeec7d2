import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ListPorts } from '../../../src/compose/lists/list-run.ts';
import { fileSource } from '../../../src/compose/lists/list-source.ts';
import { workThrough } from '../../../src/compose/lists/work-through.ts';
import { NO_USAGE } from '../../../src/core/agent/attempt.ts';
import {
  type ItemRecord,
  type ListState,
  newListState,
} from '../../../src/core/list/list-state.ts';
import { UntrustedTaskError } from '../../../src/task-errors.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const OPEN = '- [ ] T1 one\n';
const FAILED = { status: 'stalled', exitReason: 'stalled', evidence: null } as const;

type Task = NonNullable<ReturnType<ListPorts['find']>>;

const COMPLETED = {
  ...{ started_at: '2026-01-01T00:00:00.000Z', exit_reason: 'completed', evidence: null },
  ...{ current_iteration: 1, max_iterations: 5, usage: NO_USAGE },
};

/** A list of one item of which an earlier run has left a record, and the task of that item. */
async function stage(record: Partial<ItemRecord>, task: Partial<Task>, text = OPEN) {
  const file = path.join(await tempFolder(), 'plan.md');
  writeFileSync(file, text);
  const steps: string[] = [];
  const ports: ListPorts = {
    ...{ stateDir: '/state', file, shown: 'plan.md', sections: [], only: null, places: 1 },
    source: fileSource({ file, shown: 'plan.md', sections: [] }),
    calls: { claim: null, done: null },
    maxCostUsd: null,
    commitOf: async () => null,
    taskIdOf: (item) => `plan.${item}`,
    save: async () => {},
    find: () => ({
      ...{ isOwn: true, standing: 'completed', isInHistory: true },
      ...{ state: COMPLETED, paths: { folder: path.dirname(file) } },
      ...task,
    }),
    async start() {
      steps.push('start');
      return 1;
    },
    async resume() {
      steps.push('resume');
      return 1;
    },
    land: async () => ({ kind: 'landed', onto: null, commit: null }),
    async goBack() {
      steps.push('back');
      return 1;
    },
    undo: async () => ({ kind: 'nothing' }),
    report: ({ kind }) => steps.push(kind),
    stops: {
      signal: new AbortController().signal,
      hurry: new AbortController().signal,
      cause: () => null,
    },
  };
  const state = newListState({ list: 'plan', file, sections: [] });
  const left: ItemRecord = {
    ...{ id: 'T1', state: 'working', task_id: 'plan.T1', earlier: null },
    ...{ reason: null, proof: null },
    ...record,
  };
  return {
    file,
    steps,
    work: (more: Partial<ListPorts> = {}, before: string | null = text) =>
      workThrough({ ...ports, ...more }, { ...state, items: [left], before }),
    text: (): string => readFileSync(file, 'utf8'),
  };
}

test('the completed task of an item ticks it without an agent', async () => {
  const { steps, work, text } = await stage({}, {});
  expect((await work()).exitCode).toBe(0);
  expect([steps, text()]).toEqual([['done'], '- [x] T1 one\n']);
});

test('a completed task whose end was not all written is resumed first', async () => {
  const { steps, work, text } = await stage({}, { isInHistory: false });
  const resume = async () => {
    steps.push('resume');
    return null;
  };
  expect((await work({ resume })).exitCode).toBe(0);
  expect([steps, text()]).toEqual([['resume', 'done'], '- [x] T1 one\n']);
});

test('a landing that fails does not go back to a task that is used up', async () => {
  const { steps, work, text } = await stage({}, { state: { ...COMPLETED, current_iteration: 5 } });
  expect((await work({ land: async () => CONFLICT })).exitCode).toBe(5);
  expect([steps, text()]).toEqual([['blocked'], OPEN]);
});

test('a task that somebody else wrote does not tick its item', async () => {
  const { steps, work, text } = await stage({}, { isOwn: false });
  await expect(work()).rejects.toThrow(UntrustedTaskError);
  expect([steps, text()]).toEqual([[], OPEN]);
});

test('a task that somebody else wrote does not tick a blocked item', async () => {
  const { steps, work, text } = await stage({ state: 'blocked' }, { isOwn: false });
  expect((await work({}, null)).exitCode).toBe(5);
  expect([steps, text()]).toEqual([[], OPEN]);
});

test.for([
  ['ticked', '- [x] T1 one\n', null, 0],
  ['left to another run', OPEN, new Set(['T2']), 0],
] as const)('an item that a person has %s is not worked on', async ([, now, only, exitCode]) => {
  const { steps, work, text } = await stage({}, { standing: 'stopped' }, now);
  expect((await work({ only }, null)).exitCode).toBe(exitCode);
  expect([steps, text()]).toEqual([[], now]);
});

test('what the agent of an item that is not meant did to the list is put back', async () => {
  const { steps, work, text } = await stage({}, { standing: 'stopped' }, '- [x] T1 one\n');
  await work({ only: new Set(['T2']) }, OPEN);
  expect([steps, text()]).toEqual([['agent-changed-list'], OPEN]);
});

const keptAs = (text: string, title: string): string => JSON.stringify({ text, id: 'T1', title });

test.for<[state: 'working' | 'blocked', standing: string, kept: string, steps: readonly string[]]>([
  ['working', 'stopped', keptAs('- [ ] T1 other', 'other'), ['starts-over', 'start']],
  ['working', 'completed', keptAs('- [ ] T1 other', 'other'), ['starts-over', 'start']],
  ['blocked', 'completed', keptAs('- [ ] T1 other', 'other'), ['not-landed']],
  ['working', 'stopped', keptAs(OPEN.trim(), 'one'), ['resume']],
  ['blocked', 'completed', keptAs(OPEN.trim(), 'one'), ['done']],
])('a task is not the one of an item that was rewritten: %s, %s, %s', async (given) => {
  const [state, standing, kept, expected] = given;
  const { steps, work } = await stage({ state, kept }, { standing });
  await work({}, null);
  expect(steps).toEqual(expected);
});

test.for<[shown: string, was: string, now: string]>([
  ['plan.md', '- [ ] T1 one\n  - [x] a\n  - [ ] b\n', '- [ ] T1 one\n  - [x] a\n  - [x] b\n'],
  [
    'plan.json',
    '[{"id":"T1","title":"one","done":false,"steps":[{"title":"a","note":"1","done":false}]}]',
    '[{"id":"T1","title":"one","done":false,"steps":[{"title":"a","note":"2","done":true}]}]',
  ],
])('a task is continued if only done marks and notes of its item changed: %s', async (given) => {
  const [shown, was, now] = given;
  const saved: ItemRecord[] = [];
  const run = async (record: Partial<ItemRecord>, text: string, more: Partial<ListPorts>) => {
    const { file, steps, work } = await stage(record, { standing: 'stopped' }, text);
    await work({ shown, source: fileSource({ file, shown, sections: [] }), ...more }, null);
    return steps;
  };
  const save = async ({ items }: ListState) => void saved.push(...items);
  await run({ id: 'other' }, was, { save, find: () => null });
  const begun = saved.find(({ id, state }) => id === 'T1' && state === 'working');
  expect(await run({ ...begun }, now, {})).toEqual(['resume']);
});

test('an item outside of the section is not continued', async () => {
  const text = '# A\n- [ ] T1 one\n# B\n- [ ] T2 two\n';
  const { file, steps, work } = await stage({}, { standing: 'stopped' }, text);
  const sections = ['B'];
  await work({ sections, source: fileSource({ file, shown: 'plan.md', sections }) });
  expect(steps).toEqual(['start']);
});

test('a list is put back whose folder is gone', async () => {
  const { work, text, file } = await stage({}, {});
  rmSync(path.dirname(file), { recursive: true });
  expect((await work()).exitCode).toBe(0);
  expect(text()).toBe('- [x] T1 one\n');
});

test('--done is not told of an item that a person has opened again', async () => {
  const { steps, work } = await stage({ state: 'done', told: false, kept: '{"id":"T1"}' }, {});
  const told: string[] = [];
  const calls: ListPorts['calls'] = {
    claim: null,
    done: async ({ id }) => {
      told.push(id);
      return { kind: 'passed', output: '' };
    },
  };
  await work({ calls }, null);
  expect([steps, told]).toEqual([['start'], []]);
});

test.for([
  ['a common cause', 5, true],
  ['its last item', FAILED, false],
] as const)('a list that %s ends with 5', async ([, ran, isCut]) => {
  const { work } = await stage({ id: 'T0' }, {});
  expect(await work({ start: async () => ran }, null)).toMatchObject({ exitCode: 5, isCut });
});

/** A list of which several items are at work at the same time. */
async function sideBySide(ports: Partial<ListPorts>, ids = ['a', 'b', 'c']) {
  const file = path.join(await tempFolder(), 'prd.json');
  const text = JSON.stringify(ids.map((id) => ({ id, title: id, done: false })));
  writeFileSync(file, text);
  const { events, ...rest } = { events: [] as string[], ...ports };
  const saved: ListState[] = [];
  const all: ListPorts = {
    ...{ stateDir: '/state', file, shown: 'prd.json', sections: [], only: null, places: 3 },
    source: fileSource({ file, shown: 'prd.json', sections: [] }),
    calls: { claim: null, done: null },
    maxCostUsd: null,
    commitOf: async () => null,
    taskIdOf: (item) => `prd.${item}`,
    save: async (state) => void saved.push(state),
    find: () => null,
    start: async () => DONE,
    resume: async () => DONE,
    land: async () => LANDED,
    goBack: async () => DONE,
    undo: async () => ({ kind: 'nothing' }),
    report: (event) =>
      events.push('item' in event ? `${event.item} ${event.kind}` : `${event.items} ${event.kind}`),
    stops: STOPS,
    ...rest,
  };
  const state = newListState({ list: 'prd', file, sections: [] });
  const done = (): readonly string[] =>
    JSON.parse(readFileSync(file, 'utf8')).flatMap((each: { id: string; done: boolean }) =>
      each.done ? [each.id] : [],
    );
  return { file, text, events, saved, done, work: () => workThrough(all, state) };
}

const DONE = { status: 'completed', exitReason: 'completed', evidence: null } as const;
const LANDED = { kind: 'landed', onto: 'work', commit: 'abc' } as const;
const CONFLICT = {
  ...({ kind: 'refused', sentence: 'it has not landed', hint: 'merge' } as const),
  why: { kind: 'conflict', paths: ['a.txt'] },
} as const;
const STOPS = {
  signal: new AbortController().signal,
  hurry: new AbortController().signal,
  cause: () => null,
};

test('what one agent did to the list while others are at work is put back, and no tick is lost', async () => {
  let begun = 0;
  const list = await sideBySide({
    async start({ item: { id } }) {
      begun += 1;
      // The first is done at once, and its agent has broken the list; the others end later.
      if (id === 'a') {
        await expect.poll(() => begun).toBe(3);
        writeFileSync(list.file, '{');
      } else await expect.poll(() => list.events).toContain('a done');
      return DONE;
    },
  });
  expect((await list.work()).exitCode).toBe(0);
  expect(begun).toBe(3);
  expect(list.done()).toEqual(['a', 'b', 'c']);
  expect(list.events[0]).toBe('a,b,c agent-changed-list');
  // As long as others are at work, the list with the new tick is what is kept.
  const first = list.saved.find(({ items }) => items.some(({ state }) => state === 'done'));
  expect(first?.before).toBe(list.text.replace('false', 'true'));
  expect(list.saved.at(-1)?.before).toBe(null);
  expect(list.saved.at(-1)?.items.map(({ commit }) => commit)).toEqual(['abc', 'abc', 'abc']);
});

test('a landing goes back three times, and is counted before the task goes on', async () => {
  const steps: string[] = [];
  const list = await sideBySide(
    {
      land: async () => CONFLICT,
      async goBack(taskId, hint) {
        const [record] = list.saved.at(-1)?.items ?? [];
        steps.push(`${taskId} ${hint} ${record?.state} ${record?.returned}`);
        return DONE;
      },
    },
    ['a'],
  );
  expect(await list.work()).toMatchObject({ exitCode: 5, isCut: false });
  expect(steps).toEqual([1, 2, 3].map((time) => `prd.a merge working ${time}`));
  expect(list.saved.at(-1)?.items[0]).toMatchObject({
    ...{ state: 'blocked', reason: 'not-landed:conflict' },
  });
  expect(list.done()).toEqual([]);
});

test.for<
  [kind: 'failed' | 'stopped' | 'in-the-way', exitCode: number, state: string, begun: number]
>([
  ['failed', 1, 'blocked', 1],
  ['stopped', 1, 'working', 1],
  ['in-the-way', 5, 'blocked', 2],
])('a landing that ends with %s', async ([kind, exitCode, state, begun]) => {
  const started: string[] = [];
  const why = { kind, why: 'x', folder: '/w', paths: [] };
  const list = await sideBySide(
    {
      places: 1,
      async start({ taskId }) {
        started.push(taskId);
        return DONE;
      },
      land: async () => ({ ...CONFLICT, why }),
    },
    ['a', 'b'],
  );
  expect((await list.work()).exitCode).toBe(exitCode);
  expect(list.saved.at(-1)?.items[0]?.state).toBe(state);
  expect(started).toHaveLength(begun);
});

test('what would meet every item lets those at work end, and begins nothing more', async () => {
  const started: string[] = [];
  const list = await sideBySide(
    {
      places: 2,
      async start({ item: { id } }) {
        started.push(id);
        if (id === 'a') return 1;
        await expect.poll(() => list.saved.at(-1)?.items.map((each) => each.id)).toEqual(['b']);
        return DONE;
      },
    },
    ['a', 'b', 'c'],
  );
  expect(await list.work()).toMatchObject({ exitCode: 1, isCut: true });
  expect([started, list.done()]).toEqual([['a', 'b'], ['b']]);
});
