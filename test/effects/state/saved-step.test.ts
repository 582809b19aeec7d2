import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LoopState, NO_STREAKS } from '../../../src/core/machine/loop-state.ts';
import { initialState } from '../../../src/core/machine/transition.ts';
import { memoryOf, readNamedStep } from '../../../src/effects/state/saved-step.ts';
import { answered, refusedTool } from '../../helpers/attempt-facts.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('a memory of ralph 0.1.0 is read with what it did not know yet', async () => {
  const { memory } = await readBack((memory) => {
    const { stoppedSubAgents, refused, ...facts } = memory.step.answer.facts;
    const { unprovenClaims, ...streaks } = memory.streaks;
    const old = refused.map(({ tool, target }: { tool: string; target: string }) => ({
      ...{ tool, target },
      laterSucceeded: false,
    }));
    const answer = { ...memory.step.answer, facts: { ...facts, refused: old } };
    return { ...memory, streaks, hints: ['Be brief.'], step: { ...memory.step, answer } };
  });
  expect(memory?.hints).toEqual([{ text: 'Be brief.', isProven: false }]);
  expect(memory?.streaks).toEqual(NO_STREAKS);
  expect(memory?.step).toMatchObject({
    answer: {
      facts: {
        stoppedSubAgents: 0,
        // What it was whole is not known, and no pattern covers that.
        refused: [
          { tool: 'Bash', target: 'git push', command: '' },
          { tool: 'Write', target: 'a.txt', command: null },
        ],
      },
    },
  });
});

test('a memory of today is read as it was written', async () => {
  const { memory, written } = await readBack((memory) => memory);
  expect(memory).toEqual(written);
});

// biome-ignore lint/suspicious/noExplicitAny: it is taken apart as the JSON that it is
async function readBack(change: (memory: any) => unknown) {
  const refused = [refusedTool('Bash', 'git push'), refusedTool('Write', 'a.txt')];
  const state: LoopState = initialState(newTask());
  const facts = answered('DONE', { refused });
  const step = { kind: 'looking', answer: { outcome: { kind: 'answered' }, facts } };
  const written = JSON.parse(JSON.stringify({ ...memoryOf(state), step }));
  const folder = await tempFolder();
  const fields = { schema_version: 1, memory: change(written) };
  await writeFile(join(folder, 'memory-1.json'), JSON.stringify(fields));
  const kept = readNamedStep(folder, { memory: 'memory-1.json', task_id: 'T1', save: 0 });
  return { memory: kept?.memory, written };
}

test('a memory of another step than the state is not read', async () => {
  const folder = await tempFolder();
  const memory = JSON.parse(JSON.stringify(memoryOf(initialState(newTask()))));
  const fields = { schema_version: 1, task: { save: 7 }, memory };
  await writeFile(join(folder, 'memory-2.json'), JSON.stringify(fields));
  const read = (save: number) =>
    readNamedStep(folder, { memory: 'memory-2.json', task_id: 'T1', save });
  expect(read(7)?.memory).toEqual(memory);
  expect(read(6)).toBeNull();
});
