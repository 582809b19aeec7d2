import { describe, expect, test } from 'vitest';
import { answered, errorReport } from '../../helpers/attempt-facts.ts';
import { DONE, nonstop, TAG, WORK } from '../../helpers/loop-events.ts';

const HOUR = 3_600_000;
const A_WEEK = 7 * 24 * HOUR;
const AN_HOUR_LATER = { afterMs: HOUR };
const LIMITED = errorReport("You've hit your usage limit. try again in 5 hours");

function codexAlone() {
  return nonstop({ agent: 'codex', agents: ['codex'] }, A_WEEK);
}

describe('a resume with other agents', () => {
  test('does not wait for an agent that works no more', () => {
    const loop = codexAlone();
    expect(loop.iterate(LIMITED).waitMs).toBeGreaterThan(4 * HOUR);
    const turn = loop.resume({ agent: 'gemini', agents: ['gemini'] }, AN_HOUR_LATER);
    expect(turn.agent).toMatchObject({ agent: 'gemini', iteration: 1, attempt: 2 });
  });

  test('does not wait while one of a list is free', () => {
    const loop = codexAlone();
    loop.iterate(LIMITED);
    const turn = loop.resume({ agent: 'gemini', agents: ['gemini', 'codex'] }, AN_HOUR_LATER);
    expect(turn.agent).toMatchObject({ agent: 'gemini', iteration: 1, attempt: 2 });
  });

  test('waits on with the same agent', () => {
    const loop = codexAlone();
    loop.iterate(LIMITED);
    expect(loop.resume({}, AN_HOUR_LATER).waitMs).toBeGreaterThan(3 * HOUR);
  });

  test('asks no other agent about an answer', () => {
    const doubtful = answered(`All tests pass.\n${TAG}\nSummary: two files changed.`);
    const lost = { cost_usd: 0, input_tokens: 0, output_tokens: 0 };
    const asked = () => {
      const loop = codexAlone();
      expect(loop.iterate(doubtful).agent?.resumeSession).not.toBeNull();
      return loop;
    };
    expect(asked().resume({}, { lost }).agent).toMatchObject({ agent: 'codex', attempt: 3 });
    const turn = asked().resume({ agent: 'gemini', agents: ['gemini'] }, { lost });
    expect(turn.agent).toBeNull();
  });

  test('counts on for an agent that was one of several before', () => {
    const loop = nonstop({ agent: 'codex', agents: ['codex', 'gemini'] });
    const usage = { cost_usd: 0, input_tokens: 7, output_tokens: 8 };
    loop.iterate(answered('x', { usage }));
    loop.resume({ agent: 'codex', agents: ['codex'] });
    loop.iterate({ ...WORK, usage });
    loop.iterate({ ...DONE, usage });
    const { agents } = loop.state().task;
    expect(agents.codex?.usage).toMatchObject({ input_tokens: 21, output_tokens: 24 });
  });
});
