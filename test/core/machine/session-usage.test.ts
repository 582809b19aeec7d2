import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/core/agent/attempt.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { nonstop } from '../../helpers/loop-events.ts';

const usage = (input_tokens: number, output_tokens: number): Usage => ({
  cost_usd: 0,
  input_tokens,
  output_tokens,
});

/** An answer of an agent that tells the total of its session. */
function told(total: Usage, sessionId = 's') {
  return answered('Not yet.', { usage: usage(0, 0), sessionUsage: total, sessionId });
}

describe('an agent that tells the total of its session', () => {
  test('is counted once, however often its session is resumed', () => {
    const loop = nonstop({ session: 'continue' });
    loop.iterate(told(usage(100, 10)));
    loop.iterate(told(usage(250, 30)));
    const { task } = loop.iterate(told(usage(260, 31))).state;
    expect(task.usage).toEqual(usage(260, 31));
    expect(task.iterations.map(({ input_tokens }) => input_tokens)).toEqual([100, 150, 10]);
    expect(task.session_usage).toEqual({ ...usage(260, 31), session_id: 's' });
  });

  test('is counted whole for each new session', () => {
    const loop = nonstop();
    loop.iterate(told(usage(100, 10), 'one'));
    expect(loop.iterate(told(usage(120, 12), 'two')).state.task.usage).toEqual(usage(220, 22));
  });

  test('is counted whole if the total is lower than before: it is another count', () => {
    const loop = nonstop({ session: 'continue' });
    loop.iterate(told(usage(100, 10)));
    expect(loop.iterate(told(usage(40, 4))).state.task.usage).toEqual(usage(140, 14));
  });

  test('has told nothing if an attempt ends before its total', () => {
    const loop = nonstop({ session: 'continue' });
    loop.iterate(told(usage(100, 10)));
    loop.iterate(answered('Not yet.', { usage: usage(0, 0), sessionId: 's' }));
    expect(loop.iterate(told(usage(130, 13))).state.task.usage).toEqual(usage(130, 13));
  });
});

test('what a dead driver had not counted is not counted again by the next one', () => {
  const loop = nonstop({ session: 'continue' });
  loop.iterate(told(usage(100, 10)));
  loop.resume({}, { lost: usage(50, 5), lostSession: { ...usage(150, 15), session_id: 's' } });
  expect(loop.iterate(told(usage(170, 17))).state.task.usage).toEqual(usage(170, 17));
});
