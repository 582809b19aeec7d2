import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { answered, errorReport, withoutReport } from '../../helpers/attempt-facts.ts';
import { OVERLOADED, running } from '../../helpers/loop-events.ts';
import { START } from '../../helpers/new-task.ts';

// Limits that meet: what is spent or over ends the task, however the attempt that met it ended.

/** A plan limit whose reset the agent has told. */
function limitedUntil(resetsAt: string | null, changes: Partial<AttemptFacts> = {}): AttemptFacts {
  const rateLimit = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };
  return errorReport("You've hit your limit", 429, { rateLimit, ...changes });
}

function costing(cost_usd: number): Partial<AttemptFacts> {
  return { usage: { cost_usd, input_tokens: 1, output_tokens: 1 } };
}

describe('the money', () => {
  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', answered('Part of it.', costing(2))],
    ['a failure', withoutReport(1, 'boom', costing(2))],
    ['a passing fault', { ...OVERLOADED, ...costing(2) }],
    ['a plan limit', limitedUntil(laterBy(START, 600_000), costing(2))],
  ])('that is spent ends the task after %s', ([, facts]) => {
    const { ending } = running({ maxCostUsd: 2 }).iterate(facts);
    expect(ending).toMatchObject({ status: 'budget_spent', note: 'BUDGET' });
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', answered('Part of it.', costing(2))],
    ['a passing fault', { ...OVERLOADED, ...costing(2) }],
  ])('comes before the time: %s', ([, facts]) => {
    const loop = running({ maxCostUsd: 2 }, 10_000);
    expect(loop.iterate({ ...facts, durationMs: 20_000 }).ending?.status).toBe('budget_spent');
  });

  test('of failed attempts counts', () => {
    const loop = running({ maxCostUsd: 2 });
    loop.iterate({ ...OVERLOADED, ...costing(1.5) });
    expect(loop.wait().agent?.budgetUsd).toBe(0.5);
    expect(loop.iterate(answered('Part of it.', costing(0.5))).ending?.status).toBe('budget_spent');
  });
});

describe('the account’s usage', () => {
  // Some hundredths are not what they seem once they are multiplied by 100.
  test.for(Array.from({ length: 100 }, (_, index) => index + 1))('of %i % is reached', (used) => {
    const rateLimit = {
      status: 'allowed_warning',
      resetsAt: laterBy(START, 600_000),
      type: 'five_hour',
      utilization: used / 100,
    };
    const facts = answered('Part of it.', { rateLimit });
    expect(running({ maxUsagePercent: used }).iterate(facts).ending).toMatchObject({
      status: 'usage_limited',
      exitReason: 'max_usage',
      until: laterBy(START, 600_000),
    });
    expect(running({ maxUsagePercent: used + 1 }).iterate(facts).ending).toBeNull();
  });
});

describe('a plan limit', () => {
  test('is waited for until a little after its reset, and the deadline moves on', () => {
    const loop = running();
    const turn = loop.iterate(limitedUntil(laterBy(START, 7_200_000)));
    expect(turn.actions).toEqual(['usage_limit_wait', 'wait']);
    expect(turn.waitMs).toBeGreaterThan(7_200_000 - 1_000);
    expect(turn.state.task).toMatchObject({ iterations: [], wait: { kind: 'usage-limit' } });
    const next = loop.wait();
    expect(next.actions).toEqual(['iteration_started', 'start-agent 1.2']);
    expect(next.deadlineAt).toBe(laterBy(START, 1_800_000 + (turn.waitMs ?? 0)));
  });

  test('is not waited for if the task has no time left', () => {
    const facts = limitedUntil(laterBy(START, 7_200_000), { durationMs: 20_000 });
    expect(running({}, 10_000).iterate(facts).ending?.status).toBe('timeout');
  });

  test('longer than the longest wait ends the task at once, and says until when', () => {
    const resetsAt = laterBy(START, 7 * 3_600_000);
    expect(running().iterate(limitedUntil(resetsAt)).ending).toMatchObject({
      status: 'usage_limited',
      exitReason: 'usage_limit',
      until: resetsAt,
    });
  });

  test.for<[name: string, resetsAt: string | null]>([
    ['is unknown', null],
    ['is over', START],
  ])('whose reset %s is met with growing pauses, within the longest wait', ([, resetsAt]) => {
    const loop = running();
    const waits: number[] = [];
    let turn = loop.iterate(limitedUntil(resetsAt));
    while (turn.ending === null && waits.length < 100) {
      waits.push(turn.waitMs ?? 0);
      loop.wait();
      turn = loop.iterate(limitedUntil(resetsAt));
    }
    expect(waits.slice(0, 3)).toEqual([30_000, 60_000, 120_000]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_800_000);
    expect(turn.ending?.status).toBe('usage_limited');
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(6 * 3_600_000);
  });
});

describe('a missing session', () => {
  const gone = withoutReport(1, 'No conversation found with session ID: session-1\n');

  test('is replaced by a new one in the same iteration, with the context that it contained', () => {
    const loop = running({ session: 'continue' });
    loop.iterate(answered('Part of it.'));
    const resumed = loop.wait();
    expect(resumed.agent?.resumeSession).toBe('session-1');
    expect(resumed.addition).not.toContain('Part of it.');
    const afresh = loop.iterate(gone);
    expect(afresh.actions).toEqual(['agent_retry', 'iteration_started', 'start-agent 2.2']);
    expect(afresh.agent?.resumeSession).toBeNull();
    expect(afresh.addition).toContain('Part of it.');
  });

  test.for<[name: string, changes: Partial<Policy>]>([
    ['its own session', { session: 'continue' }],
    ['the one that the user named behind --', { session: 'fresh' }],
  ])('is a failed iteration if ralph resumed none: %s', ([, changes]) => {
    // Begun afresh with the same words it would be gone again, at once and for ever.
    const turn = running(changes).iterate(gone);
    expect(turn.actions).toEqual(['task_iterated', 'wait']);
    expect(turn.state.task.iterations).toMatchObject([{ number: 1, outcome: 'errored' }]);
  });
});
