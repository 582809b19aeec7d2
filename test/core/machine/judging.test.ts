import { describe, expect, test } from 'vitest';
import type { Examination, JudgeTrouble } from '../../../src/core/completion/examination.ts';
import type { JudgeVerdict } from '../../../src/core/judge/verdict.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

// What follows from the answer of a judge.

const CLAIM = 'All good. <promise>DONE</promise>';
const USAGE = { cost_usd: 0.5, input_tokens: 10, output_tokens: 5 };
const JUDGE = { agent: 'codex', model: null } as const;

function saying(
  verdict: JudgeVerdict['verdict'],
  trouble: JudgeTrouble | null = null,
): Examination {
  const word = verdict === 'none' ? [] : [verdict];
  const criteria = word.map((each) => ({
    ...{ id: 'c1', text: 'it adds', verdict: each, evidence: 'a.ts only subtracts' },
    where: [{ file: 'a.ts', line: 3 }],
  }));
  const why = verdict === 'none' ? 'codex gave no verdict (it was empty)' : null;
  const said = { ...JUDGE, tree: 'f'.repeat(40), verdict, why, criteria, cost_usd: 0.5 };
  return { judge: { verdict: said, key: 'k', calls: 1, usage: USAGE, trouble } };
}

/** A loop whose agent has claimed, and whose judge is asked. */
function asked(changes: Partial<Policy> = {}) {
  const loop = loopInHand({ judge: JUDGE, delayMs: 0, ...changes }, undefined, { examines: true });
  loop.start();
  expect(loop.iterate(answered(CLAIM)).actions.at(-1)).toBe('examine judge');
  return loop;
}

const NO_VERDICT: JudgeTrouble = { kind: 'no-verdict' };

describe('a claim passes', () => {
  test.each([
    ['met', 'tell', saying('met'), 'judged only (codex: 1 of 1 met)'],
    ['met', 'hold', saying('met'), 'judged only (codex: 1 of 1 met)'],
    ['unclear', 'hold', saying('unclear'), 'judged only (codex: 0 of 1 met, unclear: c1)'],
    [
      'no verdict',
      'tell',
      saying('none', NO_VERDICT),
      'no check was named (--verify "npm test"); not judged: codex gave no verdict (it was empty)',
    ],
    ['a plan limit', 'tell', saying('none', { kind: 'usage-limited', until: null }), 'not judged'],
    [
      'a missing login',
      'tell',
      saying('none', { kind: 'fatal', cause: 'not-logged-in' }),
      'not judged',
    ],
  ] as const)('with %s and --proof %s', (_, proof, found, says) => {
    const loop = asked({ proof, acceptEmpty: true });
    const { ending } = loop.examined(found);
    expect(ending).toMatchObject({ status: 'completed' });
    expect(ending?.evidence?.proof).toMatchObject({
      proven: false,
      text: expect.stringContaining(says),
    });
  });
});

describe('without a verdict, --proof hold ends the task, and a resume begins with the judge', () => {
  test.each([
    ['an answer that cannot be read', NO_VERDICT, 'stalled', 'no-verdict'],
    [
      'a plan limit',
      { kind: 'usage-limited', until: '2026-03-01T00:00:00.000Z' },
      'usage_limited',
      'usage_limit',
    ],
    ['an outage', { kind: 'outage' }, 'usage_limited', 'outage'],
    [
      'a missing login',
      { kind: 'fatal', cause: 'not-logged-in' },
      'failed',
      'failed:not-logged-in',
    ],
    ['no credit', { kind: 'fatal', cause: 'no-credit' }, 'failed', 'failed:no-credit'],
  ] as const)('%s', (_, trouble, status, exitReason) => {
    const loop = asked({ proof: 'hold', acceptEmpty: true });
    const { ending, state } = loop.examined(saying('none', trouble));
    expect(ending).toMatchObject({ status, exitReason });
    expect(ending?.error).toContain('codex gave no verdict');
    expect(ending?.judge).toBe(status === 'failed' ? 'codex' : undefined);
    expect(state.task.metrics.iterations).toBe(0);
    expect(state.task.usage.cost_usd).toBeCloseTo(0.51, 6);
    const resumed = loop.resume();
    expect(resumed.actions.at(-1)).toBe('look');
    loop.look(resumed.state.undecided?.sightings ?? neverAsked());
    const end = loop.examined(saying('met'));
    expect(end.ending).toMatchObject({ status: 'completed' });
    expect(end.state.task.metrics.iterations).toBe(1);
    expect(end.state.undecided).toBeUndefined();
  });

  test('a stop while it works is a stop, also with --proof tell', () => {
    const loop = asked();
    loop.stop('SIGTERM');
    const { ending } = loop.examined(saying('none', { kind: 'stopped' }));
    expect(ending).toMatchObject({ status: 'stopped', exitReason: 'stopped:SIGTERM' });
    expect(loop.resume().actions.at(-1)).toBe('look');
  });
});

function neverAsked(): never {
  throw new Error('no claim waits for a verdict');
}

describe('a criterion that is not met', () => {
  test('holds the claim, and the next prompt has its evidence and place', () => {
    const loop = asked();
    const { actions, agent, state } = loop.examined(saying('not-met'));
    expect(actions).toContain('judged');
    expect(actions).toContain('claim_held');
    expect(JSON.stringify(agent?.prompt)).toContain(
      'c1 not met: it adds — a.ts only subtracts (a.ts:3)',
    );
    expect(state.task.judge).toMatchObject({ agent: 'codex', calls: 1, held: 1, usage: USAGE });
    expect(state.task.usage.cost_usd).toBeCloseTo(0.51, 6);
  });

  test('ends the task by its budget, and a verdict that lets it pass does not', () => {
    const budget = { maxCostUsd: 0.4 };
    expect(asked(budget).examined(saying('not-met')).ending).toMatchObject({
      status: 'budget_spent',
    });
    expect(asked(budget).examined(saying('met')).ending).toMatchObject({ status: 'completed' });
  });

  test('is told of the last verdict, which holds on the same tree', () => {
    const loop = asked();
    loop.examined(saying('not-met'));
    const again = loop.iterate(answered(CLAIM));
    expect(again.examine).toMatchObject({
      part: 'judge',
      toJudge: { known: { verdict: { verdict: 'not-met' }, key: 'k' } },
    });
  });
});

test('a judge that cannot be started ends the task before its first iteration', () => {
  const loop = loopInHand({ judge: JUDGE });
  const { ending, actions } = loop.start(
    null,
    'the judge codex cannot be started: codex was not found',
  );
  expect(actions).not.toContain('start-agent');
  expect(ending).toMatchObject({ exitReason: 'failed:agent-not-found', judge: 'codex' });
});
