import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { answered, cut, errorReport, withoutReport } from '../../helpers/attempt-facts.ts';
import { checks } from '../../helpers/checks.ts';
import {
  DONE,
  LIMITED,
  type Loop,
  NO_LOGIN,
  OVERLOADED,
  running,
  WORK,
} from '../../helpers/loop-events.ts';
import { loopInHand, type Turn } from '../../helpers/loop-in-hand.ts';
import { START } from '../../helpers/new-task.ts';

const FAILED = { command: 'npm test', exitCode: 1, timedOut: false, output: '1 test failed' };
const PASSED = { ...FAILED, exitCode: 0, output: '' };
const GLOBS = { watchGlobs: ['out/*.md'] };
const NO_DELAY = { delayMs: 0 };

describe('a request to pause', () => {
  test.for<[name: string, changes: Partial<Policy>, next: (loop: Loop) => Turn, told: string]>([
    ['while the agent works', {}, (loop) => loop.iterate(WORK), 'task_iterated'],
    ['while it works, no delay', NO_DELAY, (loop) => loop.iterate(WORK), 'task_iterated'],
    ['while it fails', NO_DELAY, (loop) => loop.iterate(withoutReport(1)), 'task_iterated'],
    [
      'while it runs out of time',
      {},
      (loop) => loop.iterate(cut('iteration-timeout')),
      'task_iterated',
    ],
    [
      'before the look',
      GLOBS,
      (loop) => {
        loop.attempt(WORK);
        return loop.look(NOTHING_SEEN);
      },
      'task_iterated',
    ],
    [
      'before a check that fails',
      { verify: checks('npm test'), ...NO_DELAY },
      (loop) => {
        loop.iterate(DONE);
        return loop.verified(FAILED);
      },
      'check_ended task_iterated claim_held',
    ],
    [
      'before the command that follows',
      { after: './sync' },
      (loop) => {
        loop.iterate(WORK);
        return loop.followed();
      },
      '',
    ],
  ])('lets the iteration end and count: %s', ([, changes, next, told]) => {
    const loop = running(changes);
    expect(loop.pause().actions).toEqual([]);
    const turn = next(loop);
    expect(turn.actions.join(' ')).toBe(`${told} stop:paused`.trim());
    expect(turn.state.task).toMatchObject({
      status: 'paused',
      current_iteration: 1,
      attempt: 1,
      iterations: [{ number: 1 }],
    });
  });

  const WAITS: readonly [name: string, reach: (loop: Loop) => Turn, iteration: number][] = [
    ['in a delay', (loop) => loop.iterate(WORK), 1],
    ['in a back-off', (loop) => loop.iterate(OVERLOADED), 1],
    ['in a wait for a limit', (loop) => loop.iterate(LIMITED), 1],
    [
      'in a wait for a login',
      (loop) => {
        loop.iterate(WORK);
        loop.wait();
        return loop.iterate(NO_LOGIN);
      },
      2,
    ],
  ];

  test.for(WAITS)('ends a wait: %s', ([, reach, iteration]) => {
    const loop = running();
    reach(loop);
    const { iterations, errors, usage } = loop.state().task;
    loop.pause();
    const turn = loop.wait(-400);
    expect(turn.actions).toEqual(['stop:paused']);
    expect(turn.state.task).toMatchObject({
      status: 'paused',
      current_iteration: iteration,
      attempt: 1,
      wait: null,
      iterations,
      errors,
      usage,
    });
  });

  test.for(WAITS.slice(1))('gives back the time that was waited: %s', ([, reach]) => {
    const loop = running();
    reach(loop);
    const { timeout_at } = loop.state().task;
    const since = Date.parse(loop.now());
    loop.pause();
    const { task } = loop.wait(-400).state;
    expect(task.timeout_at).toBe(laterBy(timeout_at, Date.parse(loop.now()) - since));
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['a passing fault', OVERLOADED],
    ['a limit', LIMITED],
  ])('does not wait for %s: the iteration is left for the resume', ([, facts]) => {
    const loop = running();
    loop.pause();
    const turn = loop.iterate(facts);
    expect(turn.actions.at(-1)).toBe('stop:paused');
    expect(turn.state.task).toMatchObject({
      status: 'paused',
      wait: null,
      iterations: [],
      current_iteration: 1,
    });
    expect(loop.resume().agent).toMatchObject({ iteration: 1, attempt: 2 });
  });

  test('does not wait for a missing session', () => {
    const loop = running({ session: 'continue', ...NO_DELAY });
    loop.iterate(WORK);
    loop.pause();
    const turn = loop.iterate(errorReport('No conversation found with session ID: session-1'));
    expect(turn.actions).toEqual(['agent_retry', 'stop:paused']);
    expect(loop.resume().agent).toMatchObject({ iteration: 2, attempt: 2, resumeSession: null });
  });

  test('that comes before anything is started takes effect at once', () => {
    const loop = loopInHand();
    loop.pause();
    const turn = loop.start();
    expect(turn.actions).toEqual(['task_started', 'stop:paused']);
    expect(loop.resume().agent).toMatchObject({ iteration: 1, attempt: 1 });
  });

  test('ends the task as paused, in full', () => {
    const loop = running();
    loop.pause();
    expect(loop.iterate(WORK).ending).toEqual({
      status: 'paused',
      exitReason: 'paused',
      event: 'task_paused',
      note: null,
      evidence: null,
      error: null,
      until: null,
    });
    expect(loop.state().task).toMatchObject({
      exit_reason: 'paused',
      finished_at: loop.now(),
    });
  });

  test('changes no instant: a wait is as long as it was', () => {
    const loop = running();
    loop.iterate(OVERLOADED);
    const { task } = loop.state();
    loop.pass(100);
    expect(loop.pause().state.task).toEqual(task);
  });

  test('that is repeated is the same request', () => {
    const loop = running();
    loop.pause();
    const before = loop.state();
    expect(loop.pause().state).toEqual(before);
  });
});

describe('another end comes before the pause', () => {
  test.for<[name: string, changes: Partial<Policy>, facts: AttemptFacts, status: string]>([
    ['completion', {}, DONE, 'completed'],
    ['completion, no delay', NO_DELAY, DONE, 'completed'],
    ['completion on the last iteration', { maxIterations: 1 }, DONE, 'completed'],
    ['the last iteration', { maxIterations: 1 }, WORK, 'max_iterations_reached'],
    ['the money', { maxCostUsd: 0.01 }, WORK, 'budget_spent'],
    ['the time', {}, cut('task-timeout'), 'timeout'],
    ['an abort', { abortPromise: 'CANNOT' }, answered('CANNOT'), 'failed'],
    ['no login', {}, NO_LOGIN, 'failed'],
    ['a limit too far away', { maxWaitMs: 0 }, LIMITED, 'usage_limited'],
    ['a stop', {}, cut('stop-requested'), 'stopped'],
  ])('%s', ([, changes, facts, status]) => {
    const loop = running(changes);
    loop.pause();
    expect(loop.iterate(facts).ending?.status).toBe(status);
  });

  test('completion by a file', () => {
    const loop = running(GLOBS);
    loop.attempt(WORK);
    loop.pause();
    const turn = loop.look({ ...NOTHING_SEEN, watchMatches: ['out/a.md'] });
    expect(turn.ending?.status).toBe('completed');
  });

  test('completion after its check and the command that follows', () => {
    const loop = running({ verify: checks('npm test'), after: './sync' });
    loop.iterate(DONE);
    loop.pause();
    expect(loop.verified(PASSED).actions).toEqual([
      'check_ended',
      'task_iterated',
      'run-after ./sync',
    ]);
    expect(loop.followed().ending?.status).toBe('completed');
  });

  test('the circuit breaker', () => {
    const loop = running({ sameErrorLimit: 1 });
    loop.attempt(withoutReport(1, 'boom'));
    loop.pause();
    expect(loop.look(NOTHING_SEEN).ending?.status).toBe('stalled');
  });

  test('a request to stop, whichever came first', () => {
    for (const order of [
      ['pause', 'stop'],
      ['stop', 'pause'],
    ] as const) {
      const loop = running();
      for (const request of order) {
        if (request === 'pause') loop.pause();
        else loop.stop('SIGTERM');
      }
      expect(loop.iterate(WORK).ending?.exitReason).toBe('stopped:SIGTERM');
    }
  });

  test('a stop in a wait', () => {
    const loop = running();
    loop.iterate(OVERLOADED);
    loop.pause();
    loop.stop('request');
    expect(loop.wait(-100).ending?.exitReason).toBe('stopped:request');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['completed', DONE],
    ['failed', NO_LOGIN],
  ])('a task that has %s already is left as it is', ([, facts]) => {
    const loop = running();
    loop.iterate(facts);
    const { task } = loop.state();
    const turn = loop.pause();
    expect(turn.actions).toEqual([]);
    expect(turn.state.task).toEqual(task);
  });
});

describe('a paused task', () => {
  test('uses up no time, however long the pause is', () => {
    const loop = running({}, 600_000);
    loop.pause();
    loop.iterate({ ...WORK, durationMs: 100_000 });
    expect(loop.state().task.timeout_at).toBe(laterBy(START, 600_000));
    const turn = loop.resume();
    expect(turn.deadlineAt).toBe(laterBy(loop.now(), 500_000));
  });

  test('can be paused and resumed any number of times, an iteration each', () => {
    const loop = running();
    for (let iteration = 1; iteration <= 4; iteration += 1) {
      loop.pause();
      expect(loop.iterate(WORK).ending?.status).toBe('paused');
      expect(loop.resume().actions.at(-1)).toBe(`start-agent ${iteration + 1}.1`);
    }
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
    expect(loop.state().task.iterations.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
  });
});
