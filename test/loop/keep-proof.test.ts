import { expect, test } from 'vitest';
import { initialState } from '../../src/core/machine/transition.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import { fakePorts } from '../helpers/fake-ports.ts';
import { DONE, WORK } from '../helpers/loop-events.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

async function lastEffects(attempt: typeof DONE): Promise<readonly string[]> {
  const policy = loopPolicy({ maxIterations: 1 });
  const { ports, effects } = fakePorts({ attempts: [attempt], showsProof: true });
  const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
  await runLoop(ports, initialState(newTask(policy)), started, policy);
  return effects.slice(effects.indexOf('close agent'));
}

test('a completed task keeps its proof before it moves to the history', async () => {
  expect(await lastEffects(DONE)).toEqual([
    'close agent',
    'keep proof: no check was named (--verify "npm test")',
    'archive',
    'tell task_completed',
    'on-end task_completed',
  ]);
});

test('a task that is not completed has none', async () => {
  expect(await lastEffects(WORK)).not.toContainEqual(expect.stringMatching(/^keep proof/));
});
