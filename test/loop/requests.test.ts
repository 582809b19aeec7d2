import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../src/core/agent/attempt.ts';
import type { LoopEvent } from '../../src/core/machine/loop-event.ts';
import type { LoopState } from '../../src/core/machine/loop-state.ts';
import { initialState } from '../../src/core/machine/transition.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import { laterBy } from '../../src/core/task/task-state.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import { answered, cut } from '../helpers/attempt-facts.ts';
import { type FakePorts, fakePorts, type Script } from '../helpers/fake-ports.ts';
import { DONE, LIMITED, OVERLOADED, TAG, WORK } from '../helpers/loop-events.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

const KEY = `sk-ant-api03-${'aB3dE5gH'.repeat(6)}`;
const HINT = 'Use npm.';

const STARTED: LoopEvent = { kind: 'started', at: START, prompt: 'Fix the tests.' };

interface Begin {
  readonly state?: LoopState;
  readonly event?: LoopEvent;
  /** Asked for before the loop begins. */
  readonly before?: (fake: FakePorts) => void;
}

async function run(script: Script, changes: Partial<Policy> = {}, begin: Begin = {}) {
  const policy = loopPolicy(changes);
  const fake = fakePorts(script);
  begin.before?.(fake);
  const state = begin.state ?? initialState(newTask(policy));
  const end = await runLoop(fake.ports, state, begin.event ?? STARTED, policy);
  return { ...fake, ...end };
}

/** Pauses in one effect. */
function pausedIn(attempts: readonly AttemptFacts[], when: string): Script {
  return {
    attempts,
    on: (effect, fake) => {
      if (effect === when) fake.pause();
    },
  };
}

function behind(effects: readonly string[], effect: string): readonly string[] {
  expect(effects).toContain(effect);
  return effects.slice(effects.indexOf(effect) + 1);
}

const PAUSED = ['close agent', 'tell task_paused', 'on-end task_paused'];

describe('a request to pause', () => {
  test('lets the agent finish its work, and takes effect then', async () => {
    const { effects, events, fields, requests } = await run(pausedIn([WORK], 'run agent 1.1'));
    expect(behind(effects, 'look')).toEqual(['save ended 1.1', 'tell task_iterated', ...PAUSED]);
    expect(requests[0]?.stops.signal.aborted).toBe(false);
    expect(fields).toMatchObject({
      status: 'paused',
      exit_reason: 'paused',
      exit_code: 6,
      iterations_used: 1,
      note: null,
      state_file: 'task-1.json',
    });
    expect(events.at(-1)).toMatchObject({ event: 'task_paused', final: true, ...fields });
  });

  test.for<[name: string, attempt: AttemptFacts, wait: string]>([
    ['a delay', WORK, 'wait 2000'],
    ['a back-off', OVERLOADED, 'wait 500'],
    ['a wait for a limit', LIMITED, `wait ${5 * 3_600_000 + 1_000 - LIMITED.durationMs}`],
  ])('interrupts %s', async ([, attempt, wait]) => {
    const { effects, state } = await run(pausedIn([attempt], wait));
    expect(behind(effects, wait)).toEqual(['save ended 1.1', ...PAUSED]);
    // The clock has not gone on to the end of the wait.
    expect(state.task).toMatchObject({
      status: 'paused',
      finished_at: laterBy(START, attempt.durationMs),
      wait: null,
    });
  });

  test('takes effect before anything is started', async () => {
    const { effects } = await run({ attempts: [] }, {}, { before: (fake) => fake.pause() });
    expect(effects).toEqual(['save ended 0.0', 'tell task_started', ...PAUSED]);
  });

  test('comes too late for an answer that is complete', async () => {
    const { effects, fields } = await run(pausedIn([DONE], 'run agent 1.1'));
    expect(fields).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(effects).not.toContain('tell task_paused');
  });

  test('comes too late while the task ends', async () => {
    const { events, fields } = await run(pausedIn([DONE], 'close agent'));
    expect(fields.status).toBe('completed');
    expect(events.at(-1)).toMatchObject({ event: 'task_completed' });
  });

  test('while the command that follows runs takes effect after it', async () => {
    const { effects } = await run(pausedIn([WORK], 'after ./sync'), { after: './sync' });
    expect(behind(effects, 'after ./sync')).toEqual(['save ended 1.1', ...PAUSED]);
  });

  test('is in the saved state, for the next driver', async () => {
    const { saved } = await run(pausedIn([WORK], 'run agent 1.1'));
    expect(saved.at(-1)).toMatchObject({ step: { kind: 'ended' }, task: { status: 'paused' } });
  });

  test('gives way to a request to stop', async () => {
    const { fields } = await run({
      attempts: [WORK],
      on: (effect, fake) => {
        if (effect !== 'wait 2000') return;
        fake.pause();
        fake.stop('request');
      },
    });
    expect(fields).toMatchObject({ exit_reason: 'stopped:request', exit_code: 143 });
  });
});

describe('a request to stop', () => {
  test('by somebody else ends the task like a signal', async () => {
    const { fields } = await run({
      attempts: [cut('stop-requested')],
      on: (effect, fake) => {
        if (effect === 'run agent 1.1') fake.stop('request');
      },
    });
    expect(fields).toMatchObject({
      status: 'stopped',
      exit_reason: 'stopped:request',
      exit_code: 143,
    });
  });

  test('during the command that follows ends the task after it', async () => {
    const { effects, fields } = await run(
      {
        attempts: [WORK],
        on: (effect, fake) => {
          if (effect === 'after ./sync') fake.stop('SIGINT');
        },
      },
      { after: './sync' },
    );
    expect(behind(effects, 'after ./sync')[0]).toBe('save ended 1.1');
    expect(fields).toMatchObject({ status: 'stopped', exit_code: 130, iterations_used: 1 });
  });

  test('that comes before the start prevents every start', async () => {
    const { effects, requests } = await run(
      { attempts: [] },
      {},
      { before: (fake) => fake.stop('SIGINT') },
    );
    expect(requests).toEqual([]);
    expect(effects[0]).toBe('save ended 0.0');
  });
});

describe('a request before a task is resumed', () => {
  const resumed: LoopEvent = { kind: 'resumed', at: START, timeLeftMs: 60_000, lost: null };

  test.for<[name: string, before: (fake: FakePorts) => void, exitReason: string]>([
    ['to stop', (fake) => fake.stop('SIGINT'), 'stopped:SIGINT'],
    ['to pause', (fake) => fake.pause(), 'paused'],
  ])('prevents every start: %s', async ([, before, exitReason]) => {
    const { requests, fields, events } = await run(
      { attempts: [] },
      {},
      { event: resumed, before },
    );
    expect(requests).toEqual([]);
    expect(fields.exit_reason).toBe(exitReason);
    expect(events[0]).toMatchObject({ event: 'task_resumed', iteration: 0, max_iterations: 5 });
  });

  test.for<[name: string, before: (fake: FakePorts) => void]>([
    ['to stop', (fake) => fake.stop('SIGINT')],
    ['to pause', (fake) => fake.pause()],
  ])('shortens a wait: %s', async ([, before]) => {
    const fake = fakePorts({
      attempts: [LIMITED],
      on: (effect) => {
        if (effect.startsWith('wait')) throw new Error('killed');
      },
    });
    const policy = loopPolicy();
    await expect(
      runLoop(fake.ports, initialState(newTask(policy)), STARTED, policy),
    ).rejects.toThrow('killed');
    const state = fake.saved.at(-1);
    expect(state?.step.kind).toBe('waiting');
    const { effects, state: ended } = await run(
      { attempts: [] },
      {},
      { ...(state === undefined ? {} : { state }), event: resumed, before },
    );
    expect(effects.slice(0, 2)).toEqual(['save waiting 1.1', 'tell task_resumed']);
    expect(ended.task.finished_at).toBe(START);
  });

  test('is in the next prompt: a hint', async () => {
    const { requests } = await run({ attempts: [DONE], hints: [[HINT]] }, {}, { event: resumed });
    expect(new TextDecoder().decode(requests[0]?.prompt)).toContain(HINT);
  });
});

describe('a hint', () => {
  /** In which of the saved states it is, as a hint to come or as one that is told. */
  function holds({ hints, carry }: LoopState): boolean {
    return [...hints, ...carry.hints].some(({ text }) => text === HINT);
  }

  test('is settled after the state that contains it is saved, and before anything else is done', async () => {
    const { effects, saved } = await run({
      attempts: [WORK, DONE],
      hints: [[], [HINT]],
      usesGit: false,
    });
    expect(behind(effects, 'look').slice(0, 3)).toEqual([
      'save waiting 1.1',
      'settle hints',
      'tell task_iterated',
    ]);
    expect(saved.map(holds)).toEqual([false, true, true, false]);
    expect(effects.filter((effect) => effect === 'settle hints')).toHaveLength(1);
  });

  test('is not settled if the driver dies before the state is saved', async () => {
    const fake = fakePorts({ attempts: [WORK], hints: [[], [HINT]] });
    const save = async (state: LoopState): Promise<void> => {
      if (holds(state)) throw new Error('killed');
    };
    const ports = { ...fake.ports, store: { ...fake.ports.store, save } };
    const policy = loopPolicy();
    const start = initialState(newTask(policy));
    await expect(runLoop(ports, start, STARTED, policy)).rejects.toThrow('killed');
    expect(fake.effects).not.toContain('settle hints');
  });

  test('is awaited: nothing is done before it is settled', async () => {
    const fake = fakePorts({ attempts: [WORK, DONE], hints: [[HINT], [HINT], [HINT]] });
    const done: number[] = [];
    const settled = async (): Promise<void> => {
      const before = fake.effects.length;
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      done.push(fake.effects.length - before);
    };
    const ports = { ...fake.ports, requests: { ...fake.ports.requests, settled } };
    const policy = loopPolicy();
    await runLoop(ports, initialState(newTask(policy)), STARTED, policy);
    expect(done).toEqual(fake.saved.map(() => 0));
  });

  test('that comes with the last answer is stored for the next driver', async () => {
    const { saved, fields } = await run(
      { attempts: [WORK], hints: [[], [HINT]] },
      { maxIterations: 1 },
    );
    expect(fields.status).toBe('max_iterations_reached');
    expect(saved.at(-1)?.hints).toEqual([{ text: HINT, isProven: true }]);
  });

  test('that comes while the command that follows runs is in the next prompt', async () => {
    const { requests } = await run(
      { attempts: [WORK, DONE], hints: [[], [], [HINT]] },
      { after: './sync', delayMs: 0 },
    );
    const told = requests.map(({ prompt }) => new TextDecoder().decode(prompt).includes(HINT));
    expect(told).toEqual([false, true]);
  });
});

describe('the command that follows an iteration', () => {
  test('runs after the iteration is saved as counted', async () => {
    const { effects, saved } = await run({ attempts: [DONE] }, { after: './sync' });
    const before = effects.slice(0, effects.indexOf('after ./sync'));
    expect(before.findLast((effect) => effect.startsWith('save'))).toBe('save following 1.1');
    const following = saved.find(({ step }) => step.kind === 'following');
    expect(following?.task).toMatchObject({
      status: 'running',
      metrics: { iterations: 1 },
      iterations: [{ number: 1, completed: true }],
    });
  });

  test('that kills the driver is run again, and the iteration is not', async () => {
    const policy = loopPolicy({ after: './sync' });
    const dying = fakePorts({
      attempts: [DONE],
      on: (effect) => {
        if (effect === 'after ./sync') throw new Error('killed');
      },
    });
    const start = initialState(newTask(policy));
    await expect(runLoop(dying.ports, start, STARTED, policy)).rejects.toThrow('killed');
    const state = dying.saved.at(-1);
    const { effects, fields, given } = await run(
      { attempts: [] },
      { after: './sync' },
      {
        ...(state === undefined ? {} : { state }),
        event: { kind: 'resumed', at: START, timeLeftMs: 60_000, lost: null },
      },
    );
    expect(effects).toEqual([
      'save following 1.1',
      'tell task_resumed',
      'after ./sync',
      'save ended 1.1',
      'close agent',
      'archive',
      'tell task_completed',
      'on-end task_completed',
    ]);
    expect(given[0]).toMatchObject({ event: 'task_iterated', iteration: 1, completed: true });
    expect(fields).toMatchObject({ status: 'completed', iterations_used: 1 });
  });
});

describe('a completed task whose driver died before it announced the ending', () => {
  test('is archived and announced, and nothing is started', async () => {
    const first = await run({ attempts: [WORK, DONE] });
    const state = first.saved.at(-1);
    const { effects, fields } = await run(
      { attempts: [] },
      {},
      {
        ...(state === undefined ? {} : { state }),
        event: { kind: 'resumed', at: START, timeLeftMs: 60_000, lost: null },
      },
    );
    expect(effects).toEqual([
      'save ended 2.1',
      'close agent',
      'archive',
      'tell task_completed',
      'on-end task_completed',
    ]);
    expect(fields).toEqual(first.fields);
  });
});

describe('an event', () => {
  test('shows no credential, wherever it goes', async () => {
    const { events, given } = await run(
      {
        attempts: [
          {
            facts: answered(`I found ${KEY}.\n${TAG}`),
            during: ({ listener }) => {
              listener.activity({ kind: 'tool', tool: 'Bash', target: `curl -H ${KEY}` });
              listener.activity({ kind: 'text', text: KEY });
              listener.retry({
                status: 401,
                error: `invalid key ${KEY}`,
                attempt: 1,
                maxRetries: 10,
                delayMs: 500,
              });
            },
          },
        ],
      },
      { after: './sync' },
      { event: { kind: 'started', at: START, prompt: `Use ${KEY}.` } },
    );
    expect(events.map(({ event }) => event)).toEqual([
      'task_started',
      'iteration_started',
      'agent_activity',
      'agent_activity',
      'agent_retry',
      'task_iterated',
      'task_completed',
    ]);
    expect(given).toHaveLength(2);
    expect(JSON.stringify([events, given])).not.toContain(KEY.slice(13));
    expect(events[0]).toMatchObject({ prompt: expect.stringContaining('Use sk-ant-') });
  });
});
