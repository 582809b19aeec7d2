import { expect, test } from 'vitest';
import { initialState } from '../../src/core/machine/transition.ts';
import type { AgentRequest, Ports } from '../../src/loop/ports.ts';
import { RunDropped } from '../../src/loop/run-dropped.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import { type FakePorts, fakePorts, type Script } from '../helpers/fake-ports.ts';
import { DONE, WORK } from '../helpers/loop-events.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

const BOUND = 'wait 6000';
const LOST = new RunDropped('the claim is lost');

/** Runs a loop, with some ports changed, until it is dropped. */
async function dropped(script: Script, change: (fake: FakePorts) => Partial<Ports> = () => ({})) {
  const fake = fakePorts(script);
  const policy = loopPolicy();
  const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
  const ports = { ...fake.ports, ...change(fake) };
  const end = runLoop(ports, initialState(newTask(policy)), started, policy);
  await expect(end).rejects.toBe(LOST);
  // The bound on what ends is always set, even if nothing runs.
  return { ...fake, effects: fake.effects.filter((effect) => effect !== BOUND) };
}

/** Ports whose store rejects at the save of this step, once it has been written. */
function refusing(step: string) {
  return ({ ports }: FakePorts): Partial<Ports> => ({
    store: {
      ...ports.store,
      async save(state, events) {
        await ports.store.save(state, events);
        if (state.step.kind === step) throw LOST;
      },
    },
  });
}

test('a save that drops the run is the last one, and nothing is told of it', async () => {
  const { effects } = await dropped({ attempts: [WORK, DONE] }, refusing('waiting'));
  expect(effects.slice(-3)).toEqual(['save waiting 1.1', 'abandon', 'close agent']);
});

test('a run that is dropped at its end archives and announces nothing', async () => {
  const { effects, closedWith } = await dropped({ attempts: [DONE] }, refusing('ended'));
  expect(effects.slice(-3)).toEqual(['save ended 1.1', 'abandon', 'close agent']);
  expect(closedWith.map(({ aborted }) => aborted)).toEqual([true]);
});

test('a claim that is lost while the agent works ends the agent, and what it still says is not told', async () => {
  const request: { current?: AgentRequest } = {};
  let answer = (): void => {};
  const fake = await dropped({ attempts: [WORK, DONE] }, ({ ports, break: abort, effects }) => ({
    agent: {
      ...ports.agent,
      run(given) {
        request.current = given;
        effects.push('run agent');
        queueMicrotask(() => abort(LOST));
        return new Promise((resolve) => {
          answer = () => resolve(WORK);
        });
      },
    },
    abandon() {
      effects.push('abandon');
      request.current?.listener.activity({ kind: 'tool', tool: 'Bash', target: 'npm test' });
      effects.push('answered');
      answer();
    },
  }));
  expect(fake.effects.slice(-3)).toEqual(['abandon', 'answered', 'close agent']);
  expect(fake.events.map(({ event }) => event)).toEqual(['task_started', 'iteration_started']);
  expect(fake.saved).toHaveLength(1);
});

test('an agent that never ends holds up nobody for more than a few seconds', async () => {
  let all: readonly string[] = [];
  await dropped({ attempts: [WORK] }, ({ ports, break: abort, effects }) => {
    all = effects;
    return {
      agent: {
        ...ports.agent,
        run() {
          abort(LOST);
          return new Promise(() => {});
        },
      },
    };
  });
  expect(all.slice(-3)).toEqual(['abandon', BOUND, 'close agent']);
});

test('a claim that is lost during a save starts nothing after it', async () => {
  const { effects, events } = await dropped({
    attempts: [WORK],
    on(effect, { break: abort }) {
      if (effect === 'save working 1.1') abort(LOST);
    },
  });
  expect(effects).toEqual(['save working 1.1', 'abandon', 'close agent']);
  expect(events).toEqual([]);
});

test('a port that drops the run, such as the wait for a beat, drops it without a further save', async () => {
  const { effects, saved } = await dropped({ attempts: [WORK] }, ({ ports }) => ({
    agent: {
      ...ports.agent,
      async run() {
        throw LOST;
      },
    },
  }));
  expect(saved).toHaveLength(1);
  expect(effects.slice(-2)).toEqual(['abandon', 'close agent']);
});
