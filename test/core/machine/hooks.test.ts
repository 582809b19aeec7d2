import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../../src/core/agent/agents/agents.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import { answered, attemptFacts, resultFacts } from '../../helpers/attempt-facts.ts';
import { nonstop, TAG } from '../../helpers/loop-events.ts';
import { START } from '../../helpers/new-task.ts';

const SAID = '[sh lint.sh]: run the linter first';

describe('a hook of the user', () => {
  test('that blocks the prompt ends the task, with its words', () => {
    const blocked = attemptFacts({
      worked: false,
      result: resultFacts({ numTurns: 0, text: 'UserPromptSubmit operation blocked by hook' }),
      hook: { did: 'blocked', said: 'no ticket number' },
    });
    expect(nonstop().iterate(blocked).ending).toMatchObject({
      exitReason: 'failed:hook',
      error: 'no ticket number',
    });
    // What it says after the model has worked is no block of the prompt.
    expect(nonstop().iterate({ ...blocked, worked: true }).ending).toBeNull();
  });

  test('that holds the agent behind its promise makes it a near miss, and the next prompt has its words', () => {
    const turn = nonstop().iterate(answered(TAG, { hook: { did: 'held', said: SAID } }));
    expect(turn.told).toContainEqual(
      expect.objectContaining({ event: 'near_miss', why: 'stop-hook', said: SAID }),
    );
    expect(turn.addition).toContain(`The hook said: ${SAID}`);
    expect(turn.ending).toBeNull();
  });

  test('that holds an agent which stated nothing changes nothing', () => {
    const turn = nonstop().iterate(answered('Half of it.', { hook: { did: 'held', said: SAID } }));
    expect(turn.told.map(({ event }) => event)).not.toContain('near_miss');
  });
});

describe('an answer without a turn of the model', () => {
  const silent = (text: string, isLocal = false) =>
    attemptFacts({ worked: false, result: resultFacts({ numTurns: 0, text, isLocal }) });

  test.for<[name: string, prompt: string, facts: ReturnType<typeof silent>]>([
    ['a prompt that begins with a slash', ' /cost', silent('$0.00')],
    ['a field that says so', 'Fix it', silent('$0.00', true)],
    ['words that say so', 'Fix it', silent('Unknown command: /x')],
  ])('is a slash command by %s', ([, prompt, facts]) => {
    const outcome = classify(facts, AGENTS.claude, START, { timeZone: 'UTC' }, prompt);
    expect(outcome).toMatchObject({ kind: 'fatal', cause: 'slash-command' });
  });

  test('is a failed start otherwise', () => {
    const loop = nonstop();
    loop.iterate(silent('The answer of a gateway.'));
    expect(loop.state().task.errors).toMatchObject([
      { kind: 'failed-start', message: 'The answer of a gateway.' },
    ]);
  });
});

describe('an MCP server that did not start', () => {
  const facts = answered('I stop.', { lostServers: [{ server: 'tickets', status: 'failed' }] });

  test('is told once a run, and in each prompt', () => {
    const loop = nonstop();
    const told = { event: 'mcp_unavailable', iteration: 1, server: 'tickets', status: 'failed' };
    const toldOf = () => loop.attempt(facts).told.filter(({ event }) => event === told.event);
    expect(toldOf()).toEqual([told]);
    expect(loop.look(NOTHING_SEEN).addition).toContain('their tools are missing: tickets.');
    expect(toldOf()).toEqual([]);
    loop.resume();
    loop.look(NOTHING_SEEN);
    expect(toldOf()).toEqual([{ ...told, iteration: 3 }]);
  });
});
