import { expect, test } from 'vitest';
import { initialState } from '../../src/core/machine/transition.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import { answered, errorReport } from '../helpers/attempt-facts.ts';
import { fakePorts } from '../helpers/fake-ports.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

test('the work folder is recorded before every attempt: only the workspace knows whether that was done before', async () => {
  const overloaded = errorReport('API Error: 529 Overloaded.', 529);
  const done = answered('<promise>DONE</promise>');
  const policy = loopPolicy({ delayMs: 0 });
  const fake = fakePorts({ attempts: [overloaded, answered('Part of it.'), overloaded, done] });
  const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
  await runLoop(fake.ports, initialState(newTask(policy)), started, policy);
  const seen = fake.effects.filter((effect) => effect === 'mark' || effect.startsWith('run agent'));
  expect(seen).toEqual([
    'mark',
    'run agent 1.1',
    'mark',
    'run agent 1.2',
    'mark',
    'run agent 2.1',
    'mark',
    'run agent 2.2',
  ]);
});
