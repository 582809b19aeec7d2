import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fileSource } from '../../../src/compose/lists/list-source.ts';
import { type ListPorts, workThrough } from '../../../src/compose/lists/work-through.ts';
import { type ItemRecord, newListState } from '../../../src/core/list/list-state.ts';
import { UntrustedTaskError } from '../../../src/task-errors.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const OPEN = '- [ ] T1 one\n';
const FAILED = { status: 'stalled', exitReason: 'stalled', evidence: null } as const;

type Task = NonNullable<ReturnType<ListPorts['find']>>;

/** A list of one item of which an earlier run has left a record, and the task of that item. */
async function stage(record: Partial<ItemRecord>, task: Partial<Task>, text = OPEN) {
  const file = path.join(await tempFolder(), 'plan.md');
  writeFileSync(file, text);
  const steps: string[] = [];
  const ports: ListPorts = {
    ...{ stateDir: '/state', file, shown: 'plan.md', sections: [], only: null },
    source: fileSource({ file, shown: 'plan.md', sections: [] }),
    calls: { claim: null, done: null },
    commitOf: async () => null,
    taskIdOf: (item) => `plan.${item}`,
    save: async () => {},
    find: () => ({
      ...{ isOwn: true, startedAt: '2026-01-01T00:00:00.000Z', standing: 'completed' },
      ...{ exitReason: 'completed', evidence: null, folder: path.dirname(file) },
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
