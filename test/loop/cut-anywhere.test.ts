import { describe, expect, test } from 'vitest';
import { NOTHING_SEEN } from '../../src/core/completion/sightings.ts';
import type { LoopEvent } from '../../src/core/machine/loop-event.ts';
import type { LoopState } from '../../src/core/machine/loop-state.ts';
import { initialState } from '../../src/core/machine/transition.ts';
import type { Policy } from '../../src/core/task/policy.ts';
import { lastWorkAt, laterBy, msBetween } from '../../src/core/task/task-state.ts';
import { runLoop } from '../../src/loop/run-loop.ts';
import type { RunEnd } from '../../src/loop/stop.ts';
import { answered, cut, errorReport, withoutReport } from '../helpers/attempt-facts.ts';
import { checks } from '../helpers/checks.ts';
import { type FakePorts, fakePorts, type Script } from '../helpers/fake-ports.ts';
import {
  DONE,
  GONE,
  LIMITED,
  MATCHED,
  NO_LOGIN,
  REFUSED,
  TAG,
  WORK,
} from '../helpers/loop-events.ts';
import { A_DAY_MS } from '../helpers/loop-in-hand.ts';
import { loopPolicy } from '../helpers/loop-policy.ts';
import { newTask, START } from '../helpers/new-task.ts';

/*
 * A run is cut behind each of its saves, as by kill -9: all is gone but what was saved. A day later
 * another driver takes the task up, in a world that answers as it would have answered the first. Both
 * must come to the same end.
 */

const USAGE = { cost_usd: 0.25, input_tokens: 7, output_tokens: 3 };
const PROGRESS = answered('<progress done="2" total="4">half of it</progress>');
const NEAR = answered(`I will say ${TAG} soon.`);
const DOUBT = answered(`${TAG}\nSummary: two files changed.`);
const OVERLOADED = errorReport('API Error: 529 Overloaded.', 529, { usage: USAGE });
const UNREACHABLE = errorReport('API Error: 529 Overloaded.', 529);
const BOOM = withoutReport(1, 'boom');
const LATE = cut('iteration-timeout', { usage: USAGE });
const NO_BUDGET_FLAG = withoutReport(1, "error: unknown option '--max-budget-usd'");
const FAILED = { command: 'npm test', exitCode: 1, timedOut: false, output: '1 test failed' };
const PASSED = { ...FAILED, exitCode: 0, output: '' };
const IDLE = { ...NOTHING_SEEN, progress: { git: { commits: 0, filesChanged: 0 }, watched: null } };
const MOVED = {
  ...NOTHING_SEEN,
  progress: { git: { commits: 1, filesChanged: 2 }, watched: null },
};
const HINT = 'Use npm, not yarn.';

type World = Required<
  Pick<Script, 'attempts' | 'sightings' | 'verified' | 'settlements' | 'hints'>
>;

interface Scenario {
  readonly name: string;
  readonly policy: Partial<Policy>;
  readonly world: Pick<Script, 'attempts'> & Partial<World>;
  readonly status: string;
  readonly iterations: number;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'of every kind of turn',
    policy: {
      watchGlobs: ['out/*.md'],
      verify: checks('npm test'),
      after: './sync',
      confirm: 2,
      session: 'continue',
      maxIterations: 20,
      noProgressLimit: 5,
      sameErrorLimit: 3,
    },
    world: {
      attempts: [
        PROGRESS,
        OVERLOADED,
        NEAR,
        LIMITED,
        LATE,
        BOOM,
        DONE,
        NO_LOGIN,
        REFUSED,
        DONE,
        DONE,
      ],
      sightings: [MOVED, IDLE, IDLE, IDLE, MOVED, IDLE, IDLE, IDLE],
      verified: [FAILED, FAILED, PASSED, PASSED],
      hints: [[], [], [], [HINT]],
    },
    status: 'completed',
    iterations: 8,
  },
  {
    name: 'without a step between the iterations',
    policy: { delayMs: 0 },
    world: { attempts: [WORK, BOOM, OVERLOADED, NEAR, DONE], hints: [[], [], [HINT]] },
    status: 'completed',
    iterations: 4,
  },
  {
    name: 'whose work is committed and taken back',
    policy: { commit: true, revertFailed: true, after: './sync' },
    world: {
      attempts: [WORK, LATE, BOOM, DONE],
      settlements: [
        { kind: 'refused', why: 'git commit ended with 1', output: 'no tabs' },
        { kind: 'reverted', files: 1, kept: [], diff: '+a' },
        { kind: 'nothing' },
        { kind: 'committed', commit: 'c0ffee', branch: 'work', files: 2 },
      ],
    },
    status: 'completed',
    iterations: 4,
  },
  {
    name: 'with questions asked back',
    policy: { verify: checks('npm test'), session: 'continue' },
    world: {
      attempts: [DOUBT, WORK, DOUBT, LIMITED, DOUBT, DONE, DOUBT, DONE],
      verified: [FAILED, PASSED],
    },
    status: 'completed',
    iterations: 4,
  },
  {
    name: 'completed by a file',
    policy: { watchGlobs: ['out/*.md'], after: './sync' },
    world: { attempts: [WORK, LATE, WORK], sightings: [NOTHING_SEEN, MATCHED, MATCHED] },
    status: 'completed',
    iterations: 3,
  },
  {
    name: 'completed by a signal',
    policy: { signals: ['ALL QUIET'] },
    world: {
      attempts: [answered('ALL QUIET'), WORK, answered('ALL QUIET'), answered('ALL QUIET')],
    },
    status: 'completed',
    iterations: 4,
  },
  {
    name: 'exhausted',
    policy: { maxIterations: 3, after: './sync' },
    world: { attempts: [WORK, OVERLOADED, WORK, WORK] },
    status: 'max_iterations_reached',
    iterations: 3,
  },
  {
    name: 'out of time',
    policy: {},
    world: { attempts: [WORK, OVERLOADED, cut('task-timeout', { usage: USAGE })] },
    status: 'timeout',
    iterations: 2,
  },
  {
    name: 'out of money',
    policy: { maxCostUsd: 0.27 },
    world: { attempts: [WORK, OVERLOADED, WORK] },
    status: 'budget_spent',
    iterations: 2,
  },
  {
    name: 'with a budget of the day',
    policy: { maxCostPerDay: 5 },
    world: { attempts: [WORK, OVERLOADED, WORK, DONE] },
    status: 'completed',
    iterations: 3,
  },
  {
    name: 'with an agent that does not know its budget',
    policy: { maxCostUsd: 2 },
    world: { attempts: [NO_BUDGET_FLAG, WORK, DONE] },
    status: 'completed',
    iterations: 2,
  },
  {
    name: 'stalled without progress',
    policy: { noProgressLimit: 3 },
    world: { attempts: [WORK, WORK, OVERLOADED, WORK, WORK], sightings: [MOVED, IDLE, IDLE, IDLE] },
    status: 'stalled',
    iterations: 4,
  },
  {
    name: 'stalled by one error',
    policy: { sameErrorLimit: 2 },
    world: { attempts: [BOOM, WORK, BOOM, BOOM], sightings: [IDLE, MOVED, IDLE, IDLE] },
    status: 'stalled',
    iterations: 4,
  },
  {
    name: 'stalled by refused tools',
    policy: { after: './sync' },
    world: { attempts: [REFUSED, WORK, REFUSED, REFUSED] },
    status: 'stalled',
    iterations: 4,
  },
  {
    name: 'failed for want of a login',
    policy: {},
    world: { attempts: [WORK, NO_LOGIN, NO_LOGIN, NO_LOGIN, NO_LOGIN] },
    status: 'failed',
    iterations: 1,
  },
  {
    name: 'aborted',
    policy: { abortPromise: 'CANNOT BE DONE', after: './sync' },
    world: { attempts: [WORK, answered('CANNOT BE DONE')] },
    status: 'failed',
    iterations: 2,
  },
  {
    name: 'that outlasts an outage',
    policy: { retries: 1, maxWaitMs: 20 * 60_000 },
    world: { attempts: [WORK, OVERLOADED, OVERLOADED, OVERLOADED, OVERLOADED, DONE] },
    status: 'completed',
    iterations: 2,
  },
  {
    name: 'that does not outlast an outage',
    policy: { retries: 1, maxWaitMs: 20 * 60_000 },
    world: { attempts: [WORK, ...Array.from({ length: 40 }, () => UNREACHABLE)] },
    status: 'usage_limited',
    iterations: 1,
  },
  {
    name: 'that meets its limit again and again',
    policy: {},
    world: { attempts: [LIMITED, LIMITED, DONE] },
    status: 'completed',
    iterations: 1,
  },
  {
    name: 'whose session is gone',
    policy: { session: 'continue' },
    world: { attempts: [WORK, GONE, WORK, DONE] },
    status: 'completed',
    iterations: 3,
  },
];

/** What is thrown where the driver dies. */
class Killed extends Error {}

/** Where a driver begins, and how much of the world's answers is used up by then. */
interface Beginning {
  readonly state: LoopState;
  readonly event: LoopEvent;
  readonly used: Readonly<Record<keyof World, number>>;
}

function firstDriver(policy: Policy): Beginning {
  return {
    state: initialState(newTask(policy)),
    event: { kind: 'started', at: START, prompt: 'Fix the tests.' },
    used: { attempts: 0, sightings: 0, verified: 0, settlements: 0, hints: 0 },
  };
}

/** Runs one driver, which dies behind its n-th save if it gets that far. */
async function drive(
  { world }: Scenario,
  policy: Policy,
  { state, event, used }: Beginning,
  diesAfter: number | null,
): Promise<{ readonly fake: FakePorts; readonly end: RunEnd | null }> {
  const fake = fakePorts({
    attempts: world.attempts.slice(used.attempts),
    sightings: (world.sightings ?? []).slice(used.sightings),
    verified: (world.verified ?? []).slice(used.verified),
    settlements: (world.settlements ?? []).slice(used.settlements),
    hints: (world.hints ?? []).slice(used.hints),
    from: event.at,
    on: (effect, { saved }) => {
      if (effect.startsWith('save') && saved.length === diesAfter) throw new Killed();
    },
  });
  try {
    return { fake, end: await runLoop(fake.ports, state, event, policy) };
  } catch (error) {
    if (error instanceof Killed) return { fake, end: null };
    throw error;
  }
}

/** The next driver, a day after the last save of a dead one. */
function nextDriver(fake: FakePorts, policy: Policy, before: Beginning): Beginning {
  const last = fake.saved.at(-1);
  if (last === undefined) throw new Error('nothing was saved');
  // What the files hold: JSON, without what people had asked of the dead driver.
  const kept: LoopState = JSON.parse(
    JSON.stringify({ ...last, stopRequested: null, pauseRequested: false }),
  );
  const at = laterBy(last.task.updated_at, A_DAY_MS);
  const { driver } = newTask(policy);
  const count = (word: string): number =>
    fake.effects.filter((effect) => effect.startsWith(word)).length;
  return {
    state: { ...kept, task: { ...kept.task, driver: driver && { ...driver, beat_at: at } } },
    event: {
      kind: 'resumed',
      at,
      timeLeftMs: msBetween(lastWorkAt(last.task), last.task.timeout_at),
      lost: null,
    },
    used: {
      attempts: before.used.attempts + count('run agent'),
      sightings: before.used.sightings + count('look'),
      verified: before.used.verified + count('verify'),
      settlements: before.used.settlements + count('commit') + count('revert'),
      hints: before.used.hints + fake.saved.length,
    },
  };
}

/** What must be the same at the end, however often the driver died. */
function outcome({ state, fields }: RunEnd) {
  const { task } = state;
  return {
    status: task.status,
    exitReason: task.exit_reason,
    exitCode: fields.exit_code,
    evidence: [task.evidence, fields.evidence],
    iterations: task.iterations.map(({ started_at, ...record }) => record),
    counted: [task.metrics.iterations, fields.iterations_used, task.current_iteration],
    apiCalls: task.metrics.api_calls,
    usage: [task.usage, fields.usage],
    errors: [
      ...new Set(
        task.errors.map(({ iteration, kind, message }) => `${iteration} ${kind} ${message}`),
      ),
    ],
    progress: task.progress,
    breaker: task.breaker,
    session: task.session_id,
    uncommitted: state.streaks.uncommitted ?? 0,
    finalMessage: fields.final_message,
  };
}

/** What is left of the time for the whole task, in milliseconds. */
function timeLeft({ state: { task } }: RunEnd): number {
  return msBetween(task.finished_at ?? '', task.timeout_at);
}

function isToldOfHint(fakes: readonly FakePorts[]): boolean {
  return fakes
    .flatMap(({ requests }) => requests)
    .some(({ prompt }) => new TextDecoder().decode(prompt).includes(HINT));
}

/** Whether going on with what has ended so comes to the same end at once. */
function endsAgain(status: string): boolean {
  return ['completed', 'max_iterations_reached', 'budget_spent'].includes(status);
}

function expectEveryIterationOnce({ saved }: FakePorts): void {
  for (const { task } of saved) {
    expect(task.iterations.map(({ number }) => number)).toEqual(
      Array.from({ length: task.metrics.iterations }, (_, index) => index + 1),
    );
  }
}

describe.for(SCENARIOS)('a run $name', (scenario) => {
  const policy = loopPolicy(scenario.policy);

  async function undisturbed(): Promise<{ readonly fake: FakePorts; readonly end: RunEnd }> {
    const { fake, end } = await drive(scenario, policy, firstDriver(policy), null);
    if (end === null) throw new Error('nobody kills it');
    return { fake, end };
  }

  /** From its beginning to its end, each driver but the last dying behind so many of its saves. */
  async function disturbed(deaths: Iterable<number>) {
    const fakes: FakePorts[] = [];
    let beginning = firstDriver(policy);
    for (const diesAfter of deaths) {
      const { fake, end } = await drive(scenario, policy, beginning, diesAfter);
      fakes.push(fake);
      expectEveryIterationOnce(fake);
      if (end !== null) return { fakes, end };
      beginning = nextDriver(fake, policy, beginning);
    }
    const { fake, end } = await drive(scenario, policy, beginning, null);
    if (end === null) throw new Error('nobody kills it');
    return { fakes: [...fakes, fake], end };
  }

  function expectSameEnd(end: RunEnd, whole: RunEnd): void {
    expect(outcome(end)).toEqual(outcome(whole));
    // An outage may begin anew with each driver; else no time is lost, and none is won but by the
    // delays that nobody sat through.
    const won = timeLeft(end) - timeLeft(whole);
    expect(won).toBeGreaterThanOrEqual(scenario.status === 'usage_limited' ? -3_600_000 : 0);
    expect(won).toBeLessThanOrEqual(policy.delayMs * scenario.iterations);
  }

  test('reaches the intended end', async () => {
    const { fake, end } = await undisturbed();
    expect(end.fields).toMatchObject({
      status: scenario.status,
      iterations_used: scenario.iterations,
    });
    expect(isToldOfHint([fake])).toBe((scenario.world.hints ?? []).flat().includes(HINT));
  });

  test('reaches the same end wherever it is cut', async () => {
    const whole = await undisturbed();
    const saves = whole.fake.saved.length - (endsAgain(scenario.status) ? 0 : 1);
    expect(saves).toBeGreaterThan(0);
    for (let diesAfter = 1; diesAfter <= saves; diesAfter += 1) {
      const { fakes, end } = await disturbed([diesAfter]);
      expect(fakes).toHaveLength(2);
      expectSameEnd(end, whole.end);
      expect(isToldOfHint(fakes)).toBe(isToldOfHint([whole.fake]));
    }
  });

  test('reaches the same end if each driver dies soon, or at once', async () => {
    const whole = await undisturbed();
    // A driver that gets no further than its first save comes no further; every other one does.
    const { fakes, end } = await disturbed(onceAndTwice(whole.fake.saved));
    expect(fakes.length).toBeGreaterThanOrEqual(whole.fake.saved.length - 1);
    expectSameEnd(end, whole.end);
  });

  /** 1, 2, 1, 2, … up to the last save but one of the undisturbed run, if the end is not to be cut. */
  function* onceAndTwice(saved: readonly LoopState[]): Generator<number> {
    const steps = saved.length - (endsAgain(scenario.status) ? 1 : 2);
    for (let step = 0; step < steps; step += 1) {
      yield 1;
      yield 2;
    }
  }
});
