import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import { NO_USAGE } from '../../../src/core/agent/attempt.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { answered, errorReport, notFound, withoutReport } from '../../helpers/attempt-facts.ts';
import { DONE, type Loop, nonstop, OVERLOADED, WORK } from '../../helpers/loop-events.ts';

const WORDS = 'Failed to load the tool registry (E-12)';
const BROKEN = errorReport(WORDS);
const REFUSED = errorReport('API Error: 400 messages.37 is broken', 400);
const CONTINUE = { session: 'continue' } as const;

/** Makes attempts until the loop waits for longer than two seconds, or has ended; returns the waits. */
function quickTries(loop: Loop, facts: AttemptFacts): readonly (number | null)[] {
  const waits: (number | null)[] = [];
  for (;;) {
    const { waitMs } = loop.iterate(facts);
    waits.push(waitMs);
    if (waitMs === null || waitMs > 2_000) return waits;
    loop.wait();
  }
}

describe('a failed start', () => {
  test.for<[name: string, facts: AttemptFacts, words: string]>([
    ['an error report', BROKEN, WORDS],
    [
      'tokens and money, which a refusal costs',
      { ...BROKEN, usage: { ...NO_USAGE, cost_usd: 1 } },
      WORDS,
    ],
    [
      'no report',
      withoutReport(0, '', { worked: false }),
      'the agent exited with code 0 but gave no result',
    ],
    [
      'an empty answer without a token',
      { ...answered(''), usage: NO_USAGE, sessionUsage: NO_USAGE, worked: false },
      'the agent gave an empty answer and used no token',
    ],
    ['standard error', withoutReport(1, 'Error: no MCP\n', { worked: false }), 'Error: no MCP'],
    [
      'a file that cannot be started',
      { ...notFound('EACCES'), worked: false },
      'there is no claude',
    ],
    [
      'a session that the user named',
      withoutReport(1, 'No conversation found with session ID: x\n', { worked: false }),
      'No conversation found',
    ],
  ])('is tried after 1 s and 2 s, and ends the task as agent-error: %s', ([, facts, words]) => {
    const loop = nonstop();
    const waits = quickTries(loop, facts);
    expect(waits).toEqual([expect.any(Number), expect.any(Number), null]);
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    const { task } = loop.state();
    expect(task).toMatchObject({ status: 'failed', exit_reason: 'failed:agent-error' });
    expect(task.metrics.iterations).toBe(0);
    expect(task.breaker.same_error).toBe(0);
    expect(task.errors.map(({ kind }) => kind)).toEqual(Array(3).fill('failed-start'));
    expect(task.errors.at(-1)?.message).toContain(words);
  });

  test('is announced like a passing fault, and says what the next try is', () => {
    const loop = nonstop();
    expect(loop.iterate(BROKEN).told).toMatchObject([
      { event: 'agent_retry', iteration: 1, attempt: 1, by: 'ralph', error: WORDS },
    ]);
    expect(loop.wait().actions).toContain('start-agent 1.2');
  });

  test('leaves no trace but its errors once the agent works', () => {
    const loop = nonstop();
    for (const _ of [1, 2]) {
      loop.iterate(BROKEN);
      loop.wait();
    }
    const { ending, state } = loop.iterate(DONE);
    expect(ending?.status).toBe('completed');
    expect(state.task.metrics.iterations).toBe(1);
    expect(state.task.errors).toHaveLength(2);
  });

  test('is counted from zero after the agent has worked, and not after an outage', () => {
    const loop = nonstop();
    loop.iterate(BROKEN);
    loop.wait();
    loop.iterate({ ...OVERLOADED, worked: true });
    loop.wait();
    expect(loop.state().trouble.failedStarts).toBe(0);
    loop.iterate(BROKEN);
    loop.wait();
    loop.iterate(OVERLOADED);
    loop.wait();
    expect(loop.state().trouble.failedStarts).toBe(1);
  });

  test.for([
    [0, 1],
    [1, 2],
    [9, 3],
  ])('is tried no more often than --retries %i allows', ([retries, starts]) => {
    expect(quickTries(nonstop({ retries: retries ?? 0 }), BROKEN)).toHaveLength(starts ?? 0);
  });

  test('after an answered iteration is tried three more times, a minute apart', () => {
    const loop = nonstop();
    loop.iterate(WORK);
    expect(quickTries(loop, BROKEN).at(-1)).toBe(60_000);
    for (const waitMs of [60_000, 60_000, null]) {
      loop.wait();
      expect(loop.iterate(BROKEN).waitMs).toBe(waitMs);
    }
    expect(loop.state().task).toMatchObject({
      exit_reason: 'failed:agent-error',
      metrics: { iterations: 1 },
    });
  });

  test('is counted from zero after a resume', () => {
    const loop = nonstop();
    quickTries(loop, BROKEN);
    loop.resume();
    expect(quickTries(loop, BROKEN)).toHaveLength(3);
  });
});

describe('a failed start of an agent of a list', () => {
  const pair = (): Loop => nonstop({ agents: ['claude', 'codex'], maxIterations: 20 });

  test('hands the iteration to the next one, which begins with all its tries', () => {
    const loop = pair();
    quickTries(loop, BROKEN);
    expect(loop.state().task).toMatchObject({
      agent: 'codex',
      current_iteration: 1,
      agents: { claude: { why: 'agent-error', held_until: null, error: WORDS } },
    });
    expect(quickTries(loop, errorReport('codex is broken, too'))).toHaveLength(3);
    const { task } = loop.state();
    expect(task.exit_reason).toBe('failed:agent-error');
    expect(task.agent).toBe('claude');
  });

  test('never hands over a refused request', () => {
    const loop = pair();
    expect(loop.iterate(REFUSED).ending?.exitReason).toBe('failed:refused-request');
  });
});

describe('a refused request', () => {
  test('ends the task at once where nothing was answered before', () => {
    expect(nonstop().iterate(REFUSED).ending?.exitReason).toBe('failed:refused-request');
  });

  test('is tried twice where an iteration was answered: the prompt was accepted a moment ago', () => {
    const loop = nonstop();
    loop.iterate(WORK);
    expect(quickTries(loop, REFUSED)).toHaveLength(3);
    expect(loop.state().task.exit_reason).toBe('failed:refused-request');
  });

  test('is not tried again once the budget is spent', () => {
    const cost = { cost_usd: 1, input_tokens: 1, output_tokens: 0 };
    const loop = nonstop({ maxCostUsd: 2 });
    loop.iterate({ ...WORK, usage: cost });
    const { ending } = loop.iterate({ ...REFUSED, usage: cost });
    expect(ending?.exitReason).toBe('failed:refused-request');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['by a filter', errorReport('API Error: 400 Output blocked by content filtering policy', 400)],
    ['for its length', errorReport('Prompt is too long', 400)],
    ['for an account', errorReport('Extra usage is required for long context requests.', 429)],
  ])('after work is a failed iteration, and the next one begins afresh: %s', ([, facts]) => {
    const loop = nonstop(CONTINUE);
    const after = loop.iterate({ ...facts, worked: true, partialOutput: 'half of it' });
    expect(after.state.task.iterations).toMatchObject([{ outcome: 'errored' }]);
    expect(after.agent).toMatchObject({ iteration: 2, resumeSession: null });
    expect(after.addition).toContain('half of it');
  });

  test('that comes three times without progress ends the task with its words', () => {
    const loop = nonstop({ sameErrorLimit: 3 });
    const refused = { ...REFUSED, worked: true };
    loop.iterate(refused);
    loop.iterate(refused);
    const { ending } = loop.iterate(refused);
    expect(ending?.exitReason).toBe('same-error');
    expect(ending?.error).toContain('messages.37 is broken');
  });
});

describe('a resumed session that cannot go on', () => {
  test.for<[name: string, facts: AttemptFacts]>([
    ['it is refused', REFUSED],
    ['it fails at its start', BROKEN],
  ])('is left once, with the output before as context: %s', ([, facts]) => {
    const loop = nonstop(CONTINUE);
    loop.iterate(WORK);
    const again = loop.iterate(facts);
    expect(again.agent).toMatchObject({ iteration: 2, attempt: 2, resumeSession: null });
    expect(again.addition).toContain('I did a part of it.');
    // How the new session ends is judged as usual.
    expect(loop.iterate(facts).waitMs).toBeLessThanOrEqual(1_000);
    expect(loop.state().task.session_id).toBeNull();
  });

  test.for<[name: string, facts: AttemptFacts, changes: Partial<Policy>]>([
    ['a login', errorReport('Not logged in'), {}],
    ['a limit', errorReport("You've hit your limit", 429), {}],
    ['an outage', OVERLOADED, {}],
  ])('is kept where %s is the cause', ([, facts, changes]) => {
    const loop = nonstop({ ...CONTINUE, ...changes });
    loop.iterate(WORK);
    loop.iterate(facts);
    expect(loop.wait().agent?.resumeSession).toBe('session-1');
  });

  test('is not what a resume begins with after an attempt that did not work', () => {
    const loop = nonstop(CONTINUE);
    loop.iterate(WORK);
    loop.iterate(REFUSED);
    loop.iterate({ ...BROKEN, sessionId: 'session-2' });
    expect(loop.state().task.session_id).toBeNull();
    loop.wait();
    loop.iterate(answered('On it.', { sessionId: 'session-3' }));
    expect(loop.state().task.session_id).toBe('session-3');
  });
});
