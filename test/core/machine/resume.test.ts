import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import type { CommandResult } from '../../../src/core/completion/command-result.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import { type LoopState, NO_STREAKS } from '../../../src/core/machine/loop-state.ts';
import { initialState, transition } from '../../../src/core/machine/transition.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy, msBetween } from '../../../src/core/task/task-state.ts';
import { answered, cut, errorReport, withoutReport } from '../../helpers/attempt-facts.ts';
import { checks } from '../../helpers/checks.ts';
import {
  DONE,
  GONE,
  LIMITED,
  type Loop,
  NO_LOGIN,
  OVERLOADED,
  REFUSED,
  summary,
  TAG,
  WORK,
} from '../../helpers/loop-events.ts';
import { A_DAY_MS, loopInHand, type Turn } from '../../helpers/loop-in-hand.ts';

const BOOM = withoutReport(1, 'boom');
const STOPPED = cut('stop-requested');
const ALMOST_ALL = answered('Part of it.', {
  rateLimit: { status: 'allowed', resetsAt: null, type: null, utilization: 0.9 },
});
const PASSED: CommandResult = { command: 'npm test', exitCode: 0, timedOut: false, output: '' };
const GLOBS = { watchGlobs: ['out/*.md'] };
const VERIFY = { verify: checks('npm test') };
const AFTER = { after: './sync' };
const NO_DELAY = { delayMs: 0 };
const HOUR_MS = 3_600_000;

/** A loop that has come as far as these attempts, each delay waited for. */
function reached(changes: Partial<Policy>, ...attempts: readonly AttemptFacts[]): Loop {
  const loop = loopInHand(changes);
  loop.start();
  let turn: Turn | null = null;
  for (const facts of attempts) {
    if (turn?.waitMs != null) loop.wait();
    turn = loop.iterate(facts);
  }
  return loop;
}

/** A loop that has to look at what this attempt has done. */
function looking(changes: Partial<Policy> = {}, facts = WORK): Loop {
  const loop = reached(changes);
  loop.attempt(facts);
  return loop;
}

function started(attempt: string): string {
  return `running, working: task_resumed iteration_started start-agent ${attempt}`;
}

/** The task and what the loop remembers, but for the instants and who drives it. */
function remembered({ task, trouble, ...memory }: LoopState) {
  const { updated_at, timeout_at, driver, ...rest } = task;
  const { outageSince, limitedSince, ...inARow } = trouble;
  return { ...memory, trouble: inARow, task: rest };
}

/** The places where a driver can die, each with what its successor asks for again. */
const ASKED_AGAIN: readonly [name: string, reach: () => Loop, expected: string][] = [
  ['looking', () => looking(), 'running, looking: task_resumed look'],
  ['verifying', () => reached(VERIFY, DONE), 'running, verifying: task_resumed verify npm test'],
  ['following', () => reached(AFTER, WORK), 'running, following: task_resumed run-after ./sync'],
  ['a delay', () => reached({}, WORK), 'running, waiting: task_resumed wait'],
  ['a back-off', () => reached({}, OVERLOADED), 'running, waiting: task_resumed wait'],
  ['an outage', () => reached({ retries: 0 }, OVERLOADED), 'running, waiting: task_resumed wait'],
  ['a wait for a login', () => reached({}, WORK, NO_LOGIN), 'running, waiting: task_resumed wait'],
  ['a wait for a limit', () => reached({}, LIMITED), 'running, waiting: task_resumed wait'],
];

test('the limit for waiting goes on where waiting did, and begins again elsewhere', () => {
  for (const reach of [() => reached({ retries: 0 }, OVERLOADED), () => reached({}, LIMITED)]) {
    const { outageSince, limitedSince } = reach().state().trouble;
    expect([outageSince, limitedSince].filter((since) => since !== null)).toHaveLength(1);
    expect(reach().resume({}, { waitedOn: true }).state.trouble).toMatchObject({
      outageSince,
      limitedSince,
    });
    expect(reach().resume().state.trouble).toMatchObject({ outageSince: null, limitedSince: null });
  }
});

describe('what was asked for before the driver died', () => {
  test.for(ASKED_AGAIN)('is asked for again: %s', ([, reach, expected]) => {
    const loop = reach();
    const before = remembered(loop.state());
    const turn = loop.resume();
    expect(summary(turn)).toBe(expected);
    expect(remembered(turn.state)).toEqual(before);
  });

  test.for(ASKED_AGAIN)('changes only the times of the task: %s', ([, reach]) => {
    const loop = reach();
    const { updated_at, timeout_at, driver, ...before } = loop.state().task;
    expect(loop.resume().state.task).toMatchObject(before);
  });

  test('is a wait until its old end', () => {
    const loop = reached({}, LIMITED);
    const { wait } = loop.state().task;
    const turn = loop.resume({}, { afterMs: HOUR_MS });
    expect(turn.state.task.wait).toEqual(wait);
    expect(turn.waitMs).toBe(msBetween(loop.now(), wait?.until ?? ''));
    expect(turn.waitMs).toBe(4 * HOUR_MS + 1_000 - LIMITED.durationMs);
    expect(loop.wait().actions).toEqual(['iteration_started', 'start-agent 1.2']);
  });

  test('is a wait that is already over, too', () => {
    const loop = reached({}, LIMITED);
    expect(loop.resume().waitMs).toBeLessThan(0);
    expect(loop.wait().actions).toEqual(['iteration_started', 'start-agent 1.2']);
  });

  test('is repeated in each step: looking, verifying, following', () => {
    const loop = looking({ ...VERIFY, ...AFTER }, DONE);
    expect(summary(loop.resume())).toBe('running, looking: task_resumed look');
    expect(loop.look(NOTHING_SEEN).actions).toEqual(['verify npm test']);
    expect(loop.resume().actions).toEqual(['task_resumed', 'verify npm test']);
    expect(loop.verified(PASSED).actions).toEqual([
      ...['check_ended', 'task_iterated', 'run-after ./sync'],
    ]);
    const { actions, followedBy } = loop.resume();
    expect(actions).toEqual(['task_resumed', 'run-after ./sync']);
    expect(followedBy).toMatchObject({ event: 'task_iterated', iteration: 1, completed: true });
    expect(loop.followed().ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'promise', detail: TAG },
    });
    expect(loop.state().task.iterations).toMatchObject([{ number: 1 }]);
  });

  test('can be resumed any number of times', () => {
    const loop = reached(AFTER, WORK);
    for (let time = 0; time < 5; time += 1) {
      expect(loop.resume().actions).toEqual(['task_resumed', 'run-after ./sync']);
    }
    expect(loop.state().task).toMatchObject({ metrics: { iterations: 1 }, current_iteration: 1 });
  });

  test('is left out if the user no longer wants it: --after', () => {
    const goingOn = reached({ ...AFTER, ...NO_DELAY }, WORK);
    expect(summary(goingOn.resume({ after: null }))).toBe(started('2.1'));
    const complete = reached({ ...AFTER, ...NO_DELAY }, DONE);
    expect(summary(complete.resume({ after: null }))).toBe(
      'completed, ended: task_resumed stop:completed',
    );
  });

  test('is left out if the user no longer wants it: --verify', () => {
    const loop = reached(VERIFY, DONE);
    expect(summary(loop.resume({ verify: [] }))).toBe(
      'completed, ended: task_resumed task_iterated stop:completed',
    );
    expect(loop.state().task.iterations).toMatchObject([{ number: 1, completed: true }]);
  });
});

describe('an iteration that was not counted', () => {
  test.for<[name: string, reach: () => Loop, expected: string]>([
    ['the driver died in its first attempt', () => reached({}), '1.2'],
    [
      'the driver died in its second attempt',
      () => {
        const loop = reached({}, OVERLOADED);
        loop.wait();
        return loop;
      },
      '1.3',
    ],
    ['the driver died in a later iteration', () => reached(NO_DELAY, WORK, WORK), '3.2'],
    ['it failed for good', () => reached({}, NO_LOGIN), '1.2'],
    [
      'it failed for good, later',
      () => reached(NO_DELAY, WORK, BOOM, errorReport('Credit balance is too low', 400)),
      '3.2',
    ],
    ['it was stopped', () => reached({}, STOPPED), '1.2'],
    [
      'it was stopped in a back-off',
      () => {
        const loop = reached({}, OVERLOADED);
        loop.stop('SIGINT');
        loop.wait(-100);
        return loop;
      },
      '1.2',
    ],
    [
      'an outage outlasted its wait',
      () => reached({ retries: 0, maxWaitMs: 0 }, OVERLOADED),
      '1.2',
    ],
    ['a limit was too far away', () => reached({ maxWaitMs: 0 }, LIMITED), '1.2'],
    [
      'it was paused in a wait',
      () => {
        const loop = reached({}, LIMITED);
        loop.pause();
        loop.wait(-HOUR_MS);
        return loop;
      },
      '1.2',
    ],
  ])('is tried again: %s', ([, reach, expected]) => {
    const loop = reach();
    const { iterations, metrics, usage } = loop.state().task;
    const turn = loop.resume();
    expect(summary(turn)).toBe(started(expected));
    expect(turn.state.task).toMatchObject({
      iterations,
      metrics: { iterations: metrics.iterations },
      usage,
      wait: null,
    });
  });

  test('is tried again with more time if the time was over', () => {
    const loop = loopInHand({}, 10_000);
    loop.start();
    loop.iterate({ ...OVERLOADED, durationMs: 10_000 });
    expect(loop.state().task).toMatchObject({ status: 'timeout', metrics: { iterations: 0 } });
    expect(summary(loop.resume({}, { timeLeftMs: 60_000 }))).toBe(started('1.2'));
  });

  test('is tried again with more money if the budget was spent', () => {
    const dear = { ...OVERLOADED, usage: { cost_usd: 1, input_tokens: 5, output_tokens: 1 } };
    const loop = reached({ maxCostUsd: 1 }, dear);
    expect(loop.state().task.status).toBe('budget_spent');
    const turn = loop.resume({ maxCostUsd: 3 });
    expect(summary(turn)).toBe(started('1.2'));
    expect(turn.agent?.budgetUsd).toBe(2);
  });

  test('counts once, with the cost of all its attempts that are known', () => {
    const usage = { cost_usd: 0.5, input_tokens: 5, output_tokens: 1 };
    const loop = reached({}, { ...OVERLOADED, usage });
    loop.resume();
    loop.wait();
    loop.resume();
    const turn = loop.iterate(WORK);
    expect(turn.state.task).toMatchObject({
      iterations: [{ number: 1, cost_usd: 0.51 }],
      usage: { cost_usd: 0.51 },
      metrics: { iterations: 1 },
    });
  });

  test('has the same prompt as before', () => {
    const loop = reached(NO_DELAY, answered('A first part. Shall I go on?'));
    const { addition } = loop.resume();
    expect(addition).toContain('A first part.');
    expect(addition).toContain('Nobody answers questions here');
  });
});

/** The ways to end after an iteration, each with what lets the task go on. */
const ENDED_AFTER: readonly [
  status: string,
  reach: () => Loop,
  settings: Partial<Policy>,
  next: string,
][] = [
  [
    'max_iterations_reached',
    () => reached({ maxIterations: 2, ...NO_DELAY }, WORK, WORK),
    { maxIterations: 3 },
    '3.1',
  ],
  ['budget_spent', () => reached({ maxCostUsd: 0.01 }, WORK), { maxCostUsd: 1 }, '2.1'],
  ['usage_limited', () => reached({ maxUsagePercent: 80 }, ALMOST_ALL), {}, '2.1'],
  ['failed', () => reached({ abortPromise: 'CANNOT' }, answered('CANNOT')), {}, '2.1'],
  ['timeout', () => reached({}, cut('task-timeout')), {}, '2.1'],
  ['stalled', () => reached(NO_DELAY, REFUSED, REFUSED), {}, '3.1'],
  [
    'stopped',
    () => {
      const loop = reached({});
      loop.stop('SIGTERM');
      loop.iterate(WORK);
      return loop;
    },
    {},
    '2.1',
  ],
  [
    'stopped',
    () => {
      const loop = reached({}, WORK);
      loop.stop('request');
      loop.wait(-1_000);
      return loop;
    },
    {},
    '2.1',
  ],
  [
    'paused',
    () => {
      const loop = reached({});
      loop.pause();
      loop.iterate(WORK);
      return loop;
    },
    {},
    '2.1',
  ],
  [
    'paused',
    () => {
      const loop = reached({}, WORK);
      loop.pause();
      loop.wait(-1_000);
      return loop;
    },
    {},
    '2.1',
  ],
];

describe.for(ENDED_AFTER)(
  'a task that ended after an iteration: %s',
  ([status, reach, settings, next]) => {
    test('continues with the next one', () => {
      const loop = reach();
      const { iterations, usage } = loop.state().task;
      expect(loop.state().task.status).toBe(status);
      const turn = loop.resume(settings);
      expect(summary(turn)).toBe(started(next));
      expect(turn.state.task).toMatchObject({ iterations, usage });
    });

    test('runs again: the ending is cleared', () => {
      const turn = ((loop: Loop) => loop.resume(settings))(reach());
      expect(turn.state.task).toMatchObject({
        status: 'running',
        exit_reason: null,
        evidence: null,
        finished_at: null,
        wait: null,
        driver: { run_id: 'run-2' },
      });
    });

    test('pays for the next iteration what that costs, and no more', () => {
      const loop = reach();
      const { usage } = loop.state().task;
      loop.resume(settings);
      const { task } = loop.iterate(WORK).state;
      expect(task.iterations.at(-1)).toMatchObject({
        number: Number.parseInt(next, 10),
        cost_usd: WORK.usage.cost_usd,
        input_tokens: WORK.usage.input_tokens,
        output_tokens: WORK.usage.output_tokens,
      });
      expect(task.usage.input_tokens).toBe(usage.input_tokens + WORK.usage.input_tokens);
    });

    test('can be completed by it', () => {
      const loop = reach();
      loop.resume(settings);
      expect(loop.iterate(DONE).ending).toMatchObject({ status: 'completed' });
    });
  },
);

describe('a limit that is still reached', () => {
  test.for<[name: string, reach: () => Loop, timeLeftMs: number, expected: string]>([
    [
      'the iterations',
      () => reached({ maxIterations: 1 }, WORK),
      60_000,
      'max_iterations_reached, ended: task_resumed stop:max_iterations_reached',
    ],
    [
      'the time',
      () => reached({}, WORK, cut('task-timeout')),
      0,
      'timeout, ended: task_resumed stop:timeout',
    ],
    [
      'the time within an iteration',
      () => reached({}, STOPPED),
      0,
      'timeout, ended: task_resumed stop:timeout',
    ],
    [
      'the money',
      () => reached({ maxCostUsd: 0.01 }, WORK),
      60_000,
      'budget_spent, ended: task_resumed stop:budget_spent',
    ],
  ])('ends the task again: %s', ([, reach, timeLeftMs, expected]) => {
    const loop = reach();
    expect(summary(loop.resume({}, { timeLeftMs }))).toBe(expected);
    expect(loop.state().task).toMatchObject({ finished_at: loop.now() });
  });

  test('is the time, if the iterations are used up as well', () => {
    const loop = reached({ maxIterations: 1 }, WORK);
    expect(loop.resume({}, { timeLeftMs: 0 }).ending?.status).toBe('timeout');
  });

  test('can be set lower than what was used', () => {
    const loop = reached(NO_DELAY, WORK, WORK, WORK);
    loop.stop('SIGINT');
    loop.iterate(WORK);
    expect(loop.resume({ maxIterations: 2 }).ending?.status).toBe('max_iterations_reached');
  });
});

describe('the iterations', () => {
  test('are those of the current settings', () => {
    const loop = reached({ maxIterations: 2, ...NO_DELAY }, WORK, WORK);
    const { state, told } = loop.resume({ maxIterations: 7 });
    expect(state.task.max_iterations).toBe(7);
    expect(told).toMatchObject([
      { event: 'task_resumed', iteration: 2, max_iterations: 7 },
      { event: 'iteration_started', iteration: 3, max_iterations: 7, attempt: 1 },
    ]);
  });

  test('are counted without a gap over any number of drivers', () => {
    const loop = reached({ maxIterations: 1, ...NO_DELAY }, WORK);
    for (let maxIterations = 2; maxIterations <= 5; maxIterations += 1) {
      loop.resume({ maxIterations });
      loop.resume();
      loop.iterate(WORK);
    }
    const { iterations, metrics, current_iteration } = loop.state().task;
    expect(iterations.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    expect(metrics.iterations).toBe(5);
    expect(current_iteration).toBe(5);
  });

  test('are counted beyond the records that the state stores', () => {
    const loop = loopInHand({ ...NO_DELAY, maxIterations: 100 });
    loop.start();
    for (let count = 0; count < 70; count += 1) loop.iterate(WORK);
    expect(summary(loop.resume())).toBe(started('71.2'));
    loop.stop('SIGINT');
    loop.iterate(WORK);
    expect(summary(loop.resume())).toBe(started('72.1'));
  });
});

describe('the time for the whole task', () => {
  const places: readonly [name: string, reach: () => Loop][] = [
    ['new', () => loopInHand()],
    ['working', () => reached({})],
    ...ASKED_AGAIN.map(([name, reach]): [string, () => Loop] => [name, reach]),
    ...ENDED_AFTER.map(([name, reach]): [string, () => Loop] => [name, reach]),
  ];

  test.for(places)('is the rest of it, from the resume on: %s', ([, reach]) => {
    const loop = reach();
    const turn = loop.resume({ maxIterations: 9, maxCostUsd: null }, { timeLeftMs: 123_456 });
    expect(turn.state.task.timeout_at).toBe(laterBy(loop.now(), 123_456));
    expect(turn.deadlineAt ?? turn.state.task.timeout_at).toBe(turn.state.task.timeout_at);
  });

  test.for<[name: string, reach: () => Loop]>([
    ['a back-off', () => reached({}, OVERLOADED)],
    ['an outage', () => reached({ retries: 0 }, OVERLOADED)],
    ['a wait for a login', () => reached({}, WORK, NO_LOGIN)],
    ['a wait for a limit', () => reached({}, LIMITED)],
  ])('is not used up by the rest of %s', ([, reach]) => {
    for (const afterMs of [0, 100, HOUR_MS, A_DAY_MS]) {
      const loop = reach();
      const left = msBetween(loop.now(), loop.state().task.timeout_at);
      loop.resume({}, { afterMs });
      const turn = loop.wait();
      expect(msBetween(loop.now(), turn.deadlineAt ?? '')).toBe(left);
    }
  });

  test('is used up by the rest of a delay, but not by the time without a driver', () => {
    for (const [afterMs, rest] of [
      [0, 2_000],
      [500, 1_500],
      [1_999, 1],
      [2_000, 0],
      [HOUR_MS, 0],
      [A_DAY_MS, 0],
    ] as const) {
      const loop = reached({}, WORK);
      const left = msBetween(loop.now(), loop.state().task.timeout_at);
      loop.resume({}, { afterMs });
      const turn = loop.wait();
      expect(msBetween(loop.now(), turn.deadlineAt ?? '')).toBe(left - rest);
    }
  });

  test('is moved if the machine sleeps in the rest of a delay', () => {
    const loop = reached({ delayMs: 60_000 }, WORK);
    const left = msBetween(loop.now(), loop.state().task.timeout_at);
    loop.resume({}, { afterMs: 10_000 });
    const turn = loop.wait(0, HOUR_MS);
    expect(msBetween(loop.now(), turn.deadlineAt ?? '')).toBe(left - 50_000);
  });
});

describe('a completed task whose ending nobody announced', () => {
  test.for<[name: string, reach: () => Loop, evidence: string]>([
    ['by its promise', () => reached({}, DONE), 'promise'],
    [
      'by a file',
      () => {
        const loop = looking(GLOBS);
        loop.look({ ...NOTHING_SEEN, watchMatches: ['out/a.md'] });
        return loop;
      },
      'watch-glob',
    ],
  ])('is announced again: %s', ([, reach, evidence]) => {
    const loop = reach();
    const before = loop.state();
    const turn = loop.resume();
    expect(turn.actions).toEqual(['stop:completed']);
    expect(turn.ending).toEqual({
      status: 'completed',
      exitReason: 'completed',
      event: 'task_completed',
      evidence: before.task.evidence,
      note: null,
      error: null,
      until: null,
    });
    expect(turn.ending?.evidence?.kind).toBe(evidence);
    expect(turn.state).toEqual({
      ...before,
      task: { ...before.task, updated_at: loop.now() },
    });
  });

  test('has no driver', () => {
    expect(reached({}, DONE).resume().state.task.driver).toBeNull();
  });

  test('does not start again under other settings', () => {
    const loop = reached({}, DONE);
    expect(loop.resume({ maxIterations: 50 }).actions).toEqual(['stop:completed']);
  });
});

describe('what failed in a row', () => {
  test('is forgotten if the task had ended', () => {
    const loop = reached({ retries: 1, maxWaitMs: 0 }, OVERLOADED, OVERLOADED);
    expect(loop.state().task.status).toBe('usage_limited');
    loop.resume();
    // A first quick try, as in the beginning.
    expect(loop.iterate(OVERLOADED).waitMs).toBe(750);
  });

  test('is remembered if the driver died', () => {
    const loop = reached({}, OVERLOADED, OVERLOADED);
    loop.resume();
    loop.wait();
    expect(loop.iterate(OVERLOADED).waitMs).toBe(3_000);
  });

  test('an outage is not made longer by the time without a driver', () => {
    const loop = reached({ retries: 0, maxWaitMs: HOUR_MS }, OVERLOADED);
    loop.resume();
    loop.wait();
    expect(summary(loop.iterate(OVERLOADED))).toBe('running, waiting: agent_retry wait');
  });

  test('an outage still ends', () => {
    const loop = reached({ retries: 0, maxWaitMs: HOUR_MS }, OVERLOADED);
    loop.resume();
    let turn = loop.wait();
    for (let tries = 0; tries < 20 && turn.ending === null; tries += 1) {
      turn = loop.iterate(OVERLOADED);
      if (turn.waitMs !== null) turn = loop.wait();
    }
    expect(turn.ending).toMatchObject({ status: 'usage_limited', exitReason: 'outage' });
  });

  test('a limit is not made longer by the time without a driver', () => {
    const loop = reached({}, LIMITED);
    loop.resume();
    loop.wait();
    expect(summary(loop.iterate(LIMITED))).toBe('running, waiting: usage_limit_wait wait');
  });

  test.for<[name: string, reach: () => Loop]>([
    [
      'the driver died',
      () =>
        reached({ maxCostUsd: 1 }, withoutReport(1, "error: unknown option '--max-budget-usd'")),
    ],
    [
      'the task had ended',
      () =>
        reached(
          { maxCostUsd: 1 },
          withoutReport(1, "error: unknown option '--max-budget-usd'"),
          STOPPED,
        ),
    ],
  ])('is no reason to forget what the agent does not know: %s', ([, reach]) => {
    expect(reach().resume().agent).toMatchObject({ budgetUsd: null });
  });

  test('an agent that had answered still counts as installed', () => {
    const loop = reached(NO_DELAY, WORK);
    loop.resume();
    expect(summary(loop.iterate(NO_LOGIN))).toBe('running, waiting: agent_retry wait');
  });
});

describe('the circuit breaker', () => {
  const IDLE = {
    ...NOTHING_SEEN,
    progress: { git: { commits: 0, filesChanged: 0 }, watched: null },
  };

  test.for<[name: string, changes: Partial<Policy>, facts: AttemptFacts]>([
    ['no progress', { noProgressLimit: 2 }, WORK],
    ['the same error', { sameErrorLimit: 2 }, BOOM],
    ['refused tools', { noProgressLimit: 9 }, REFUSED],
  ])('of a stalled task is closed again: %s', ([, changes, facts]) => {
    const loop = loopInHand({ ...NO_DELAY, ...changes });
    loop.start();
    loop.iterate(facts, IDLE);
    expect(loop.iterate(facts, IDLE).state.task.status).toBe('stalled');
    const { state } = loop.resume();
    expect(state.task.breaker).toEqual({ no_progress: 0, same_error: 0, last_error: null });
    expect(state.streaks).toEqual(NO_STREAKS);
    // As many iterations again as at the beginning, and no fewer.
    expect(loop.iterate(facts, IDLE).ending).toBeNull();
    expect(loop.iterate(facts, IDLE).ending?.status).toBe('stalled');
  });

  test.for<[name: string, interrupt: (loop: Loop) => void]>([
    ['whose driver died', () => {}],
    ['that was stopped', (loop) => loop.iterate(STOPPED)],
    [
      'that was paused',
      (loop) => {
        loop.iterate(OVERLOADED);
        loop.pause();
        loop.wait();
      },
    ],
  ])('continues its counts in a task %s', ([, interrupt]) => {
    const loop = loopInHand({ ...NO_DELAY, noProgressLimit: 2 });
    loop.start();
    loop.iterate(WORK, IDLE);
    interrupt(loop);
    loop.resume();
    expect(loop.iterate(WORK, IDLE).ending).toMatchObject({
      status: 'stalled',
      exitReason: 'no-progress',
    });
  });
});

describe('what happened in iterations in a row', () => {
  test('is remembered: a signal', () => {
    const loop = reached({ ...NO_DELAY, signals: ['ALL QUIET'] }, answered('ALL QUIET'));
    loop.resume();
    expect(loop.iterate(answered('ALL QUIET')).ending?.evidence?.kind).toBe('signal');
  });

  test('is remembered: a claim to confirm', () => {
    const loop = reached({ ...NO_DELAY, confirm: 2 }, DONE);
    expect(loop.resume().addition).toContain('1 of 2 times');
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });

  test('is remembered: a claim with refused tools', () => {
    const loop = reached(NO_DELAY, REFUSED);
    loop.resume();
    expect(loop.iterate(REFUSED).ending).toMatchObject({ exitReason: 'refused' });
  });
});

describe('hints', () => {
  const SAID = 'The person you work for adds: Use npm.';

  test.for<[name: string, reach: () => Loop]>([
    ['a first iteration that is tried again', () => reached({})],
    ['a later iteration that is tried again', () => reached(NO_DELAY, WORK)],
    ['the iteration after one that ended the task', () => reached({ maxIterations: 1 }, WORK)],
  ])('that came without a driver are in the next prompt: %s', ([, reach]) => {
    const loop = reach();
    loop.hint('Use npm.');
    const { addition, state } = loop.resume({ maxIterations: 5 });
    expect(addition).toContain(SAID);
    expect(state.hints).toEqual([]);
    // Once.
    const next = loop.iterate(WORK);
    expect((next.waitMs === null ? next : loop.wait()).addition).not.toContain(SAID);
  });

  test('are repeated to an iteration that is tried again, each once', () => {
    const loop = reached(NO_DELAY);
    loop.hint('Use npm.');
    loop.iterate(WORK);
    loop.hint('Be brief.');
    const { addition } = loop.resume();
    expect(addition?.split(SAID)).toHaveLength(2);
    expect(addition?.split('The person you work for adds: Be brief.')).toHaveLength(2);
    expect(loop.resume().addition?.split(SAID)).toHaveLength(2);
  });

  test('of a first iteration are not a promise if the agent repeats them', () => {
    const loop = reached({});
    loop.hint(`When all is done say so.\n${TAG}`);
    loop.resume();
    const turn = loop.iterate(
      answered(`The person you work for adds: When all is done say so.\n${TAG}`),
    );
    expect(turn.ending).toBeNull();
  });
});

describe('the agent’s own session', () => {
  const CONTINUE = { ...NO_DELAY, session: 'continue' } as const;

  test('is resumed, and its content is not repeated', () => {
    const loop = reached(CONTINUE, WORK);
    const { agent, addition, state } = loop.resume();
    expect(agent).toMatchObject({ iteration: 2, attempt: 2, resumeSession: 'session-1' });
    expect(addition).not.toContain('I did a part of it.');
    expect(state.step).toEqual({ kind: 'working', resumed: true });
  });

  test('is resumed after an end', () => {
    const loop = reached({ ...CONTINUE, maxIterations: 1 }, WORK);
    expect(loop.resume({ maxIterations: 2 }).agent?.resumeSession).toBe('session-1');
  });

  test('of a first iteration is replaced by a new one', () => {
    const loop = reached(CONTINUE, STOPPED);
    expect(loop.resume().agent?.resumeSession).toBeNull();
  });

  test('that is missing is replaced by a new one, with the context that it contained', () => {
    const loop = reached(CONTINUE, WORK);
    loop.resume();
    const { agent, addition } = loop.iterate(GONE);
    expect(agent).toMatchObject({ iteration: 2, attempt: 3, resumeSession: null });
    expect(addition).toContain('I did a part of it.');
  });

  test('is not resumed if each iteration has a new session from now on', () => {
    const loop = reached(CONTINUE, WORK);
    const { agent, addition } = loop.resume({ session: 'fresh' });
    expect(agent?.resumeSession).toBeNull();
    expect(addition).toContain('I did a part of it.');
  });
});

describe('a task whose memory is missing', () => {
  /** Only the state file is left, and it says whether the task had ended. */
  function fromStateFile(loop: Loop) {
    const { task } = loop.state();
    const bare = initialState(task);
    const state: LoopState =
      task.finished_at === null ? bare : { ...bare, step: { kind: 'ended' } };
    const at = laterBy(loop.now(), A_DAY_MS);
    return transition(
      state,
      { kind: 'resumed', at, timeLeftMs: 60_000, lost: null },
      loop.policy(),
    );
  }

  function inShort({ actions }: ReturnType<typeof fromStateFile>): readonly string[] {
    return actions.flatMap((action) =>
      action.kind === 'start-agent'
        ? [`start-agent ${action.iteration}.${action.attempt}`]
        : action.kind === 'stop'
          ? [`stop:${action.ending.status}`]
          : [],
    );
  }

  test.for<[name: string, reach: () => Loop, expected: string]>([
    ['before its start', () => loopInHand(), 'start-agent 1.1'],
    ['working', () => reached(NO_DELAY, WORK), 'start-agent 2.2'],
    ['looking', () => looking(), 'start-agent 1.2'],
    ['verifying', () => reached(VERIFY, DONE), 'start-agent 1.2'],
    ['following', () => reached(AFTER, WORK), 'start-agent 2.1'],
    ['in a delay', () => reached({}, WORK), 'start-agent 2.1'],
    ['in a wait for a limit', () => reached({}, LIMITED), 'start-agent 1.2'],
    ['stopped', () => reached({}, STOPPED), 'start-agent 1.2'],
    ['exhausted', () => reached({ maxIterations: 1 }, WORK), 'stop:max_iterations_reached'],
    ['completed', () => reached({}, DONE), 'stop:completed'],
  ])(
    'continues from the state file, with no counted iteration lost or repeated: %s',
    ([, reach, expected]) => {
      const next = fromStateFile(reach());
      expect(inShort(next)).toEqual([expected]);
      expect(next.state.task.wait).toBeNull();
    },
  );
});
