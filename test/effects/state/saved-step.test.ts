import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LoopState } from '../../../src/core/machine/loop-state.ts';
import { initialState } from '../../../src/core/machine/transition.ts';
import { memoryOf, readNamedStep } from '../../../src/effects/state/saved-step.ts';
import { answered, refusedTool } from '../../helpers/attempt-facts.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('a memory is read as it was written', async () => {
  const refused = [refusedTool('Bash', 'git push'), refusedTool('Write', 'a.txt')];
  const state: LoopState = initialState(newTask());
  const facts = answered('DONE', { refused });
  const step = { kind: 'looking', answer: { outcome: { kind: 'answered' }, facts } };
  const written = JSON.parse(JSON.stringify({ ...memoryOf(state), step }));
  const folder = await tempFolder();
  const fields = { schema_version: 1, task: { save: 0 }, memory: written };
  await writeFile(join(folder, 'memory-1.json'), JSON.stringify(fields));
  const kept = readNamedStep(folder, { memory: 'memory-1.json', task_id: 'T1', save: 0 });
  expect(kept?.memory).toEqual(written);
});

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
