import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import { NOTHING_SEEN, type Sightings } from '../../../src/core/completion/sightings.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy, msBetween } from '../../../src/core/task/task-state.ts';
import {
  answered,
  attemptFacts,
  cut,
  errorReport,
  notFound,
  refusedTool,
  resultFacts,
  retryFacts,
  withoutReport,
} from '../../helpers/attempt-facts.ts';
import {
  DONE,
  type Loop,
  MATCHED,
  NO_LOGIN,
  OVERLOADED,
  REFUSED,
  running,
  summary,
  TAG,
  WORK,
} from '../../helpers/loop-events.ts';
import { loopInHand, type Turn } from '../../helpers/loop-in-hand.ts';
import { START } from '../../helpers/new-task.ts';

const MOVED: Sightings = { ...NOTHING_SEEN, movedFile: 'Done/x.md' };
const GLOBS = { watchGlobs: ['out/*.md'] };

/** One whole iteration that does not end the task, its delay included. */
function iterate(loop: Loop, facts: AttemptFacts = WORK): Turn {
  const turn = loop.iterate(facts);
  return turn.waitMs === null ? turn : loop.wait();
}

describe('the start', () => {
  test('announces the task and starts the first attempt', () => {
    const turn = loopInHand().start();
    expect(summary(turn)).toBe('running, working: task_started iteration_started start-agent 1.1');
    const { timeout_at, usage } = turn.state.task;
    expect(turn.told).toEqual([
      { event: 'task_started', prompt: 'Fix the tests.', max_iterations: 5, sandbox: 'off' },
      {
        event: 'iteration_started',
        iteration: 1,
        max_iterations: 5,
        attempt: 1,
        timeout_at,
        usage,
      },
    ]);
    expect(turn.state.task).toMatchObject({ current_iteration: 1, attempt: 1, updated_at: START });
  });

  test('tells what a new work tree has not got until the first iteration has its answer', () => {
    const loop = loopInHand();
    const lacks = { submodules: [], ignored: ['.env'], hooks: null };
    const told = 'What git ignores is not in it: .env.';
    expect(loop.start(lacks).addition).toContain(told);
    loop.iterate(OVERLOADED);
    expect(loop.wait().addition).toContain(told);
    expect(iterate(loop).addition).not.toContain(told);
  });

  test('passes the deadline of the whole task to the agent', () => {
    const loop = loopInHand({}, 60_000);
    expect(loop.start().deadlineAt).toBe(laterBy(START, 60_000));
    expect(iterate(loop).deadlineAt).toBe(laterBy(START, 60_000));
  });
});

describe('after one attempt', () => {
  test.for<[name: string, facts: AttemptFacts, changes: Partial<Policy>, expected: string]>([
    ['an answer', WORK, {}, 'running, waiting: task_iterated wait'],
    ['the promise', DONE, {}, 'completed, ended: task_iterated stop:completed'],
    [
      'a near miss',
      answered(`I will say ${TAG} soon.`),
      {},
      'running, waiting: task_iterated near_miss wait',
    ],
    ['a claim with refused tools', REFUSED, {}, 'running, waiting: task_iterated claim_held wait'],
    [
      'its own bound, the promise in its words',
      attemptFacts({
        result: resultFacts({ subtype: 'error_max_turns', isError: true, text: null }),
        finalMessage: TAG,
      }),
      {},
      'running, waiting: task_iterated near_miss wait',
    ],
    [
      'a time-out, the promise in its words',
      cut('iteration-timeout', { finalMessage: TAG, partialOutput: TAG }),
      {},
      'running, waiting: task_iterated near_miss wait',
    ],
    ['a time-out', cut('iteration-timeout'), {}, 'running, waiting: task_iterated wait'],
    ['silence', cut('idle-timeout'), {}, 'running, waiting: task_iterated wait'],
    ['a failure', withoutReport(3, 'boom'), {}, 'running, waiting: task_iterated wait'],
    ['the end of its time', cut('task-timeout'), {}, 'timeout, ended: task_iterated stop:timeout'],
    ['a passing fault', OVERLOADED, {}, 'running, waiting: agent_retry wait'],
    ['no agent', notFound(), {}, 'failed, ended: stop:failed'],
    ['no login', NO_LOGIN, {}, 'failed, ended: stop:failed'],
    ['a request to stop', cut('stop-requested'), {}, 'stopped, ended: stop:stopped'],
    [
      'an answer, no delay',
      WORK,
      { delayMs: 0 },
      'running, working: task_iterated iteration_started start-agent 2.1',
    ],
    [
      'an answer, the last',
      WORK,
      { maxIterations: 1 },
      'max_iterations_reached, ended: task_iterated stop:max_iterations_reached',
    ],
    [
      'an answer, the last, no delay',
      WORK,
      { maxIterations: 1, delayMs: 0 },
      'max_iterations_reached, ended: task_iterated stop:max_iterations_reached',
    ],
    [
      'the promise, on the last',
      DONE,
      { maxIterations: 1 },
      'completed, ended: task_iterated stop:completed',
    ],
  ])('%s', ([, facts, changes, expected]) => {
    expect(summary(running(changes).iterate(facts))).toBe(expected);
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', WORK],
    ['the promise', DONE],
    ['a time-out', cut('iteration-timeout')],
    ['a failure', withoutReport(3, 'boom')],
  ])('that counts, the loop observes before it judges: %s', ([, facts]) => {
    expect(summary(running().attempt(facts))).toBe('running, looking: look');
  });

  test.for<[name: string, facts: AttemptFacts, sightings: Sightings, expected: string]>([
    ['nothing', WORK, NOTHING_SEEN, 'running, waiting: task_iterated wait'],
    ['a match', WORK, MATCHED, 'completed, ended: task_iterated stop:completed'],
    [
      'a match and refused tools',
      REFUSED,
      MATCHED,
      'completed, ended: task_iterated stop:completed',
    ],
    [
      'a match, timed out',
      cut('iteration-timeout'),
      MATCHED,
      'running, waiting: task_iterated wait',
    ],
    [
      'a moved file, timed out',
      cut('iteration-timeout'),
      MOVED,
      'completed, ended: task_iterated stop:completed',
    ],
    [
      'a moved file, out of time',
      cut('task-timeout'),
      MOVED,
      'completed, ended: task_iterated stop:completed',
    ],
    [
      'a match, out of time',
      cut('task-timeout'),
      MATCHED,
      'timeout, ended: task_iterated stop:timeout',
    ],
    ['a match, failed', withoutReport(1), MATCHED, 'running, waiting: task_iterated wait'],
    ['the promise alone', DONE, NOTHING_SEEN, 'completed, ended: task_iterated stop:completed'],
  ])('and an observation of %s', ([, facts, sightings, expected]) => {
    const loop = running(GLOBS);
    loop.attempt(facts);
    expect(summary(loop.look(sightings))).toBe(expected);
  });

  test('a match of a cut iteration counts from the next one that ends well', () => {
    const loop = running(GLOBS);
    loop.attempt(cut('iteration-timeout'));
    loop.look(MATCHED);
    loop.wait();
    loop.attempt(WORK);
    expect(loop.look(MATCHED).ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'watch-glob', detail: 'out/a.md' },
    });
  });
});

describe('completion', () => {
  test('is announced in full', () => {
    const loop = running();
    const { ending, state } = loop.iterate(DONE);
    expect(ending).toEqual({
      status: 'completed',
      exitReason: 'completed',
      event: 'task_completed',
      evidence: {
        ...{ kind: 'promise', detail: TAG },
        proof: { proven: false, text: 'no check was named (--verify "npm test")', findings: [] },
      },
      note: null,
      error: null,
      until: null,
    });
    expect(state.task).toMatchObject({
      status: 'completed',
      exit_reason: 'completed',
      finished_at: loop.now(),
      evidence: { kind: 'promise', detail: TAG },
      driver: null,
      wait: null,
      metrics: { iterations: 1, total_duration_seconds: 1 },
    });
    expect(state.task.iterations).toMatchObject([{ number: 1, completed: true, near_miss: false }]);
    expect(state.finalMessage).toBe(`All good.\n${TAG}`);
  });

  test('on the last allowed iteration is completion', () => {
    const loop = running({ maxIterations: 3 });
    iterate(loop);
    iterate(loop);
    expect(loop.iterate(DONE).ending).toMatchObject({ status: 'completed' });
  });

  test('comes before the time of the whole task', () => {
    const loop = running({}, 10_000);
    expect(loop.iterate({ ...DONE, durationMs: 20_000 }).ending?.status).toBe('completed');
  });

  test('is not reached by an echo of what ralph wrote', () => {
    const loop = running({ match: 'contains', promise: 'DONE' });
    const next = iterate(loop);
    expect(next.addition).toContain('<promise>DONE</promise>');
    expect(loop.iterate(answered(next.addition ?? '')).ending).toBeNull();
  });

  test('does not make the rest of the message a near miss', () => {
    const loop = running(GLOBS);
    loop.attempt(answered(`I will say ${TAG} soon.`));
    expect(loop.look(MATCHED).actions).toEqual(['task_iterated', 'stop:completed']);
  });
});

describe('a near miss', () => {
  test('is announced, recorded, and repeated to the next iteration', () => {
    const loop = running();
    const turn = loop.iterate(answered(`I will say ${TAG} soon.`));
    expect(turn.told[1]).toEqual({
      event: 'near_miss',
      iteration: 1,
      line: `I will say ${TAG} soon.`,
      why: 'in-a-sentence',
    });
    expect(turn.state.task.iterations).toMatchObject([{ completed: false, near_miss: true }]);
    const next = loop.wait();
    expect(next.addition).toContain(`(in a sentence): "I will say ${TAG} soon."`);
    expect(iterate(loop).addition).not.toContain('in a sentence');
  });

  test('is also a promise of an iteration that did not end well', () => {
    const loop = running();
    const turn = loop.iterate(errorReport(TAG, null, { worked: true }));
    expect(turn.actions).toContain('near_miss');
    expect(turn.state.task.iterations).toMatchObject([{ completed: false, near_miss: true }]);
  });
});

describe('refused tools', () => {
  const later = refusedTool('Bash', 'npm test', true);
  const open = refusedTool('Write', 'a.txt');

  test.for<[name: string, refused: AttemptFacts['refused'], status: string]>([
    ['none', [], 'completed'],
    ['one', [open], 'running'],
    ['one after which the same tool succeeded', [later], 'completed'],
    ['one of two after which the same tool succeeded', [later, open], 'running'],
  ])('%s', ([, refused, status]) => {
    const turn = running().iterate(answered(TAG, { refused }));
    expect(turn.state.task.status).toBe(status);
    expect(turn.state.task.iterations).toMatchObject([{ completed: status === 'completed' }]);
  });

  test('block a claim by words: this is announced, and repeated to the next iteration', () => {
    const loop = running();
    const turn = loop.iterate(REFUSED);
    expect(turn.told[1]).toEqual({
      event: 'claim_held',
      iteration: 1,
      gate: 'refused-tools',
      detail: 'refused: Bash: npm test',
    });
    expect(loop.wait().addition).toContain(
      'complete was not accepted, because these tools were refused: Bash (npm test).',
    );
  });

  test('without a claim are named to the next iteration and do not stall the task', () => {
    const loop = running();
    const refused = [open];
    for (let iteration = 1; iteration < 5; iteration += 1) {
      const turn = loop.iterate(answered('Not yet.', { refused }));
      expect(turn.actions).toEqual(['task_iterated', 'wait']);
      expect(loop.wait().addition).toContain('\nThese tools were refused: Write (a.txt).');
    }
  });

  test('stall the task when a second claim in a row is blocked', () => {
    const loop = running();
    iterate(loop, REFUSED);
    const turn = loop.iterate(REFUSED);
    expect(turn.actions).toEqual(['task_iterated', 'claim_held', 'stop:stalled']);
    expect(turn.ending).toMatchObject({
      status: 'stalled',
      exitReason: 'refused',
      event: 'task_stalled',
      note: 'STALLED',
      evidence: null,
    });
    expect(turn.ending?.error).toContain('Bash: npm test');
  });

  test('stall before the iterations or the time are found to be over', () => {
    const last = running({ maxIterations: 2 });
    iterate(last, REFUSED);
    expect(last.iterate(REFUSED).ending?.status).toBe('stalled');
    const late = running({}, 10_000);
    iterate(late, REFUSED);
    expect(late.iterate({ ...REFUSED, durationMs: 60_000 }).ending?.status).toBe('stalled');
  });

  test.for<[name: string, between: AttemptFacts]>([
    ['an answer without a claim', WORK],
    ['a time-out', cut('iteration-timeout')],
  ])('are forgotten after %s', ([, between]) => {
    const loop = running();
    iterate(loop, REFUSED);
    iterate(loop, between);
    expect(iterate(loop, REFUSED).ending).toBeNull();
    expect(loop.iterate(REFUSED).ending?.status).toBe('stalled');
  });

  test('are not forgotten after a transient error between two claims', () => {
    const loop = running();
    iterate(loop, REFUSED);
    iterate(loop, OVERLOADED);
    expect(loop.iterate(REFUSED).ending?.status).toBe('stalled');
  });

  test('block only words: a file completes the task', () => {
    const loop = running(GLOBS);
    loop.attempt(REFUSED);
    expect(loop.look(MATCHED).ending?.evidence?.kind).toBe('watch-glob');
  });

  test('are named if they block the claim', () => {
    const made = Array.from({ length: 6 }, (_, index) =>
      refusedTool('Bash', `step ${index}`, true),
    );
    const loop = running();
    const first = loop.iterate(answered(TAG, { refused: [...made, open] }));
    expect(first.told[1]).toMatchObject({ detail: 'refused: Write: a.txt' });
    loop.wait();
    const second = loop.iterate(answered(TAG, { refused: [...made, open] }));
    expect(second.ending?.error).toMatch(/refused: Write: a\.txt$/);
  });
});

describe('the delay', () => {
  test('stands between iterations, and starts the next', () => {
    const loop = running({ delayMs: 7_000 });
    const turn = loop.iterate(WORK);
    expect(turn.waitMs).toBe(7_000);
    expect(turn.state.task.wait).toEqual({ kind: 'delay', until: laterBy(loop.now(), 7_000) });
    expect(turn.state.task.current_iteration).toBe(1);
    const next = loop.wait();
    expect(summary(next)).toBe('running, working: iteration_started start-agent 2.1');
    expect(next.state.task.wait).toBeNull();
  });

  test('does not follow the last iteration', () => {
    const loop = running({ maxIterations: 3, delayMs: 7_000 });
    iterate(loop);
    iterate(loop);
    const turn = loop.iterate(WORK);
    expect(turn.waitMs).toBeNull();
    expect(turn.ending).toMatchObject({
      status: 'max_iterations_reached',
      exitReason: 'max_iterations',
      event: 'max_iterations_reached',
      note: 'EXHAUSTED',
    });
    expect(turn.state.task.current_iteration).toBe(3);
    expect(turn.state.task.metrics.iterations).toBe(3);
  });

  test('counts against the time of the whole task', () => {
    const loop = running({ delayMs: 7_000 });
    const before = loop.state().task.timeout_at;
    iterate(loop);
    expect(loop.state().task.timeout_at).toBe(before);
  });

  test('of 0 is skipped', () => {
    const loop = running({ delayMs: 0, maxIterations: 3 });
    expect(loop.iterate(WORK).actions).toEqual([
      'task_iterated',
      'iteration_started',
      'start-agent 2.1',
    ]);
    expect(loop.state()).toMatchObject({ step: { kind: 'working' }, task: { wait: null } });
  });
});

describe('a transient error', () => {
  test('is tried again in the same iteration after a back-off, and counted as an attempt', () => {
    const loop = running();
    const turn = loop.attempt(OVERLOADED, 0.5);
    expect(turn.waitMs).toBe(750);
    expect(turn.told).toEqual([
      {
        event: 'agent_retry',
        iteration: 1,
        attempt: 1,
        by: 'ralph',
        status: 529,
        delay_ms: 750,
        error: 'API Error: 529 Overloaded.',
      },
    ]);
    expect(turn.state.task).toMatchObject({
      current_iteration: 1,
      attempt: 1,
      iterations: [],
      metrics: { iterations: 0 },
      wait: { kind: 'back-off', until: laterBy(loop.now(), 750) },
      errors: [
        {
          at: loop.now(),
          iteration: 1,
          attempt: 1,
          kind: 'transient',
          message: 'API Error: 529 Overloaded.',
        },
      ],
    });
    const next = loop.wait();
    expect(next.actions).toEqual(['iteration_started', 'start-agent 1.2']);
    expect(next.told).toMatchObject([{ event: 'iteration_started', iteration: 1, attempt: 2 }]);
    expect(next.state.task.wait).toBeNull();
  });

  test('doubles its back-off, then comes back every five minutes', () => {
    const loop = running({ retries: 11, maxWaitMs: 3_600_000 });
    const waits = Array.from({ length: 14 }, () => {
      const turn = loop.attempt(OVERLOADED, 0);
      loop.wait();
      return [turn.state.task.wait?.kind, turn.waitMs];
    });
    expect(waits).toEqual([
      ...[0.5, 1, 2, 4, 8, 16, 32, 64, 128, 150, 150].map((s) => ['back-off', s * 1_000]),
      ...Array.from({ length: 3 }, () => ['outage', 300_000]),
    ]);
    expect(loop.state().task).toMatchObject({ current_iteration: 1, attempt: 15 });
    expect(loop.state().task.errors.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 14 }, (_, index) => index + 1),
    );
  });

  test.for([
    [5, 6 * 3_600_000, 5, 72],
    [2, 3_600_000, 2, 12],
    [0, 600_000, 0, 2],
    [3, 299_999, 3, 0],
    [3, 0, 3, 0],
    [0, 0, 0, 0],
  ] as const)(
    'with %i retries and a longest wait of %i ms is tried %i times quickly, %i times slowly',
    ([retries, maxWaitMs, quick, slow]) => {
      const loop = running({ retries, maxWaitMs });
      const kinds: (string | undefined)[] = [];
      let turn = loop.iterate({ ...OVERLOADED, durationMs: 0 });
      while (turn.ending === null) {
        kinds.push(turn.state.task.wait?.kind);
        loop.wait();
        turn = loop.iterate({ ...OVERLOADED, durationMs: 0 });
      }
      expect(kinds.filter((kind) => kind === 'back-off')).toHaveLength(quick);
      expect(kinds.filter((kind) => kind === 'outage')).toHaveLength(slow);
      expect(turn.ending).toMatchObject({
        status: 'usage_limited',
        event: 'task_usage_limited',
        note: 'LIMITED',
        error: 'API Error: 529 Overloaded.',
      });
      expect(turn.state.task.metrics.iterations).toBe(0);
    },
  );

  test('counts the time of the attempts in an outage towards its longest wait', () => {
    const loop = running({ retries: 0, maxWaitMs: 900_000 });
    const slow = { ...OVERLOADED, durationMs: 200_000, retryWaitMs: 200_000 };
    loop.iterate(slow);
    loop.wait();
    expect(loop.iterate(slow).ending).toBeNull();
    loop.wait();
    expect(loop.iterate(slow).ending?.status).toBe('usage_limited');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', WORK],
    ['a failure', withoutReport(1)],
    ['a time-out', cut('iteration-timeout')],
  ])('is forgotten after %s', ([, facts]) => {
    const loop = running({ retries: 2 });
    for (let fault = 0; fault < 4; fault += 1) iterate(loop, OVERLOADED);
    expect(loop.state().task.attempt).toBe(5);
    iterate(loop, facts);
    expect(loop.state().task).toMatchObject({ current_iteration: 2, attempt: 1 });
    const turn = loop.attempt(OVERLOADED, 0);
    expect(turn.state.task.wait?.kind).toBe('back-off');
    expect(turn.waitMs).toBe(500);
    expect(turn.state.trouble).toMatchObject({ transientAttempts: 1, outageSince: null });
  });

  test('repeats the same prompt', () => {
    const loop = running();
    const second = iterate(loop, answered('Half of it. Go on?')).addition;
    expect(second).toContain('Half of it.');
    expect(iterate(loop, OVERLOADED).addition).toBe(second);
  });

  test('ends the task by time if there is no time left', () => {
    const loop = running({}, 10_000);
    const turn = loop.iterate({ ...OVERLOADED, durationMs: 10_000 });
    expect(summary(turn)).toBe('timeout, ended: stop:timeout');
  });

  test('on the last iteration is tried again too', () => {
    const loop = running({ maxIterations: 1 });
    expect(iterate(loop, OVERLOADED).actions).toEqual(['iteration_started', 'start-agent 1.2']);
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });
});

describe('a plan limit', () => {
  const limit = errorReport("You've hit your limit · resets 3pm (UTC)", 429, {
    rateLimit: {
      status: 'rejected',
      resetsAt: laterBy(START, 3_600_000),
      type: 'five_hour',
      utilization: 1,
    },
  });

  test('is not counted, and the same iteration is tried again', () => {
    const loop = running();
    const turn = loop.iterate(limit);
    expect(turn.ending).toBeNull();
    expect(turn.waitMs).toBeGreaterThan(0);
    expect(turn.state.task).toMatchObject({ current_iteration: 1, iterations: [] });
    expect(turn.state.task.errors).toMatchObject([{ kind: 'usage-limited' }]);
    expect(loop.wait().actions).toContain('start-agent 1.2');
  });

  test('that names no reset is waited for no longer than --max-wait, whatever the attempts print', () => {
    const loop = running({ maxWaitMs: 3_600_000 });
    const worked = errorReport("You've hit your monthly spend limit", 429, { worked: true });
    const waits: (number | null)[] = [];
    let turn = loop.iterate({ ...worked, durationMs: 1_000 });
    while (turn.ending === null && waits.length < 20) {
      waits.push(turn.waitMs);
      loop.wait();
      turn = loop.iterate({ ...worked, durationMs: 1_000 });
    }
    expect(turn.ending).toMatchObject({ status: 'usage_limited', exitReason: 'usage_limit' });
    expect(waits).toEqual([30, 60, 120, 240, 480, 960].map((seconds) => seconds * 1_000));
  });

  test('that names no reset is a new one once an attempt has worked for minutes', () => {
    const loop = running({ maxWaitMs: 200_000 });
    const limit = (durationMs: number) =>
      errorReport("You've hit your monthly spend limit", 429, { worked: true, durationMs });
    expect(loop.iterate(limit(1_000)).waitMs).toBe(30_000);
    loop.wait();
    expect(loop.iterate(limit(1_000)).waitMs).toBe(60_000);
    loop.wait();
    expect(loop.iterate(limit(300_000))).toMatchObject({ ending: null, waitMs: 30_000 });
  });

  test('ends the task at once if there is no waiting, and says until when', () => {
    const turn = running({ maxWaitMs: 0, retries: 0 }).iterate(limit);
    expect(turn.ending).toMatchObject({
      status: 'usage_limited',
      event: 'task_usage_limited',
      note: 'LIMITED',
      until: laterBy(START, 3_600_000),
    });
  });
});

describe('time in which no work was possible', () => {
  const moved = (loop: Loop): number =>
    msBetween(laterBy(START, 30 * 60_000), loop.state().task.timeout_at);

  test('moves the deadline on: a back-off, as long as it really took', () => {
    const loop = running();
    const turn = loop.attempt(OVERLOADED, 0);
    expect(moved(loop)).toBe(0);
    const next = loop.wait(10_000);
    expect(moved(loop)).toBe((turn.waitMs ?? 0) + 10_000);
    expect(next.state.task.timeout_at).toBe(loop.state().task.timeout_at);
  });

  test('moves the deadline on: an outage longer than the whole task', () => {
    const loop = running({ retries: 0 });
    for (let round = 0; round < 10; round += 1) iterate(loop, OVERLOADED);
    expect(moved(loop)).toBe(10 * 300_000);
    expect(loop.iterate(WORK).ending).toBeNull();
  });

  test('moves the deadline on: the agent’s own retries', () => {
    const loop = running();
    loop.iterate({ ...WORK, durationMs: 100_000, retryWaitMs: 60_000, retries: [retryFacts(529)] });
    expect(moved(loop)).toBe(60_000);
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', WORK],
    ['a time-out', cut('iteration-timeout')],
    ['a passing fault', OVERLOADED],
  ])('of the agent’s own retries lets the task continue after %s', ([, facts]) => {
    const loop = running({}, 100_000);
    const turn = loop.iterate({ ...facts, durationMs: 150_000, retryWaitMs: 60_000 });
    expect(turn.ending).toBeNull();
  });

  test('moves the deadline that the next attempt receives', () => {
    const loop = running();
    loop.attempt({ ...OVERLOADED, retryWaitMs: 5_000 }, 0);
    expect(loop.wait().deadlineAt).toBe(laterBy(START, 30 * 60_000 + 5_000 + 500));
  });

  test('moves the deadline on: a minute before the agent is checked again', () => {
    const loop = running();
    iterate(loop);
    iterate(loop, NO_LOGIN);
    expect(moved(loop)).toBe(60_000);
  });
});

describe('a fatal cause', () => {
  test.for<[cause: string, facts: AttemptFacts]>([
    ['agent-not-found', notFound()],
    ['not-logged-in', NO_LOGIN],
    ['no-credit', errorReport('Credit balance is too low', 400)],
    ['refused-request', errorReport('There is no such model', 404)],
    ['bad-option', withoutReport(1, "error: unknown option '--bogus'")],
    [
      'slash-command',
      attemptFacts({ result: resultFacts({ numTurns: 0, text: 'Unknown command: /x' }) }),
    ],
    ['root-refused', withoutReport(1, 'cannot be used with root/sudo privileges')],
  ])('%s stops at once, with a note', ([cause, facts]) => {
    const loop = running();
    const turn = loop.iterate(facts);
    expect(summary(turn)).toBe('failed, ended: stop:failed');
    expect(turn.ending).toMatchObject({
      status: 'failed',
      exitReason: `failed:${cause}`,
      event: 'task_failed',
      note: 'FAILED',
    });
    expect(turn.ending?.error).not.toBe('');
    expect(turn.state.task).toMatchObject({
      exit_reason: `failed:${cause}`,
      iterations: [],
      errors: [{ kind: `fatal:${cause}`, message: turn.ending?.error, iteration: 1, attempt: 1 }],
    });
  });

  test.for<[cause: string, facts: AttemptFacts]>([
    ['agent-not-found', notFound()],
    ['not-logged-in', NO_LOGIN],
    ['not-logged-in', errorReport('Invalid API key', 401)],
    [
      'not-logged-in',
      cut('hopeless-retries', { retries: [retryFacts(401), retryFacts(401)], endedInRetry: true }),
    ],
  ])(
    '%s after an answered iteration is tried again three times, a minute apart',
    ([cause, facts]) => {
      const loop = running();
      iterate(loop);
      for (let recheck = 1; recheck <= 3; recheck += 1) {
        const turn = loop.iterate(facts);
        expect(turn.waitMs).toBe(60_000);
        expect(turn.state.task.wait?.kind).toBe('recheck');
        expect(turn.told).toMatchObject([
          { event: 'agent_retry', iteration: 2, attempt: recheck, by: 'ralph', delay_ms: 60_000 },
        ]);
        expect(loop.wait().actions).toContain(`start-agent 2.${recheck + 1}`);
      }
      const turn = loop.iterate(facts);
      expect(turn.ending).toMatchObject({ status: 'failed', exitReason: `failed:${cause}` });
      expect(turn.state.task.metrics.iterations).toBe(1);
      expect(turn.state.task.errors).toHaveLength(4);
    },
  );

  test('is tried three times again after an iteration', () => {
    const loop = running();
    iterate(loop);
    for (let recheck = 1; recheck <= 3; recheck += 1) iterate(loop, NO_LOGIN);
    iterate(loop);
    for (let recheck = 1; recheck <= 3; recheck += 1) iterate(loop, NO_LOGIN);
    expect(loop.iterate(NO_LOGIN).ending?.status).toBe('failed');
  });

  test.for<[cause: string, facts: AttemptFacts]>([
    ['no-credit', errorReport('Credit balance is too low', 400)],
    ['bad-option', withoutReport(1, "error: unknown option '--bogus'")],
  ])('%s stops at once also after an answered iteration', ([cause, facts]) => {
    const loop = running();
    iterate(loop);
    expect(loop.iterate(facts).ending?.exitReason).toBe(`failed:${cause}`);
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['failed', withoutReport(1, 'boom')],
    ['timed out', cut('iteration-timeout')],
  ])('is not tried again if the iterations before only %s', ([, facts]) => {
    const loop = running();
    iterate(loop, facts);
    expect(loop.iterate(NO_LOGIN).ending?.status).toBe('failed');
  });

  test('is tried again however long ago the answer was', () => {
    const loop = running({ maxIterations: 200 }, 10 * 3_600_000);
    iterate(loop);
    for (let failed = 0; failed < 100; failed += 1) iterate(loop, withoutReport(1, 'boom'));
    expect(loop.iterate(NO_LOGIN).ending).toBeNull();
  });
});

describe('the time of the whole task', () => {
  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', WORK],
    ['a time-out', cut('iteration-timeout')],
    ['a failure', withoutReport(1)],
  ])('is over after %s that ends at its very end', ([, facts]) => {
    for (const delayMs of [0, 2_000]) {
      const turn = running({ delayMs }, 10_000).iterate({ ...facts, durationMs: 10_000 });
      expect(turn.ending).toEqual({
        status: 'timeout',
        exitReason: 'timeout',
        event: 'task_timeout',
        note: 'TIMEOUT',
        evidence: null,
        error: null,
        until: null,
      });
      expect(turn.state.task.metrics.iterations).toBe(1);
    }
  });

  test('is over before the iterations are', () => {
    const turn = running({ maxIterations: 1 }, 10_000).iterate({ ...WORK, durationMs: 10_000 });
    expect(turn.ending?.status).toBe('timeout');
  });

  test('is not over a millisecond before its end', () => {
    const loop = running({ delayMs: 0 }, 10_000);
    expect(loop.iterate({ ...WORK, durationMs: 9_999 }).ending).toBeNull();
  });

  test('is not waited for in a delay: nothing could follow it', () => {
    const loop = running({ delayMs: 5_000 }, 10_000);
    const turn = loop.iterate({ ...WORK, durationMs: 6_000 });
    expect(summary(turn)).toBe('timeout, ended: task_iterated stop:timeout');
    expect(turn.state.task).toMatchObject({ current_iteration: 1, wait: null });
  });

  test('can pass during a delay that lasts longer than it should: then nothing is started', () => {
    const loop = running({ delayMs: 5_000 }, 13_000);
    loop.iterate({ ...WORK, durationMs: 6_000 });
    const turn = loop.wait(3_000);
    expect(summary(turn)).toBe('timeout, ended: stop:timeout');
    expect(turn.state.task.current_iteration).toBe(1);
  });

  test('that the agent met counts the iteration', () => {
    const turn = running().iterate(cut('task-timeout'));
    expect(turn.state.task).toMatchObject({
      status: 'timeout',
      iterations: [{ number: 1, outcome: 'timed-out' }],
    });
  });
});

describe('a request to stop', () => {
  const steps: readonly [name: string, reach: (loop: Loop) => void, next: (loop: Loop) => Turn][] =
    [
      ['while the agent works', () => {}, (loop) => loop.iterate(cut('stop-requested'))],
      [
        'during a delay',
        (loop) => {
          loop.attempt(WORK);
          loop.look(NOTHING_SEEN);
        },
        (loop) => loop.wait(-1_500),
      ],
      ['during a back-off', (loop) => loop.iterate(OVERLOADED), (loop) => loop.wait(-200)],
      [
        'before the agent is looked for again',
        (loop) => {
          loop.attempt(WORK);
          loop.look(NOTHING_SEEN);
          loop.wait();
          loop.iterate(NO_LOGIN);
        },
        (loop) => loop.wait(-30_000),
      ],
    ];

  test.for(steps)('%s', ([, reach, next]) => {
    for (const by of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const loop = running(GLOBS);
      reach(loop);
      const before = loop.state().task;
      expect(loop.stop(by).actions).toEqual([]);
      const turn = next(loop);
      expect(turn.ending).toEqual({
        status: 'stopped',
        exitReason: `stopped:${by}`,
        event: 'task_stopped',
        note: null,
        evidence: null,
        error: null,
        until: null,
      });
      expect(turn.actions).toEqual(['stop:stopped']);
      expect(turn.state.task).toMatchObject({
        status: 'stopped',
        exit_reason: `stopped:${by}`,
        wait: null,
        // Until it is told.
        driver: before.driver,
        finished_at: loop.now(),
        current_iteration: before.current_iteration,
        attempt: before.attempt,
        iterations: before.iterations,
      });
    }
  });

  test.for<[name: string, changes: Partial<Policy>]>([
    ['with a delay to come', {}],
    ['with no delay to come', { delayMs: 0 }],
  ])('lets an answer count, %s', ([, changes]) => {
    const loop = running(changes);
    loop.stop('SIGINT');
    const turn = loop.iterate(WORK);
    expect(turn.actions).toEqual(['task_iterated', 'stop:stopped']);
    expect(turn.state.task).toMatchObject({
      current_iteration: 1,
      iterations: [{ number: 1, outcome: 'answered' }],
    });
  });

  test.for<[name: string, facts: AttemptFacts, sightings: Sightings]>([
    ['the promise', DONE, NOTHING_SEEN],
    ['a match', WORK, MATCHED],
    ['a moved file', WORK, MOVED],
  ])('lets an answer complete the task by %s', ([, facts, sightings]) => {
    const early = running(GLOBS);
    early.stop('SIGINT');
    early.attempt(facts);
    expect(early.look(sightings).ending?.status).toBe('completed');
    const late = running(GLOBS);
    late.attempt(facts);
    late.stop('SIGINT');
    expect(late.look(sightings).ending?.status).toBe('completed');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['completed', DONE],
    ['failed', NO_LOGIN],
    ['out of time', cut('task-timeout')],
  ])('changes nothing after the task has %s', ([, facts]) => {
    const loop = running();
    const ended = loop.iterate(facts);
    const turn = loop.stop('SIGINT');
    expect(turn.actions).toEqual([]);
    expect(turn.state.task).toEqual(ended.state.task);
  });

  test('leaves the cut attempt out of the count, but not its cost', () => {
    const loop = running();
    const usage = { cost_usd: 0.5, input_tokens: 5, output_tokens: 1 };
    loop.stop('SIGINT');
    const turn = loop.iterate(cut('stop-requested', { usage, sessionId: 'session-2' }));
    expect(turn.state.task).toMatchObject({
      iterations: [],
      errors: [],
      usage,
      session_id: 'session-2',
    });
  });
});

describe('an event out of place', () => {
  test.for<[name: string, (loop: Loop) => Turn]>([
    ['a look while the agent works', (loop) => loop.look(MATCHED)],
    ['the end of a wait while the agent works', (loop) => loop.wait()],
  ])('%s changes nothing', ([, hand]) => {
    const loop = running();
    const before = loop.state();
    const turn = hand(loop);
    expect(turn.actions).toEqual([]);
    expect(turn.state).toEqual(before);
  });
});

describe('what the state stores', () => {
  const usage = (cents: number) => ({
    cost_usd: cents / 4,
    input_tokens: cents * 100,
    output_tokens: cents * 10,
  });

  test('the usage of the task and of an iteration includes all their attempts', () => {
    const loop = running();
    iterate(loop, { ...OVERLOADED, usage: usage(1) });
    iterate(loop, { ...OVERLOADED, usage: usage(2) });
    iterate(loop, { ...WORK, usage: usage(4) });
    iterate(loop, { ...WORK, usage: usage(8) });
    iterate(loop, { ...cut('iteration-timeout'), usage: usage(16) });
    expect(loop.state().task.iterations).toMatchObject([usage(7), usage(8), usage(16)]);
    expect(loop.state().task.usage).toEqual(usage(31));
  });

  test('the cost of a fatal attempt counts, too', () => {
    const loop = running();
    expect(loop.iterate({ ...NO_LOGIN, usage: usage(3) }).state.task.usage).toEqual(usage(3));
  });

  test('an iteration is recorded and announced with all its facts', () => {
    const loop = running();
    const startedAt = loop.now();
    const turn = loop.iterate(
      answered('First line.\n\u001b[31mSecond\u001b[0m line.', {
        durationMs: 12_000,
        turns: 3,
        tools: 7,
        refused: [refusedTool('Bash', 'npm\ntest'), refusedTool('WebSearch', '', true)],
      }),
    );
    const record = {
      started_at: startedAt,
      duration_ms: 12_000,
      outcome: 'answered',
      exit_code: 0,
      completed: false,
      near_miss: false,
      cost_usd: 0.01,
      input_tokens: 100,
      output_tokens: 10,
      turns: 3,
      tools: 7,
      refused: ['Bash: npm test', 'WebSearch'],
      files_changed: null,
      output_preview: 'First line. Second line.',
    };
    expect(turn.state.task.iterations).toEqual([{ number: 1, ...record }]);
    expect(turn.told[0]).toEqual({
      event: 'task_iterated',
      iteration: 1,
      ...record,
      detail: 'answered',
    });
    expect(turn.state.task.metrics).toMatchObject({ iterations: 1, api_calls: 3 });
    expect(turn.state.task.session_id).toBe('session-1');
  });

  test('texts of the agent are limited in length', () => {
    const long = 'x'.repeat(10_000);
    const refused = Array.from({ length: 50 }, () => refusedTool('Bash', long));
    const loop = running();
    const { state, told } = loop.iterate(answered(`${long} ${TAG} is not due`, { refused }));
    const [record] = state.task.iterations;
    expect(record?.output_preview.length).toBe(200);
    expect(record?.refused).toHaveLength(5);
    expect(record?.refused.every((one) => one.length <= 120)).toBe(true);
    expect(JSON.stringify(told).length).toBeLessThan(5_000);
    loop.wait();
    const failed = loop.iterate(withoutReport(1, long));
    expect(failed.state.task.errors.at(-1)?.message.length).toBeLessThanOrEqual(300);
  });

  test.for<[name: string, facts: AttemptFacts, output: string]>([
    ['an answer', WORK, 'I did a part of it.'],
    ['a cut one', cut('iteration-timeout', { finalMessage: 'The last.' }), 'half of the work'],
    ['one without a message', withoutReport(1, '', { partialOutput: 'some of it' }), 'some of it'],
  ])('the output of %s is in the next prompt', ([, facts, output]) => {
    const loop = running();
    expect(loop.iterate(facts).state.task.iterations).toMatchObject([{ output_preview: output }]);
    expect(loop.wait().addition).toContain(`=====\n${output}\n=====`);
  });

  test('of a cut iteration, the next prompt says that it was cut', () => {
    const words = 'what the previous iteration wrote before it was cut off';
    expect(iterate(running(), cut('iteration-timeout')).addition).toContain(words);
    expect(iterate(running(), withoutReport(1, '', { partialOutput: 'x' })).addition).not.toContain(
      words,
    );
  });

  test('the final message is that of the last iteration', () => {
    const loop = running();
    iterate(loop, WORK);
    expect(loop.state().finalMessage).toBe('I did a part of it.');
    iterate(loop, OVERLOADED);
    expect(loop.state().finalMessage).toBe('I did a part of it.');
    iterate(loop, withoutReport(1));
    expect(loop.state().finalMessage).toBeNull();
  });

  test.for<[name: string, facts: AttemptFacts, kind: string | null]>([
    ['an answer', WORK, null],
    ['a time-out', cut('iteration-timeout'), 'timed-out'],
    ['a failure', withoutReport(1, 'boom'), 'errored'],
    ['a passing fault', OVERLOADED, 'transient'],
    ['its own bound', attemptFacts({ result: resultFacts({ subtype: 'error_max_turns' }) }), null],
  ])('%s leaves its error', ([, facts, kind]) => {
    const { errors } = running().iterate(facts).state.task;
    expect(errors.map((error) => error.kind)).toEqual(kind === null ? [] : [kind]);
  });

  test('after a question the prompt says that nobody answers, unless the agent was cut', () => {
    const asked = running();
    expect(iterate(asked, answered('Shall I go on? ')).addition).toContain('ended in a question');
    const broken = running();
    const facts = cut('iteration-timeout', { finalMessage: 'Shall I go on?' });
    expect(iterate(broken, facts).addition).not.toContain('ended in a question');
  });

  test('the time of each event is the time of the state', () => {
    const loop = running();
    for (const turn of [loop.iterate(WORK), loop.wait(), loop.iterate(OVERLOADED), loop.wait(5)]) {
      expect(turn.state.task.updated_at <= loop.now()).toBe(true);
    }
    expect(loop.state().task.updated_at).toBe(loop.now());
  });
});
