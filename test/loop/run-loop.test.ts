import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AttemptFacts } from '../../src/core/agent/attempt.ts';
import { NOTHING_SEEN } from '../../src/core/completion/sightings.ts';
import { initialState } from '../../src/core/machine/transition.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import { stateJson } from '../../src/core/task/state-json.ts';
import { laterBy } from '../../src/core/task/task-state.ts';
import type { AgentRequest } from '../../src/loop/ports.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import {
  answered,
  cut,
  errorReport,
  notFound,
  retryFacts,
  withoutReport,
} from '../helpers/attempt-facts.ts';
import { checks } from '../helpers/checks.ts';
import { type FakePorts, fakePorts, type Script } from '../helpers/fake-ports.ts';
import { DONE, MATCHED, NO_LOGIN, OVERLOADED, REFUSED, TAG, WORK } from '../helpers/loop-events.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';
import { openSandbox } from '../helpers/sandboxed.ts';

const GLOBS = { watchGlobs: ['out/*.md'] };

/** Runs a script to its end. */
async function run(script: Script, changes: Partial<Policy> = {}, taskTimeoutMs?: number) {
  const policy = loopPolicy(changes);
  const fake = fakePorts(script);
  const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
  const state = initialState(newTask(policy, taskTimeoutMs));
  const end = await runLoop(fake.ports, state, started, policy);
  return { ...fake, ...end };
}

const ENDINGS = [
  'task_completed',
  'task_failed',
  'max_iterations_reached',
  'task_timeout',
  'task_stalled',
  'task_budget_spent',
  'task_usage_limited',
  'task_stopped',
  'task_paused',
];

function endings(events: FakePorts['events']): readonly string[] {
  return events.map(({ event }) => event).filter((event) => ENDINGS.includes(event));
}

test('what the sandbox met in a check is told and kept before the task completes', async () => {
  const met = { refused: [], planted: ['/home/user/app/.envrc'] };
  // Asked before the start, the attempt, the look and the check are taken in.
  const { events, effects, saved } = await run(
    { attempts: [DONE], met: [null, null, null, met] },
    { verify: checks('npm test'), inSandbox: openSandbox() },
  );
  const told = events.map(({ event }) => event);
  expect(told).toContain('sandbox_planted');
  expect(told.indexOf('sandbox_planted')).toBeLessThan(told.indexOf('task_completed'));
  expect(effects.indexOf('verify npm test')).toBeLessThan(effects.indexOf('tell sandbox_planted'));
  expect(saved.at(-1)?.task.sandbox?.planted).toEqual(['/home/user/app/.envrc']);
});

describe('a question about a doubtful promise', () => {
  const DOUBT = answered(`${TAG}\nSummary: two files changed.`, { sessionId: 'session-7' });

  test('is all that the agent reads, in the session of its answer', async () => {
    const { requests, effects, events } = await run({ attempts: [DOUBT, DONE] });
    const [, question] = requests;
    expect(question).toMatchObject({ iteration: 1, attempt: 2, resumeSession: 'session-7' });
    const text = new TextDecoder().decode(question?.prompt);
    expect(text).toMatch(/^Is the task complete\?/);
    expect(text).not.toContain('Fix the tests.');
    expect(effects.slice(3, 10)).toEqual([
      'read prompt',
      'mark',
      'run agent 1.1',
      'save asking-back 1.2',
      'tell asked_back',
      'mark',
      'run agent 1.2',
    ]);
    expect(events.map(({ event }) => event)).toEqual([
      'task_started',
      'iteration_started',
      'asked_back',
      'task_iterated',
      'task_completed',
    ]);
  });

  test('leaves the answer the result of the run', async () => {
    const { fields } = await run({ attempts: [DOUBT, DONE] });
    expect(fields).toMatchObject({
      final_message: DOUBT.finalMessage,
      evidence: { detail: TAG },
      iterations_used: 1,
    });
  });
});

describe('the order of effects', () => {
  test('the tree is kept before an attempt and after it, before anything else can change it', async () => {
    const script = { attempts: [OVERLOADED, WORK, DONE], showsSnapshots: true };
    const { effects } = await run(script, { verify: checks('npm test'), after: './sync' });
    const shown = effects.filter((effect) => /^(keep|run|look|verify|after)/.test(effect));
    expect(shown).toEqual([
      ...['keep before 1', 'run agent 1.1', 'keep attempt 1: transient'],
      ...['keep before 1', 'run agent 1.2', 'keep end 1: answered', 'look', 'after ./sync'],
      ...['keep before 2', 'run agent 2.1', 'keep end 2: answered', 'look'],
      ...['verify npm test', 'after ./sync'],
    ]);
  });

  test('whatever may change the tree says so first, and an agent that starts at once does not', async () => {
    const script = { attempts: [OVERLOADED, WORK, DONE], showsSnapshots: true };
    const { effects } = await run(script, { verify: checks('npm test'), after: './sync' });
    const shown = effects.map((effect) => effect.split(' ')[0] ?? '');
    for (const [at, effect] of shown.entries()) {
      if (['wait', 'verify', 'after'].includes(effect)) expect(shown[at - 1]).toBe('disturb');
      if (['run', 'look'].includes(effect)) expect(shown[at - 1]).not.toBe('disturb');
    }
  });

  test('of a run that completes in its second iteration', async () => {
    const { effects } = await run({ attempts: [WORK, DONE], usesGit: false });
    expect(effects).toEqual([
      'save working 1.1',
      'tell task_started',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 1.1',
      'look',
      'save waiting 1.1',
      'tell task_iterated',
      'wait 2000',
      'save working 2.1',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 2.1',
      'look',
      'save ended 2.1',
      'tell task_iterated',
      'close agent',
      'archive',
      'tell task_completed',
      'on-end task_completed',
    ]);
  });

  test('of a run that observes files, without a delay', async () => {
    const { effects } = await run(
      { attempts: [WORK, WORK], sightings: [NOTHING_SEEN, MATCHED] },
      { ...GLOBS, delayMs: 0 },
    );
    expect(effects).toEqual([
      'save working 1.1',
      'tell task_started',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 1.1',
      'save looking 1.1',
      'look',
      'save working 2.1',
      'tell task_iterated',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 2.1',
      'save looking 2.1',
      'look',
      'save ended 2.1',
      'tell task_iterated',
      'close agent',
      'archive',
      'tell task_completed',
      'on-end task_completed',
    ]);
  });

  test.for<[what: string, usesGit: boolean, changes: Partial<Policy>, saves: readonly string[]]>([
    ['a quick look, saved with its answer', false, { noProgressLimit: 3 }, []],
    ['a look that asks git', true, { noProgressLimit: 3 }, ['save looking 1.1']],
    ['a look for files', false, GLOBS, ['save looking 1.1']],
  ])('of %s', async ([, usesGit, changes, saves]) => {
    const { effects } = await run({ attempts: [DONE], usesGit }, changes);
    const ran = effects.indexOf('run agent 1.1');
    expect(effects.slice(ran + 1, effects.indexOf('look'))).toEqual(saves);
  });

  test('of a transient error and a run that is exhausted', async () => {
    const { effects } = await run(
      { attempts: [OVERLOADED, WORK], usesGit: false },
      { maxIterations: 1 },
    );
    expect(effects).toEqual([
      'save working 1.1',
      'tell task_started',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 1.1',
      'save waiting 1.1',
      'tell agent_retry',
      'wait 500',
      'save working 1.2',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 1.2',
      'look',
      'save ended 1.2',
      'tell task_iterated',
      'close agent',
      'write note EXHAUSTED',
      'tell max_iterations_reached',
      'on-end max_iterations_reached',
    ]);
  });
});

describe('the user’s own commands', () => {
  const VERIFY = { verify: checks('npm test'), after: './sync', delayMs: 0 };
  const FAILED = { command: 'npm test', exitCode: 1, timedOut: false, output: '1 test failed' };

  test('run in order: verify before the iteration is judged, --after behind its events', async () => {
    const { effects } = await run(
      { attempts: [DONE, DONE], verified: [FAILED] },
      { ...VERIFY, noProgressLimit: 3 },
    );
    expect(effects.slice(effects.indexOf('run agent 1.1'))).toEqual([
      'run agent 1.1',
      'save looking 1.1',
      'look',
      'save verifying 1.1',
      'verify npm test',
      'save following 1.1',
      'tell check_ended',
      'tell task_iterated',
      'tell claim_held',
      'after ./sync',
      'save working 2.1',
      'tell iteration_started',
      'read prompt',
      'mark',
      'run agent 2.1',
      'save looking 2.1',
      'look',
      'save verifying 2.1',
      'verify npm test',
      'save examining 2.1',
      'tell check_ended',
      'examine deciders',
      'save following 2.1',
      'tell task_iterated',
      'after ./sync',
      'save ended 2.1',
      'close agent',
      'archive',
      'tell task_completed',
      'on-end task_completed',
    ]);
  });

  test('show the next iteration the output of the check', async () => {
    const { requests } = await run({ attempts: [DONE, DONE], verified: [FAILED] }, VERIFY);
    expect(new TextDecoder().decode(requests[1]?.prompt)).toContain('1 test failed');
  });

  test('receive the same events that are published', async () => {
    const { events, given } = await run({ attempts: [WORK, OVERLOADED, DONE] }, VERIFY);
    expect(given.map(({ event }) => event)).toEqual([
      'task_iterated',
      'task_iterated',
      'task_completed',
    ]);
    const told = events.filter(({ event }) => event === 'task_iterated' || event.endsWith('ed'));
    for (const event of given) expect(told).toContainEqual(event);
    expect(given.at(-1)).toMatchObject({ exit_code: 0, iterations_used: 2 });
  });

  test('that are stopped do not decide about the claim', async () => {
    const cutOff = { command: 'npm test', exitCode: null, timedOut: false, output: '' };
    const { fields, requests } = await run(
      {
        attempts: [DONE],
        verified: [cutOff],
        on: (effect, fake) => {
          if (effect === 'verify npm test') fake.stop('SIGINT');
        },
      },
      VERIFY,
    );
    expect(fields.status).toBe('stopped');
    expect(requests).toHaveLength(1);
  });
});

describe('hints', () => {
  const HINT = 'The person you work for adds: Use npm.';
  const prompts = (fake: FakePorts) =>
    fake.requests.map(({ prompt }) => new TextDecoder().decode(prompt).includes(HINT));

  test('that come while the agent works are in the next prompt, once', async () => {
    const fake = await run({ attempts: [WORK, WORK, DONE], hints: [[], ['Use npm.']] });
    expect(prompts(fake)).toEqual([false, true, false]);
  });

  test('that come in the delay are in the prompt after it', async () => {
    const fake = await run({ attempts: [WORK, DONE], hints: [[], [], ['Use npm.']] });
    expect(prompts(fake)).toEqual([false, true]);
  });

  test('that were there before the start are in the first prompt, once', async () => {
    const fake = await run({ attempts: [WORK, DONE], hints: [['Use npm.']] });
    expect(prompts(fake)).toEqual([true, false]);
  });

  test('are repeated to an attempt that is tried again', async () => {
    const fake = await run({ attempts: [WORK, OVERLOADED, WORK, DONE], hints: [[], ['Use npm.']] });
    expect(prompts(fake)).toEqual([false, true, true, false]);
  });

  test('do not shorten the time by which a wait moves the deadline', async () => {
    // The first is read behind the attempt, the second behind the wait.
    const { requests } = await run({ attempts: [OVERLOADED, DONE], hints: [[], ['A'], ['B']] });
    expect(requests[1]?.taskDeadlineAt).toBe(laterBy(START, 1_800_500));
  });
});

/** Scripts that end in every way there is. */
const WAYS: readonly {
  readonly name: string;
  readonly attempts: readonly AttemptFacts[];
  readonly changes?: Partial<Policy>;
  readonly taskTimeoutMs?: number;
  readonly ending: string;
  readonly exitCode: number;
  readonly note: string | null;
}[] = [
  { name: 'completed', attempts: [WORK, DONE], ending: 'task_completed', exitCode: 0, note: null },
  { name: 'failed', attempts: [NO_LOGIN], ending: 'task_failed', exitCode: 1, note: 'FAILED' },
  { name: 'no agent', attempts: [notFound()], ending: 'task_failed', exitCode: 1, note: 'FAILED' },
  {
    name: 'exhausted',
    attempts: [WORK, WORK],
    changes: { maxIterations: 2 },
    ending: 'max_iterations_reached',
    exitCode: 3,
    note: 'EXHAUSTED',
  },
  {
    name: 'out of time',
    attempts: [{ ...WORK, durationMs: 20_000 }],
    taskTimeoutMs: 10_000,
    ending: 'task_timeout',
    exitCode: 4,
    note: 'TIMEOUT',
  },
  {
    name: 'stalled',
    attempts: [REFUSED, REFUSED],
    ending: 'task_stalled',
    exitCode: 5,
    note: 'STALLED',
  },
  {
    name: 'out of money',
    attempts: [WORK, WORK],
    changes: { maxCostUsd: 0.02 },
    ending: 'task_budget_spent',
    exitCode: 8,
    note: 'BUDGET',
  },
  {
    name: 'idle',
    attempts: [withoutReport(1, 'boom'), withoutReport(1, 'boom')],
    changes: { sameErrorLimit: 2 },
    ending: 'task_stalled',
    exitCode: 5,
    note: 'STALLED',
  },
  {
    name: 'aborted',
    attempts: [answered('CANNOT BE DONE')],
    changes: { abortPromise: 'CANNOT BE DONE' },
    ending: 'task_failed',
    exitCode: 1,
    note: 'FAILED',
  },
  {
    name: 'limited by its plan',
    attempts: [errorReport("You've hit your limit · resets 3pm (UTC)", 429)],
    changes: { maxWaitMs: 60_000 },
    ending: 'task_usage_limited',
    exitCode: 75,
    note: 'LIMITED',
  },
  {
    name: 'limited',
    attempts: [OVERLOADED, OVERLOADED],
    changes: { retries: 1, maxWaitMs: 0 },
    ending: 'task_usage_limited',
    exitCode: 75,
    note: 'LIMITED',
  },
];

describe.for(WAYS)(
  'a run that is $name',
  ({ attempts, changes, taskTimeoutMs, ending, exitCode, note }) => {
    const start = () => run({ attempts }, changes, taskTimeoutMs);

    test('announces its ending once, as the last thing it does', async () => {
      const { effects, events } = await start();
      expect(endings(events)).toEqual([ending]);
      expect(effects.slice(-2)).toEqual([`tell ${ending}`, `on-end ${ending}`]);
    });

    test('closes the agent once, after the state is saved and before anything is written for people', async () => {
      const { effects } = await start();
      expect(effects.filter((effect) => effect === 'close agent')).toHaveLength(1);
      const after = effects.slice(effects.indexOf('close agent') + 1);
      expect(after).toEqual([
        ...(note === null ? [] : [`write note ${note}`]),
        ...(exitCode === 0 ? ['archive'] : []),
        `tell ${ending}`,
        `on-end ${ending}`,
      ]);
    });

    test('saves the ending before it acts on it', async () => {
      const { effects, saved, fields, state } = await start();
      const ended = effects.findIndex((effect) => effect.startsWith('save ended'));
      expect(ended).toBeGreaterThan(effects.findLastIndex((effect) => effect.startsWith('run')));
      expect(ended).toBeLessThan(effects.indexOf('close agent'));
      expect(saved.at(-1)?.task).toEqual(state.task);
      expect(state.task).toMatchObject({
        status: fields.status,
        exit_reason: fields.exit_reason,
      });
      // Whoever is killed before the end is told leaves its name: only a completed task has none.
      expect(state.task.driver === null).toBe(fields.status === 'completed');
    });

    test('saves before each start of the agent, and reads the prompt again for it', async () => {
      const { effects, requests } = await start();
      expect(requests).toHaveLength(attempts.length);
      for (const [index, effect] of effects.entries()) {
        if (!effect.startsWith('run agent')) continue;
        expect(effects.slice(index - 2, index)).toEqual(['read prompt', 'mark']);
        expect(effects.slice(0, index).findLast((one) => one.startsWith('save'))).toBe(
          effect.replace('run agent', 'save working'),
        );
      }
    });

    test('says so in its ending', async () => {
      const { fields, events, state } = await start();
      expect(fields).toMatchObject({
        exit_code: exitCode,
        iterations_used: state.task.metrics.iterations,
        usage: state.task.usage,
        note: note === null ? null : 'Needs_Action/note.md',
        state_file: exitCode === 0 ? 'history/task-1.json' : 'task-1.json',
        log_dir: exitCode === 0 ? 'history/task-1' : 'task-1',
      });
      expect(events.at(-1)).toMatchObject({ event: ending, ...fields });
    });
  },
);

describe('a request to stop', () => {
  const stopCodes = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['request', 143],
  ] as const;

  test.for(stopCodes)('while the agent works: %s', async ([by, exitCode]) => {
    const { effects, events, fields, state } = await run({
      attempts: [WORK, cut('stop-requested')],
      on: (effect, fake) => {
        if (effect === 'run agent 2.1') fake.stop(by);
      },
    });
    expect(effects.slice(effects.indexOf('run agent 2.1') + 1)).toEqual([
      'save ended 2.1',
      'close agent',
      'tell task_stopped',
      'on-end task_stopped',
    ]);
    expect(endings(events)).toEqual(['task_stopped']);
    expect(fields).toMatchObject({
      status: 'stopped',
      exit_reason: `stopped:${by}`,
      exit_code: exitCode,
      iterations_used: 1,
      note: null,
    });
    expect(state.task.status).toBe('stopped');
  });

  test.for(stopCodes)('during a delay: %s', async ([by, exitCode]) => {
    const { effects, events, fields, state } = await run({
      attempts: [WORK],
      on: (effect, fake) => {
        if (effect === 'wait 2000') fake.stop(by);
      },
    });
    // No iteration is said to start that never does, in events as in the state.
    expect(effects.slice(effects.indexOf('wait 2000') + 1)).toEqual([
      'save ended 1.1',
      'close agent',
      'tell task_stopped',
      'on-end task_stopped',
    ]);
    expect(endings(events)).toEqual(['task_stopped']);
    expect(fields).toMatchObject({ status: 'stopped', exit_code: exitCode, iterations_used: 1 });
    expect(state.task).toMatchObject({ current_iteration: 1, attempt: 1, wait: null });
  });

  test('during a back-off', async () => {
    const { effects, state } = await run({
      attempts: [OVERLOADED],
      on: (effect, fake) => {
        if (effect === 'wait 500') fake.stop('SIGINT');
      },
    });
    expect(effects.slice(effects.indexOf('wait 500') + 1)).toEqual([
      'save ended 1.1',
      'close agent',
      'tell task_stopped',
      'on-end task_stopped',
    ]);
    expect(state.task).toMatchObject({ status: 'stopped', current_iteration: 1, attempt: 1 });
  });

  test('wakes the loop from a wait', async () => {
    const { state } = await run({
      attempts: [OVERLOADED, OVERLOADED],
      on: (effect, fake) => {
        if (effect.startsWith('wait') && effect !== 'wait 500') fake.stop('SIGINT');
      },
    });
    expect(state.task.finished_at).toBe(laterBy(START, 2_500));
  });

  test.for<[name: string, changes: Partial<Policy>]>([
    ['with a delay to come', {}],
    ['with no delay to come', { delayMs: 0 }],
    ['with files to look at', GLOBS],
  ])(
    'as the agent answers, %s: the iteration counts, and no other is said to start',
    async ([, changes]) => {
      const { effects, fields, state, requests } = await run(
        {
          attempts: [WORK],
          on: (effect, fake) => {
            if (effect === 'run agent 1.1') fake.stop('SIGINT');
          },
        },
        changes,
      );
      expect(requests).toHaveLength(1);
      expect(fields).toMatchObject({ status: 'stopped', iterations_used: 1 });
      expect(state.task).toMatchObject({ current_iteration: 1, iterations: [{ number: 1 }] });
      expect(effects.filter((effect) => effect === 'tell iteration_started')).toHaveLength(1);
      expect(effects.filter((effect) => effect === 'tell task_iterated')).toHaveLength(1);
    },
  );

  test.for<[name: string, changes: Partial<Policy>, effect: string]>([
    ['as the agent states the promise', {}, 'run agent 1.1'],
    ['as it states the promise, with files to look at', GLOBS, 'run agent 1.1'],
    ['as it looks', GLOBS, 'look'],
  ])('%s comes too late: the task is complete', async ([, changes, at]) => {
    const { events, fields } = await run(
      {
        attempts: [DONE],
        on: (effect, fake) => {
          if (effect === at) fake.stop('SIGINT');
        },
      },
      changes,
    );
    expect(fields).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(endings(events)).toEqual(['task_completed']);
  });

  test('during the end changes nothing', async () => {
    const { events, fields, effects } = await run({
      attempts: [DONE],
      on: (effect, fake) => {
        if (effect === 'close agent') fake.stop('SIGINT');
      },
    });
    expect(fields.status).toBe('completed');
    expect(endings(events)).toEqual(['task_completed']);
    expect(effects.filter((effect) => effect === 'close agent')).toHaveLength(1);
  });

  test('that is repeated ends running processes immediately', async () => {
    const { closedWith, ports } = await run({ attempts: [DONE] });
    expect(closedWith).toEqual([ports.stops.hurry]);
  });

  test('is passed to the agent, so that it can be ended', async () => {
    const { requests, ports } = await run({ attempts: [DONE] });
    expect(requests[0]?.stops).toBe(ports.stops);
  });
});

describe('the prompt', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const PROTOCOL = 'About this session:';

  test('stands first and unchanged, before what ralph adds', async () => {
    const prompt = 'Fix the tests.\n\n  @notes.md stays \u001b[31mas\u001b[0m it is.\r\n';
    const { requests } = await run({ attempts: [WORK, DONE], prompts: [bytes(prompt)] });
    const [first = '', second = ''] = requests.map((request) =>
      new TextDecoder().decode(request.prompt),
    );
    expect(first.startsWith(`${prompt}\n\n${PROTOCOL}`)).toBe(true);
    expect(second.startsWith(`${prompt}\n\n===== BEGIN DATA: `)).toBe(true);
    expect(second).toContain('I did a part of it.');
    expect(second).toContain(`ensure '${TAG}' is satisfied.`);
    const note = first.slice(prompt.length);
    expect(second.endsWith(note)).toBe(true);
  });

  test('is passed on byte for byte if it is not UTF-8', async () => {
    const odd = Uint8Array.from([0xff, 0xfe, 0x00, 0x80, 0x0a, 0xc3, 0xed, 0xa0, 0x80, 0xef]);
    const { requests } = await run({ attempts: [WORK, DONE], prompts: [odd] });
    for (const request of requests) {
      expect([...request.prompt.subarray(0, odd.length)]).toEqual([...odd]);
      const rest = new TextDecoder('utf-8', { fatal: true }).decode(
        request.prompt.subarray(odd.length),
      );
      expect(rest.startsWith('\n\n')).toBe(true);
    }
  });

  test('is read again for each start of the agent', async () => {
    const prompts = ['First.', 'Second, and longer.', 'Third.'].map(bytes);
    const { requests } = await run({ attempts: [WORK, OVERLOADED, DONE], prompts });
    const seen = requests.map(({ prompt }) => new TextDecoder().decode(prompt).split('\n')[0]);
    expect(seen).toEqual(['First.', 'Second, and longer.', 'Third.']);
  });

  test('is not changed by being read', async () => {
    const prompt = bytes('Fix the tests.');
    await run({ attempts: [WORK, DONE], prompts: [prompt] });
    expect(new TextDecoder().decode(prompt)).toBe('Fix the tests.');
  });
});

describe('the agent', () => {
  test('receives its session and its budget', async () => {
    const { requests } = await run(
      { attempts: [WORK, DONE] },
      { session: 'continue', maxCostUsd: 2 },
    );
    expect(requests.map((one) => [one.resumeSession, one.budgetUsd])).toEqual([
      [null, 2],
      ['session-1', 1.99],
    ]);
  });

  test('that does not know its budget is started without it, and people are informed', async () => {
    const unknown = withoutReport(1, "error: unknown option '--max-budget-usd'");
    const { requests, sayings, fields } = await run(
      { attempts: [unknown, DONE] },
      { maxCostUsd: 2 },
    );
    expect(requests.map(({ budgetUsd }) => budgetUsd)).toEqual([2, null]);
    expect(sayings).toEqual([{ kind: 'flag-dropped', flag: '--max-budget-usd' }]);
    expect(fields).toMatchObject({ status: 'completed', iterations_used: 1 });
  });

  test('receives its iteration, its attempt and the deadline of the whole task', async () => {
    const { requests } = await run({ attempts: [WORK, OVERLOADED, DONE] });
    expect(
      requests.map(({ iteration, attempt, taskDeadlineAt }) => [
        iteration,
        attempt,
        taskDeadlineAt,
      ]),
    ).toEqual([
      [1, 1, laterBy(START, 1_800_000)],
      [2, 1, laterBy(START, 1_800_000)],
      [2, 2, laterBy(START, 1_800_500)],
    ]);
  });

  test('is shown while it runs, without what could act on a terminal', async () => {
    const hostile = '\u001b]0;title\u0007a\n\u001b[2Jb\u202e';
    const { events, texts } = await run({
      attempts: [
        {
          facts: DONE,
          during: ({ listener }) => {
            listener.activity({ kind: 'tool', tool: hostile, target: hostile });
            listener.activity({ kind: 'text', text: hostile });
            listener.activity({ kind: 'thinking' });
            listener.retry({ ...retryFacts(529), error: hostile, delayMs: 2_033 });
            listener.text(hostile);
          },
        },
      ],
    });
    const heard = events.filter(({ event }) => event.startsWith('agent_'));
    expect(heard).toMatchObject([
      { iteration: 1, activity: { kind: 'tool', tool: 'a b', target: 'a b' } },
      { iteration: 1, activity: { kind: 'text', text: 'a b' } },
      { iteration: 1, activity: { kind: 'thinking' } },
      { iteration: 1, attempt: 1, by: 'agent', status: 529, delay_ms: 2_033, error: 'a b' },
    ]);
    expect(texts).toEqual(['a\nb']);
  });

  test('is shown without credentials, even if they contain invisible characters', async () => {
    const half = 'aB3dE6gH9jK2mN5pQ8';
    const token = `gh\u200bp_${half}\u001b[1m${half}`;
    const line = `${half}${half}sT1vW4xY7zA0cD3fG6iJ9`;
    const { events, texts } = await run({
      attempts: [
        {
          facts: DONE,
          during: ({ listener }) => {
            listener.activity({ kind: 'tool', tool: 'Bash', target: `echo ${token}` });
            listener.activity({ kind: 'text', text: `I use ${token}.` });
            listener.text(`I use ${token}.\n${line}\n`);
            // What is cut would not be known for one any more.
            const error = `${'y'.repeat(150)} ${['E', 'AA'].join('')}${half.repeat(5)}`;
            listener.retry({ ...retryFacts(529), error });
          },
        },
      ],
    });
    expect(texts).toEqual(['I use ghp_…[masked].\n…[masked]\n']);
    expect(events.filter(({ event }) => event === 'agent_activity')).toMatchObject([
      { activity: { target: 'echo ghp_…[masked]' } },
      { activity: { text: 'I use ghp_…[masked].' } },
    ]);
    expect(events.filter(({ event }) => event === 'agent_retry')).toMatchObject([
      { error: `${'y'.repeat(150)} EAA…[masked]` },
    ]);
  });

  test('is not shown if nobody wants it', async () => {
    const { events, texts } = await run({
      attempts: [
        {
          facts: DONE,
          during: ({ listener }) => {
            listener.activity({ kind: 'tool', tool: 'Bash', target: 'npm test' });
            listener.activity({ kind: 'text', text: 'And on.' });
            listener.text('And on.');
          },
        },
      ],
      unwanted: ['text', 'agent-text'],
    });
    expect(events.filter(({ event }) => event === 'agent_activity')).toMatchObject([
      { activity: { kind: 'tool' } },
    ]);
    expect(texts).toEqual([]);
  });

  test('is shown in texts of limited length', async () => {
    const long = 'x'.repeat(100_000);
    const { events } = await run({
      attempts: [
        {
          facts: DONE,
          during: ({ listener }) => {
            listener.activity({ kind: 'tool', tool: long, target: long });
            listener.activity({ kind: 'text', text: long });
            listener.retry({ ...retryFacts(529), error: long });
          },
        },
      ],
    });
    for (const event of events.filter((one) => one.event.startsWith('agent_'))) {
      expect(JSON.stringify(event).length).toBeLessThan(500);
    }
  });
});

describe('the final message', () => {
  test('is announced without what could act on a terminal', async () => {
    const { fields, events } = await run({
      attempts: [answered(`\u001b]0;title\u0007All \u001b[32mgood\u001b[0m.\n${TAG}\u202e`)],
    });
    expect(fields.final_message).toBe(`All good.\n${TAG}`);
    expect(events.at(-1)).toMatchObject({ final_message: `All good.\n${TAG}` });
  });

  test('is announced as null if there was none', async () => {
    const { fields } = await run({ attempts: [NO_LOGIN] });
    expect(fields.final_message).toBeNull();
  });
});

describe('the store', () => {
  test('that cannot save does not stop the loop', async () => {
    const whole = await run({ attempts: [WORK, OVERLOADED, DONE] });
    const fake = fakePorts({ attempts: [WORK, OVERLOADED, DONE] });
    const failures: string[] = [];
    const store = {
      ...fake.ports.store,
      // As the port has it: a failure is said by the store, and never thrown.
      save: async () => {
        failures.push('no space left on device');
      },
    };
    const policy = loopPolicy();
    const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
    const state = initialState(newTask(policy));
    const end = await runLoop({ ...fake.ports, store }, state, started, policy);
    expect(failures).toHaveLength(whole.saved.length);
    expect(end.fields).toEqual(whole.fields);
    expect(fake.events).toEqual(whole.events);
  });

  test('is awaited: nothing is done before the state is saved', async () => {
    const fake = fakePorts({ attempts: [WORK, DONE] });
    const order: string[] = [];
    const store = {
      ...fake.ports.store,
      save: async () => {
        const before = fake.effects.length;
        // The write takes its time; whoever does not wait for it acts meanwhile.
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        order.push(`${fake.effects.length - before} effects during a save`);
      },
    };
    const policy = loopPolicy();
    const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
    await runLoop({ ...fake.ports, store }, initialState(newTask(policy)), started, policy);
    expect(new Set(order)).toEqual(new Set(['0 effects during a save']));
  });

  test('contains at every save what another driver would need', async () => {
    const { saved } = await run({ attempts: [WORK, OVERLOADED, WORK, DONE] });
    for (const [index, { task }] of saved.entries()) {
      expect(JSON.parse(stateJson(task))).toEqual(task);
      // No counted iteration is lost or repeated.
      expect(task.iterations.map(({ number }) => number)).toEqual(
        Array.from({ length: task.metrics.iterations }, (_, count) => count + 1),
      );
      const earlier = saved[index - 1]?.task.metrics.iterations ?? 0;
      expect(task.metrics.iterations - earlier).toBeGreaterThanOrEqual(0);
      expect(task.metrics.iterations - earlier).toBeLessThanOrEqual(1);
      expect(task.driver === null).toBe(task.finished_at !== null);
    }
  });
});

describe('a note', () => {
  test('that could not be written is announced as null', async () => {
    const { fields, events } = await run({ attempts: [NO_LOGIN], notePath: null });
    expect(fields.note).toBeNull();
    expect(endings(events)).toEqual(['task_failed']);
  });
});

const usage = z.object({
  cost_usd: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
});

const ending = {
  status: z.string(),
  exit_reason: z.string(),
  exit_code: z.number().int(),
  iterations_used: z.number().int(),
  usage,
  evidence: z.object({ kind: z.string(), detail: z.string() }).nullable(),
  final_message: z.string().nullable(),
  note: z.string().nullable(),
  state_file: z.string(),
  log_dir: z.string(),
};

function event<Name extends string, Shape extends z.ZodRawShape>(name: Name, fields: Shape) {
  return z.object({ event: z.literal(name), at: z.iso.datetime(), task_id: z.string(), ...fields });
}

/** The events of the contract with the fields it names; more fields may come. */
const EVENT = z.discriminatedUnion('event', [
  event('task_started', { prompt: z.string() }),
  event('iteration_started', { iteration: z.number().int() }),
  event('agent_activity', {
    iteration: z.number().int(),
    activity: z.object({ kind: z.enum(['tool', 'text', 'thinking']) }),
  }),
  event('agent_retry', {
    iteration: z.number().int(),
    attempt: z.number().int(),
    by: z.enum(['agent', 'ralph']),
    status: z.number().int().nullable(),
    delay_ms: z.number().nullable(),
    error: z.string(),
  }),
  event('usage_limit_wait', { until: z.iso.datetime() }),
  event('task_iterated', {
    iteration: z.number().int(),
    outcome: z.enum(['answered', 'bounded', 'timed-out', 'errored']),
    started_at: z.iso.datetime(),
    duration_ms: z.number(),
    completed: z.boolean(),
    near_miss: z.boolean(),
    ...usage.shape,
  }),
  event('near_miss', { iteration: z.number().int(), line: z.string(), why: z.string() }),
  event('claim_held', { gate: z.string() }),
  event('check_ended', {
    iteration: z.number().int(),
    check: z.string(),
    command: z.string(),
    verdict: z.enum(['passed', 'known-failures', 'failed']),
    on_claim: z.boolean(),
    exit_code: z.number().int().nullable(),
    timed_out: z.boolean(),
    duration_ms: z.number(),
    tests: z.number().int().nullable(),
    failed: z.number().int().nullable(),
    reused: z.boolean(),
  }),
  event('task_paused', { ...ending, final: z.literal(true) }),
  event('task_resumed', { iteration: z.number().int(), max_iterations: z.number().int() }),
  event('task_completed', ending),
  event('task_failed', { ...ending, error: z.string().min(1) }),
  event('max_iterations_reached', { ...ending, max_iterations: z.number().int() }),
  event('task_timeout', ending),
  event('task_stalled', ending),
  event('task_budget_spent', ending),
  event('task_usage_limited', { ...ending, until: z.iso.datetime().nullable() }),
  event('task_stopped', ending),
]);

describe('the event stream', () => {
  const busy = {
    facts: answered(`I will say ${TAG} soon.`),
    during: ({ listener }: AgentRequest) => {
      listener.activity({ kind: 'thinking' });
      listener.activity({ kind: 'tool', tool: 'Bash', target: 'npm test' });
      listener.retry(retryFacts(null));
    },
  };

  test.for<
    [name: string, script: Script, changes: Partial<Policy>, taskTimeoutMs?: number | undefined]
  >([
    ...WAYS.map(
      ({
        name,
        attempts,
        changes,
        taskTimeoutMs,
      }): [string, Script, Partial<Policy>, number | undefined] => [
        name,
        { attempts },
        changes ?? {},
        taskTimeoutMs,
      ],
    ),
    [
      'eventful',
      {
        attempts: [busy, OVERLOADED, cut('idle-timeout'), withoutReport(1, 'boom'), REFUSED, DONE],
      },
      {},
    ],
    [
      'stopped',
      {
        attempts: [cut('stop-requested')],
        on: (effect, fake) => {
          if (effect === 'run agent 1.1') fake.stop('SIGTERM');
        },
      },
      {},
    ],
    [
      'paused',
      {
        attempts: [WORK],
        on: (effect, fake) => {
          if (effect === 'run agent 1.1') fake.pause();
        },
      },
      {},
    ],
  ])('of a run that is %s is that of the contract', async ([, script, changes, taskTimeoutMs]) => {
    const { events } = await run(script, changes, taskTimeoutMs);
    for (const one of events) {
      // As it is written out: what JSON cannot hold would be missing.
      const line = JSON.stringify(one);
      expect(line).toMatch(/^\{"event":"[a-z_]+","at":"2026-01-05T[0-9:.]+Z","task_id":"task-1",/);
      expect(EVENT.safeParse(JSON.parse(line)).error?.message).toBeUndefined();
    }
    const instants = events.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted());
    expect(events[0]?.event).toBe('task_started');
    expect(events.filter(({ event: name }) => name === 'task_started')).toHaveLength(1);
    expect(endings(events)).toHaveLength(1);
    expect(endings(events.slice(-1))).toHaveLength(1);
  });

  test('starts each iteration before it announces it, and announces it once', async () => {
    const { events } = await run({ attempts: [busy, OVERLOADED, WORK, DONE] });
    const told = events.flatMap((one) =>
      one.event === 'iteration_started'
        ? [`started ${one.iteration}.${one.attempt}`]
        : one.event === 'task_iterated'
          ? [`iterated ${one.iteration}`]
          : [],
    );
    expect(told).toEqual([
      'started 1.1',
      'iterated 1',
      'started 2.1',
      'started 2.2',
      'iterated 2',
      'started 3.1',
      'iterated 3',
    ]);
  });
});

describe('a bug in ralph', () => {
  /** A loop whose ports have been changed. */
  async function broken(script: Script, change: (fake: ReturnType<typeof fakePorts>) => object) {
    const fake = fakePorts(script);
    const policy = loopPolicy();
    const started = { kind: 'started', at: START, prompt: 'Fix the tests.' } as const;
    const ports = { ...fake.ports, ...change(fake) };
    const end = await runLoop(ports, initialState(newTask(policy)), started, policy);
    return { ...fake, ...end };
  }

  test('in a port ends the task like any failure: saved, noted, announced, and with processes ended', async () => {
    const { fields, effects, saved, events } = await broken({ attempts: [WORK] }, ({ ports }) => ({
      observer: {
        ...ports.observer,
        async mark() {
          throw new RangeError('too deep\u001b[2J');
        },
      },
    }));
    expect(fields).toMatchObject({
      status: 'failed',
      exit_reason: 'failed:bug',
      exit_code: 70,
      note: 'Needs_Action/note.md',
    });
    expect(effects).toContain('abandon');
    expect(effects).toContain('write note FAILED');
    expect(effects).toContain('on-end task_failed');
    expect(saved.at(-1)).toMatchObject({ step: { kind: 'ended' }, task: { status: 'failed' } });
    expect(events.at(-1)).toMatchObject({
      event: 'task_failed',
      error: 'this is a bug in ralph, please report it: too deep',
    });
  });

  test('elsewhere does not wait for an agent that never ends', async () => {
    const { fields } = await broken({ attempts: [WORK] }, (fake) => ({
      agent: {
        ...fake.ports.agent,
        run: () => {
          fake.break(new Error('nobody waits for this'));
          return new Promise(() => {});
        },
      },
    }));
    expect(fields).toMatchObject({ exit_reason: 'failed:bug', exit_code: 70 });
  });

  test('after the ending is reported only to the caller', async () => {
    const ended = broken({ attempts: [DONE] }, () => ({
      async moveToDone() {
        throw new Error('too late');
      },
    }));
    await expect(ended).rejects.toThrow('too late');
  });
});

describe.for(['jump', 'holdUp'] as const)('time that nobody can work in (%s)', (happen) => {
  const HOURS = 10 * 3_600_000;
  const JUMPS: readonly (readonly [effect: string, changes: Partial<Policy>])[] = [
    ['save working 1.1', {}],
    ['read prompt', {}],
    ['mark', {}],
    ['run agent 1.1', {}],
    ['look', GLOBS],
    ['verify npm test', { verify: checks('npm test') }],
    ['after ./sync', { after: './sync' }],
    ['wait 2000', {}],
  ];

  test.for(JUMPS)('in "%s" is not taken from the task', async ([effect, changes]) => {
    // The agent's own clock tells in its facts how long ralph was stopped beside it.
    const heldUpMs = happen === 'holdUp' && effect.startsWith('run agent') ? HOURS : 0;
    const attempts = [{ ...(effect.startsWith('verify') ? DONE : WORK), heldUpMs }, DONE];
    const verified = [{ command: 'npm test', exitCode: 1, timedOut: false, output: '' }];
    let jumped = false;
    const { state } = await run(
      {
        attempts,
        verified,
        on(words, fake) {
          if (words !== effect || jumped) return;
          jumped = true;
          fake[happen](HOURS);
        },
      },
      changes,
    );
    expect(jumped).toBe(true);
    expect(state.task.status).toBe('completed');
    expect(state.task.timeout_at).toBe(laterBy(START, 30 * 60_000 + HOURS));
  });

  test('before the agent starts moves the limit that the agent is given', async () => {
    const { requests } = await run({
      attempts: [DONE],
      on: (words, fake) => words === 'mark' && fake[happen](HOURS),
    });
    expect(requests[0]?.taskDeadlineAt).toBe(laterBy(START, 30 * 60_000 + HOURS));
  });
});

test('a suspension while the agent waits in its own retries is given back once', async () => {
  const HOUR = 3_600_000;
  const { state } = await run({
    attempts: [{ ...DONE, retryWaitMs: HOUR }],
    on: (words, fake) => words === 'run agent 1.1' && fake.holdUp(HOUR),
  });
  expect(state.task.timeout_at).toBe(laterBy(START, 30 * 60_000 + HOUR));
});
