import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import type { Hint } from '../../../src/core/prompt/hints.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy, msBetween } from '../../../src/core/task/task-state.ts';
import { answered, cut, errorReport, withoutReport } from '../../helpers/attempt-facts.ts';
import { DONE, type Loop, nonstop, OVERLOADED, WORK } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';
import { START } from '../../helpers/new-task.ts';

const HOUR = 3_600_000;

/** By how much the deadline of the whole task has moved on. */
function moved(loop: Loop): number {
  return msBetween(laterBy(START, 30 * 60_000), loop.state().task.timeout_at);
}

/** A plan limit that tells its reset by an event, met in no time. */
function limited(resetsAt: string | null, changes: Partial<AttemptFacts> = {}): AttemptFacts {
  const rateLimit = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };
  return errorReport("You've hit your limit", 429, { durationMs: 0, rateLimit, ...changes });
}

describe('a plan limit', () => {
  test('is announced with its instant, waited for, and not counted', () => {
    const loop = nonstop();
    const turn = loop.iterate(limited(laterBy(START, HOUR)));
    expect(turn.told).toEqual([
      { event: 'usage_limit_wait', iteration: 1, until: laterBy(START, HOUR + 1_000) },
    ]);
    expect(turn.state.task.wait).toEqual({
      kind: 'usage-limit',
      until: laterBy(START, HOUR + 1_000),
    });
    loop.wait();
    const ended = loop.iterate(DONE);
    expect(ended.ending?.status).toBe('completed');
    expect(ended.state.task.iterations).toMatchObject([{ number: 1 }]);
    expect(ended.state.task.metrics.iterations).toBe(1);
  });

  test('of which nobody knows the reset says that its wait is a guess', () => {
    const loop = nonstop();
    const until = laterBy(START, 30_000);
    const { task } = loop.iterate(limited(null)).state;
    expect(task.wait).toEqual({ kind: 'usage-limit', until, is_guess: true });
    loop.wait();
    // A reset that does not hold is none.
    expect(loop.iterate(limited(laterBy(loop.now(), 1))).state.task.wait?.is_guess).toBe(true);
    loop.wait();
    const known = loop.iterate(limited(laterBy(loop.now(), HOUR))).state.task.wait;
    expect(known).not.toHaveProperty('is_guess');
  });

  test('that lasts longer than the whole task does not end it by time', () => {
    const loop = nonstop({}, 600_000);
    loop.iterate(limited(laterBy(START, 5 * HOUR)));
    loop.wait();
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });

  test('is waited for up to the longest wait, its margin included, and not a millisecond more', () => {
    const maxWaitMs = 2 * HOUR;
    const resetsAt = laterBy(START, maxWaitMs - 1_000);
    expect(nonstop({ maxWaitMs }).iterate(limited(resetsAt)).ending).toBeNull();
    const later = laterBy(resetsAt, 1);
    expect(nonstop({ maxWaitMs }).iterate(limited(later)).ending).toMatchObject({
      status: 'usage_limited',
      exitReason: 'usage_limit',
      note: 'LIMITED',
      until: later,
    });
  });

  test('that is met again at once is waited for longer each time, within the longest wait', () => {
    const loop = nonstop({ maxWaitMs: 2 * HOUR });
    const waits: number[] = [];
    let turn = loop.iterate(limited(laterBy(loop.now(), 1)));
    while (turn.ending === null && waits.length < 100) {
      waits.push(turn.waitMs ?? 0);
      loop.wait();
      turn = loop.iterate(limited(laterBy(loop.now(), 1)));
    }
    expect(waits.slice(0, 4)).toEqual([1_001, 30_000, 60_000, 120_000]);
    expect(waits.length).toBeLessThan(12);
    expect(turn.ending?.status).toBe('usage_limited');
  });

  test('of an attempt that had produced output is a new one', () => {
    const usage = { cost_usd: 1, input_tokens: 10, output_tokens: 10 };
    const loop = nonstop();
    for (let round = 0; round < 4; round += 1) {
      const turn = loop.iterate(limited(laterBy(loop.now(), 5 * HOUR), { usage }));
      expect(turn.waitMs).toBe(5 * HOUR + 1_000);
      loop.wait();
    }
  });

  test('is forgotten after an iteration', () => {
    const loop = nonstop();
    loop.iterate(limited(null));
    loop.wait();
    loop.iterate(WORK);
    expect(loop.iterate(limited(null)).waitMs).toBe(30_000);
  });

  test('is announced without a reset time if none is known', () => {
    expect(nonstop({ maxWaitMs: 0 }).iterate(limited(null)).ending).toMatchObject({
      status: 'usage_limited',
      until: null,
    });
  });

  test('is not assumed because an answer mentions limits', () => {
    const words =
      'Fixed the 429 handler; "usage limit reached" is now shown; not logged in users are redirected';
    const loop = nonstop();
    expect(loop.iterate(answered(words)).actions).toContain('start-agent 2.1');
    expect(loop.iterate(answered(`${words}.\n<promise>DONE</promise>`)).ending?.status).toBe(
      'completed',
    );
  });
});

describe('the account’s usage', () => {
  const used = (utilization: number | null) =>
    answered('Part of it.', {
      rateLimit: { status: 'allowed_warning', resetsAt: null, type: 'five_hour', utilization },
    });

  test.for<[utilization: number | null, maxUsagePercent: number | null, ends: boolean]>([
    [0.8, 80, true],
    [0.81, 80, true],
    [0.79, 80, false],
    [null, 80, false],
    [1, null, false],
    [1, 100, true],
  ])('%s with at most %s %%', ([utilization, maxUsagePercent, ends]) => {
    const { ending } = nonstop({ maxUsagePercent }).iterate(used(utilization));
    expect(ending?.exitReason ?? null).toBe(ends ? 'max_usage' : null);
    if (ends) expect(ending?.error).toContain(`--max-usage is ${maxUsagePercent}`);
  });

  test('does not prevent completion', () => {
    const facts = { ...used(0.9), finalMessage: '<promise>DONE</promise>' };
    expect(nonstop({ maxUsagePercent: 80 }).iterate(facts).ending?.status).toBe('completed');
  });
});

describe('the budget', () => {
  const costing = (facts: AttemptFacts, cost_usd: number): AttemptFacts => ({
    ...facts,
    usage: { cost_usd, input_tokens: 0, output_tokens: 0 },
  });
  const UNKNOWN = withoutReport(1, "error: unknown option '--max-budget-usd'");

  test('is passed to the agent: what all earlier attempts have left of it', () => {
    const loop = loopInHand({ maxCostUsd: 2, delayMs: 0 });
    expect(loop.start().agent?.budgetUsd).toBe(2);
    loop.attempt(costing(OVERLOADED, 0.25));
    expect(loop.wait().agent?.budgetUsd).toBe(1.75);
    expect(loop.iterate(costing(WORK, 0.5)).agent?.budgetUsd).toBe(1.25);
    expect(loop.iterate(costing(cut('iteration-timeout'), 1)).agent?.budgetUsd).toBe(0.25);
    // Nothing is no budget to the agent.
    expect(loop.iterate(costing(WORK, 0.2499)).agent?.budgetUsd).toBe(0.01);
    const { ending } = loop.iterate(costing(WORK, 0.01));
    expect(ending).toMatchObject({
      status: 'budget_spent',
      exitReason: 'budget',
      event: 'task_budget_spent',
      note: 'BUDGET',
      error: '$2.01 of $2.00 are spent',
    });
  });

  test('does not exist if none was set', () => {
    expect(loopInHand().start().agent?.budgetUsd).toBeNull();
  });

  test('does not prevent completion', () => {
    const { ending } = nonstop({ maxCostUsd: 0.01 }).iterate(costing(DONE, 5));
    expect(ending?.status).toBe('completed');
  });

  test('is not passed to an agent that does not know it, which is announced once', () => {
    const loop = nonstop({ maxCostUsd: 2 });
    const turn = loop.iterate(UNKNOWN);
    expect(turn.actions).toEqual(['say flag-dropped', 'iteration_started', 'start-agent 1.2']);
    expect(turn.agent?.budgetUsd).toBeNull();
    expect(turn.state.task.iterations).toEqual([]);
    // It stays dropped, and is still counted by ralph itself.
    expect(loop.iterate(costing(WORK, 0.5)).agent?.budgetUsd).toBeNull();
    expect(loop.iterate(costing(WORK, 1.5)).ending?.status).toBe('budget_spent');
  });

  test.for<[name: string, changes: Partial<Policy>, facts: AttemptFacts]>([
    ['a budget that ralph did not hand on', {}, UNKNOWN],
    ['another option', { maxCostUsd: 2 }, withoutReport(1, "error: unknown option '--bogus'")],
  ])('%s is a fatal cause', ([, changes, facts]) => {
    expect(nonstop(changes).iterate(facts).ending?.exitReason).toBe('failed:bad-option');
  });

  test('that is refused a second time is a fatal cause', () => {
    const loop = nonstop({ maxCostUsd: 2 });
    loop.iterate(UNKNOWN);
    expect(loop.iterate(UNKNOWN).ending?.exitReason).toBe('failed:bad-option');
  });
});

describe('the agent’s own session', () => {
  const CONTINUE: Partial<Policy> = { session: 'continue' };

  test('is resumed from the second iteration on, without what it already contains', () => {
    const loop = loopInHand({ ...CONTINUE, delayMs: 0 });
    expect(loop.start().agent?.resumeSession).toBeNull();
    const second = loop.iterate(WORK);
    expect(second.agent?.resumeSession).toBe('session-1');
    expect(second.addition).not.toContain('I did a part of it.');
    expect(second.addition).toContain('The task is NOT yet complete.');
    const third = loop.iterate(answered('More of it.', { sessionId: 'session-2' }));
    expect(third.agent?.resumeSession).toBe('session-2');
  });

  test('is not resumed unless the user asked for that', () => {
    const second = nonstop().iterate(WORK);
    expect(second.agent?.resumeSession).toBeNull();
    expect(second.addition).toContain('I did a part of it.');
  });

  test('is not resumed if the first iteration is tried again', () => {
    const loop = nonstop(CONTINUE);
    loop.iterate(OVERLOADED);
    expect(loop.wait().agent?.resumeSession).toBeNull();
  });

  test('is replaced by a new one with the context if none is known', () => {
    const second = nonstop(CONTINUE).iterate(answered('Half of it.', { sessionId: null }));
    expect(second.agent?.resumeSession).toBeNull();
    expect(second.addition).toContain('Half of it.');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    [
      'is gone',
      withoutReport(1, 'No conversation found with session ID: session-1\n', { durationMs: 0 }),
    ],
    ['is too long', errorReport('Prompt is too long', 400, { sessionId: 'session-1' })],
  ])('that %s is replaced by a new one in the same iteration', ([, facts]) => {
    const loop = nonstop(CONTINUE);
    loop.iterate(WORK);
    const again = loop.iterate(facts);
    expect(again.actions).toEqual(['agent_retry', 'iteration_started', 'start-agent 2.2']);
    expect(again.agent?.resumeSession).toBeNull();
    expect(again.addition).toContain('I did a part of it.');
    expect(again.state.task.iterations).toHaveLength(1);
    // The fresh one is that of the next iteration.
    const next = loop.iterate(answered('On it.', { sessionId: 'session-9' }));
    expect(next.agent).toMatchObject({ iteration: 3, resumeSession: 'session-9' });
  });

  test('that is new cannot be too long by itself: the prompt is', () => {
    expect(nonstop(CONTINUE).iterate(errorReport('Prompt is too long', 400)).ending).toMatchObject({
      exitReason: 'failed:refused-request',
    });
  });
});

describe('time in which no work was possible', () => {
  /** An attempt of a minute during which the machine sleeps. */
  function asleep(loop: Loop, sleptMs: number): void {
    loop.jump(sleptMs);
    loop.iterate({ ...WORK, durationMs: 60_000 });
  }

  test('is the time the machine slept during an attempt', () => {
    const loop = nonstop();
    asleep(loop, 2 * HOUR);
    expect(moved(loop)).toBe(2 * HOUR);
    expect(loop.state().task.status).toBe('running');
  });

  test('does not include small changes of the clock', () => {
    for (const ms of [0, 4_000]) {
      const loop = nonstop();
      asleep(loop, ms);
      expect(moved(loop)).toBe(0);
    }
  });

  test('is the time the machine slept in a delay, but not the delay', () => {
    const loop = nonstop({ delayMs: 10_000 });
    loop.iterate(WORK);
    loop.wait(0, HOUR);
    expect(moved(loop)).toBe(HOUR);
  });

  test('does not count against the limit for an outage', () => {
    const loop = nonstop({ retries: 0, maxWaitMs: HOUR });
    loop.iterate(OVERLOADED);
    loop.wait(0, 2 * HOUR);
    expect(loop.iterate(OVERLOADED).ending).toBe(null);
    loop.wait(HOUR);
    expect(loop.iterate(OVERLOADED).ending).toMatchObject({ exitReason: 'outage' });
  });

  test.for<[name: string, meanwhile: (loop: Loop) => void]>([
    ['a hint comes', (loop) => loop.hint('Look at the logs.')],
    ['nothing comes', () => {}],
  ])('is the whole wait for a reset, even if %s meanwhile', ([, meanwhile]) => {
    const loop = nonstop();
    loop.iterate(limited(laterBy(START, HOUR)));
    loop.pass(HOUR + 1_000);
    meanwhile(loop);
    loop.wait();
    expect(moved(loop)).toBe(HOUR + 1_000);
  });
});

describe('a hint', () => {
  const HINT = 'The person you work for adds: Look at the logs.';

  test('goes into the prompt of the next iteration, once', () => {
    const loop = nonstop();
    loop.hint('Look at the logs.');
    const second = loop.iterate(WORK);
    expect(second.addition?.split(HINT)).toHaveLength(2);
    expect(second.state.hints).toEqual([]);
    expect(loop.iterate(WORK).addition).not.toContain(HINT);
  });

  test('is repeated if the iteration is tried again', () => {
    const loop = nonstop();
    loop.hint('Look at the logs.');
    loop.iterate(WORK);
    loop.iterate(OVERLOADED);
    expect(loop.wait().addition).toContain(HINT);
    loop.iterate(OVERLOADED);
    expect(loop.wait().addition).toContain(HINT);
    expect(loop.iterate(WORK).addition).not.toContain(HINT);
  });

  test('that comes while an iteration is tried again waits for the next one', () => {
    const loop = nonstop();
    loop.iterate(WORK);
    loop.iterate(OVERLOADED);
    loop.hint('Look at the logs.');
    expect(loop.wait().addition).not.toContain(HINT);
    expect(loop.iterate(WORK).addition).toContain(HINT);
  });

  test('that comes while the first iteration is tried again is not lost', () => {
    const loop = nonstop();
    loop.iterate(OVERLOADED);
    loop.hint('Look at the logs.');
    loop.wait();
    expect(loop.iterate(WORK).addition).toContain(HINT);
  });

  test('stands with the others in the prompt, in their order', () => {
    const loop = nonstop();
    loop.hint('First.');
    loop.hint('Second.');
    expect(loop.iterate(WORK).addition).toMatch(/adds: First\.\nThe person .* adds: Second\./);
  });

  test('is also given in the agent’s own session', () => {
    const loop = nonstop({ session: 'continue' });
    loop.hint('Look at the logs.');
    const second = loop.iterate(WORK);
    expect(second.agent?.resumeSession).toBe('session-1');
    expect(second.addition).toContain(HINT);
  });

  test('is dropped after a megabyte of newer hints', () => {
    const loop = nonstop();
    const large = (name: string): string => name.repeat(64 * 1024);
    loop.hint('First.');
    for (const name of 'abcdefghijklmnopqrst') loop.hint(large(name));
    const { hints } = loop.state();
    expect(hints.at(-1)?.text).toBe(large('t'));
    const lengthOf = (each: readonly Hint[]): number =>
      each.reduce((sum, { text }) => sum + text.length, 0);
    expect(lengthOf(hints)).toBeLessThanOrEqual(1024 * 1024);
    // Nor do they add up over the attempts of an iteration.
    loop.iterate(OVERLOADED);
    for (const name of 'abcdefghijklmnopqrst') loop.hint(large(name));
    loop.wait();
    const { carry, hints: waiting } = loop.state();
    expect(lengthOf([...carry.hints, ...waiting])).toBeLessThanOrEqual(2 * 1024 * 1024);
  });

  test('leads to no action by itself', () => {
    const loop = nonstop();
    expect(loop.hint('Look at the logs.').actions).toEqual([]);
    expect(loop.state().step.kind).toBe('working');
  });

  test('is not a statement if the agent repeats it', () => {
    const loop = nonstop({ promise: 'ALL DONE' });
    loop.hint('Say ALL DONE when it is.');
    loop.iterate(WORK);
    const echo = 'The person you work for adds: Say ALL DONE when it is.';
    expect(loop.iterate(answered(echo)).ending).toBeNull();
  });
});
