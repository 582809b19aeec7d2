import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type ListPorts, workThrough } from '../../../src/compose/lists/work-through.ts';
import { type ItemRecord, newListState } from '../../../src/core/list/list-state.ts';
import { UntrustedTaskError } from '../../../src/task-errors.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const OPEN = '- [ ] T1 one\n';

type Task = NonNullable<ReturnType<ListPorts['find']>>;

/** A list of one item of which an earlier run has left a record, and the task of that item. */
async function stage(record: Partial<ItemRecord>, task: Partial<Task>, text = OPEN) {
  const file = path.join(await tempFolder(), 'plan.md');
  writeFileSync(file, text);
  const steps: string[] = [];
  const ports: ListPorts = {
    ...{ stateDir: '/state', file, shown: 'plan.md', sections: [], only: null },
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
    steps,
    work: (more: Partial<ListPorts> = {}, before: string | null = text) =>
      workThrough({ ...ports, ...more }, { ...state, items: [left], before }),
    text: () => readFileSync(file, 'utf8'),
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
