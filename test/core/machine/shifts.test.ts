import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import {
  answered,
  cut,
  errorReport,
  notFound,
  withoutReport,
} from '../../helpers/attempt-facts.ts';
import {
  DONE,
  type Loop,
  NO_LOGIN,
  nonstop,
  OVERLOADED,
  TAG,
  WORK,
} from '../../helpers/loop-events.ts';
import type { Turn } from '../../helpers/loop-in-hand.ts';
import { START } from '../../helpers/new-task.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function pair(changes: Partial<Policy> = {}): Loop {
  const agents = ['claude', 'codex'] as const;
  return nonstop({ agents, retries: 1, maxIterations: 20, ...changes }, 100 * HOUR);
}

/** A plan limit of claude until an instant, met in no time. */
function limited(resetsAt: string | null, changes: Partial<AttemptFacts> = {}): AttemptFacts {
  const rateLimit = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };
  return errorReport("You've hit your limit", 429, { durationMs: 0, rateLimit, ...changes });
}

const OUT_OF_CREDIT = errorReport('Quota exceeded. Check your plan and billing details.');
const CODEX_LIMITED = errorReport("You've hit your usage limit", null, { durationMs: 0 });
const BUSY = errorReport('the model is at capacity', null, { durationMs: 0 });

/** Who starts which attempt, such as `codex 1.2`, or what happens instead. */
function next({ agent, actions, ending }: Turn): string {
  if (ending !== null) return `${ending.status} ${ending.exitReason}`;
  return agent === null ? actions.join(' ') : `${agent.agent} ${agent.iteration}.${agent.attempt}`;
}

describe('an agent of a list', () => {
  test('does every iteration while nothing is wrong with it', () => {
    const loop = pair();
    expect(next(loop.iterate(WORK))).toBe('claude 2.1');
    expect(next(loop.iterate(withoutReport(1, 'something else')))).toBe('claude 3.1');
    expect(next(loop.iterate(cut('iteration-timeout')))).toBe('claude 4.1');
    expect(next(loop.iterate(errorReport('some error', null, { worked: true })))).toBe(
      'claude 5.1',
    );
    expect(loop.state().task.agent).toBe('claude');
  });

  test('that meets a plan limit hands the same iteration to the next one, at once', () => {
    const loop = pair();
    loop.iterate(WORK);
    const resetsAt = laterBy(loop.now(), 2 * HOUR);
    const turn = loop.iterate(limited(resetsAt));
    expect(next(turn)).toBe('codex 2.2');
    const until = laterBy(resetsAt, 1_000);
    expect(turn.told.filter(({ event }) => event === 'agent_changed')).toEqual([
      {
        ...{ event: 'agent_changed', iteration: 2, from: 'claude', to: 'codex' },
        ...{ why: 'usage-limit', until, error: "You've hit your limit" },
      },
    ]);
    expect(turn.state.task).toMatchObject({
      metrics: { iterations: 1 },
      wait: null,
      agents: { claude: { held_until: until, why: 'usage-limit' } },
    });
  });

  test('is tried again in an outage as often as --retries says, and then hands over', () => {
    const loop = pair({ retries: 2 });
    for (const attempt of [2, 3]) {
      expect(loop.iterate(OVERLOADED).waitMs).toBeGreaterThan(0);
      expect(next(loop.wait())).toBe(`claude 1.${attempt}`);
    }
    const turn = loop.iterate(OVERLOADED);
    expect(next(turn)).toBe('codex 1.4');
    expect(turn.state.task.agents.claude?.held_until).toBe(laterBy(loop.now(), 5 * MINUTE));
  });

  test('that takes over in an outage has all retries of its own', () => {
    const loop = pair({ retries: 1 });
    loop.iterate(OVERLOADED);
    loop.wait();
    expect(next(loop.iterate(OVERLOADED))).toBe('codex 1.3');
    expect(loop.iterate(BUSY).state.task.wait?.kind).toBe('back-off');
  });

  test('never hands over on another failure', () => {
    const failures = [
      errorReport('API Error: 400 bad request', 400),
      withoutReport(1, "error: unknown option '--x'", { sessionId: null }),
    ];
    for (const facts of failures) {
      const { ending, told } = pair().iterate(facts);
      expect(ending?.status).toBe('failed');
      expect(told.map(({ event }) => event)).not.toContain('agent_changed');
    }
  });

  test('says what the iteration before said to the one that takes over, which has no session of its own', () => {
    const loop = pair({ session: 'continue' });
    expect(loop.iterate(WORK).agent?.resumeSession).toBe('session-1');
    const turn = loop.iterate(limited(laterBy(loop.now(), HOUR)));
    expect(turn.agent).toMatchObject({ agent: 'codex', resumeSession: null });
    expect(turn.addition).toContain('I did a part of it.');
    const further = loop.iterate(answered('More of it.', { sessionId: 'codex-1' }));
    expect(further.agent).toMatchObject({ agent: 'codex', resumeSession: 'codex-1' });
    loop.pass(HOUR + 1_000);
    const back = loop.iterate(answered('More of it.', { sessionId: 'codex-1' }));
    expect(back.agent).toMatchObject({ agent: 'claude', resumeSession: null });
    expect(back.addition).toContain('More of it.');
  });

  test('that takes over with no session id of its own goes on with none of another', () => {
    const loop = pair({ session: 'continue' });
    loop.iterate(WORK);
    loop.iterate(limited(laterBy(loop.now(), HOUR)));
    expect(loop.iterate(answered('x', { sessionId: null })).agent?.resumeSession).toBeNull();
  });

  test('is asked about its own promise', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(loop.now(), HOUR)));
    const { agent } = loop.iterate(answered(`${TAG}\nOne more word.`, { sessionId: 'codex-1' }));
    expect(agent).toMatchObject({
      ...{ agent: 'codex', resumeSession: 'codex-1' },
      prompt: { kind: 'question' },
    });
  });
});

describe('an earlier agent of the list', () => {
  test('is on shift again from the beginning of an iteration, once its reset has passed', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, HOUR)));
    expect(next(loop.iterate(WORK))).toBe('codex 2.1');
    loop.pass(HOUR + 2_000);
    // Not in the midst of an iteration.
    expect(loop.iterate(BUSY).state.task.wait?.kind).toBe('back-off');
    expect(next(loop.wait())).toBe('codex 2.2');
    const turn = loop.iterate(WORK);
    expect(next(turn)).toBe('claude 3.1');
    expect(turn.told).toContainEqual({
      ...{ event: 'agent_changed', iteration: 2, from: 'codex', to: 'claude' },
      ...{ why: 'free-again', until: null, error: null },
    });
  });

  test('that is still out of order then hands over after one attempt', () => {
    const loop = pair({ retries: 3 });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      loop.iterate(OVERLOADED);
      loop.wait();
    }
    loop.iterate(OVERLOADED);
    loop.pass(5 * MINUTE);
    expect(next(loop.iterate(WORK))).toBe('claude 2.1');
    expect(next(loop.iterate(OVERLOADED))).toBe('codex 2.2');
    loop.pass(5 * MINUTE);
    expect(next(loop.iterate(WORK))).toBe('claude 3.1');
    const answeredAgain = loop.iterate(WORK);
    expect(next(answeredAgain)).toBe('claude 4.1');
    expect(answeredAgain.state.task.agents.claude).toMatchObject({ held_until: null, why: null });
    // Its retries are its own again.
    expect(loop.iterate(OVERLOADED).state.task.wait?.kind).toBe('back-off');
  });

  test('is left alone for five minutes if its limit names no reset', () => {
    const loop = pair();
    loop.iterate(limited(null));
    expect(loop.state().task.agents.claude?.held_until).toBe(laterBy(START, 5 * MINUTE));
  });
});

describe('when all agents are held', () => {
  test('there is one wait, until the earliest reset, and its agent takes the same iteration', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, 30 * MINUTE)));
    const turn = loop.iterate(errorReport("You've hit your usage limit. try again in 2 hours"));
    expect(turn.actions).toEqual(['agent_changed', 'usage_limit_wait', 'wait']);
    expect(turn.state.task.wait).toEqual({
      kind: 'usage-limit',
      until: laterBy(START, 30 * MINUTE + 1_000),
    });
    expect(next(loop.wait())).toBe('claude 1.3');
    expect(loop.iterate(DONE).ending?.evidence).toMatchObject({ agent: 'claude' });
    expect(loop.state().task.metrics.iterations).toBe(1);
  });

  test('a wait for a reset that nobody knows is a guess', () => {
    const loop = pair();
    loop.iterate(limited(null));
    const turn = loop.iterate(CODEX_LIMITED);
    expect(turn.state.task.wait).toMatchObject({ kind: 'usage-limit', is_guess: true });
    // One that is known for an agent takes the place of a guess.
    loop.wait();
    const known = loop.iterate(limited(laterBy(loop.now(), 2 * MINUTE)));
    expect(known.state.task.agents.claude).not.toHaveProperty('is_guess');
  });

  test('only that wait counts against --max-wait', () => {
    const loop = pair({ maxWaitMs: HOUR });
    loop.iterate(limited(laterBy(START, 10 * HOUR)));
    // Far longer than the longest wait, with work of the other agent.
    for (let hour = 0; hour < 5; hour += 1) {
      expect(next(loop.iterate(WORK))).toMatch(/^codex /);
      loop.pass(HOUR);
    }
    const at = loop.now();
    const { ending } = loop.iterate(
      errorReport("You've hit your usage limit. try again in 2 hours", null, { durationMs: 0 }),
    );
    expect(ending).toMatchObject({
      status: 'usage_limited',
      exitReason: 'usage_limit',
      until: laterBy(at, 2 * HOUR + 1_000),
    });
    expect(ending?.error).toMatch(/claude: held until .*; codex: held until /);
  });

  test('the wait counts anew once an agent has worked', () => {
    const loop = pair({ maxWaitMs: HOUR });
    const usage = { cost_usd: 1, input_tokens: 1, output_tokens: 1 };
    loop.iterate(limited(laterBy(START, 50 * MINUTE)));
    loop.iterate(errorReport("You've hit your usage limit. try again in 5 hours"));
    expect(next(loop.wait())).toBe('claude 1.3');
    const again = loop.iterate(limited(laterBy(loop.now(), 50 * MINUTE), { usage }));
    expect(again.state.task.wait?.kind).toBe('usage-limit');
  });

  test.for([false, true])(
    'by outages, they are tried one after the other until --max-wait is over; worked: %s',
    (worked) => {
      const loop = pair({ retries: 0, maxWaitMs: 12 * MINUTE });
      const OUT = { ...OVERLOADED, worked, durationMs: 0 };
      expect(next(loop.iterate(OUT))).toBe('codex 1.2');
      const tried: string[] = [];
      let turn = loop.iterate({ ...BUSY, worked });
      while (turn.ending === null && tried.length < 20) {
        if (turn.agent === null) {
          expect(turn.waitMs).toBe(5 * MINUTE);
          turn = loop.wait();
        }
        tried.push(turn.agent?.agent ?? '');
        turn = loop.iterate(tried.at(-1) === 'claude' ? OUT : { ...BUSY, worked });
      }
      // Both are free again at the same instant.
      expect(tried).toEqual(['claude', 'codex', 'claude', 'codex']);
      expect(turn.ending).toMatchObject({ status: 'usage_limited', exitReason: 'outage' });
    },
  );

  test('the wait does not use up the time of the task', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, 2 * HOUR)));
    loop.iterate({ ...CODEX_LIMITED, result: limited(laterBy(START, 3 * HOUR)).result });
    while (loop.state().step.kind === 'waiting') loop.wait();
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });
});

describe('an agent that cannot work', () => {
  test('is skipped for the rest of the run, and that is said once', () => {
    const loop = pair();
    const turn = loop.iterate(NO_LOGIN);
    expect(next(turn)).toBe('codex 1.2');
    const changes = turn.told.filter(({ event }) => event === 'agent_changed');
    expect(changes).toMatchObject([{ why: 'not-logged-in', until: null }]);
    for (let iteration = 2; iteration < 5; iteration += 1) {
      loop.pass(HOUR / 10);
      const further = loop.iterate(WORK);
      expect(next(further)).toBe(`codex ${iteration}.1`);
      expect(further.told.map(({ event }) => event)).not.toContain('agent_changed');
    }
  });

  test('ends the task by the cause of the first one if none is left, and all are named', () => {
    const loop = pair();
    loop.iterate(notFound());
    const { ending, state } = loop.iterate(OUT_OF_CREDIT);
    expect(ending).toMatchObject({ status: 'failed', exitReason: 'failed:agent-not-found' });
    expect(ending?.error).toMatch(/^claude: agent not found, .*; codex: no credit, Quota/);
    expect(state.task.agent).toBe('claude');
  });

  test('is waited for no longer than one that is held', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, HOUR)));
    const turn = loop.iterate(notFound());
    expect(turn.actions).toEqual(['agent_changed', 'usage_limit_wait', 'wait']);
    expect(next(loop.wait())).toBe('claude 1.3');
  });

  test('but has worked before is looked for again if it is the only one left', () => {
    const loop = pair();
    loop.iterate(notFound());
    loop.iterate(WORK);
    expect(loop.iterate(notFound()).state.task.wait?.kind).toBe('recheck');
    expect(next(loop.wait())).toBe('codex 2.2');
  });

  test('is not looked for again while another one can work, whatever it had answered', () => {
    const loop = pair();
    loop.iterate(WORK);
    expect(next(loop.iterate(notFound()))).toBe('codex 2.2');
    // This one has not answered yet.
    expect(next(loop.iterate(notFound()))).toBe('failed failed:agent-not-found');
  });

  test('is tried again by a resume', () => {
    const loop = pair();
    loop.iterate(NO_LOGIN);
    const turn = loop.resume();
    expect(next(turn)).toBe('claude 1.3');
  });
});

describe('a resume', () => {
  test('begins with no agent that is held, and forgets none', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, 3 * 24 * HOUR)));
    loop.iterate(WORK);
    const turn = loop.resume();
    expect(next(turn)).toBe('codex 2.2');
    expect(turn.state.task.agents.claude?.why).toBe('usage-limit');
  });

  test('waits for the earliest reset if all are held, or ends at --max-wait', () => {
    const begin = () => {
      const loop = pair({ maxWaitMs: HOUR });
      loop.iterate(limited(laterBy(START, 3 * HOUR)));
      const ended = loop.iterate(errorReport("You've hit your usage limit. try again in 5 hours"));
      expect(next(ended)).toBe('usage_limited usage_limit');
      return loop;
    };
    expect(next(begin().resume({}, { afterMs: HOUR }))).toBe('usage_limited usage_limit');
    const loop = begin();
    expect(loop.resume({}, { afterMs: 2.5 * HOUR }).state.task.wait?.kind).toBe('usage-limit');
    expect(next(loop.wait())).toBe('claude 1.3');
    expect(next(begin().resume({}, { afterMs: 4 * HOUR }))).toBe('claude 1.3');
  });

  test('with other agents that are held goes on with the next iteration after the wait', () => {
    const agents = ['claude', 'codex', 'gemini'] as const;
    const loop = pair({ agents, maxIterations: 3 });
    loop.iterate(limited(laterBy(START, 3 * HOUR)));
    loop.iterate(errorReport("You've hit your usage limit. try again in 5 hours"));
    loop.iterate(WORK);
    loop.iterate(WORK);
    expect(next(loop.iterate(WORK))).toBe('max_iterations_reached max_iterations');
    const settings = { agents: ['claude', 'codex'], maxIterations: 9 } as const;
    expect(loop.resume(settings, { afterMs: HOUR }).waitMs).toBeGreaterThan(HOUR);
    expect(next(loop.wait())).toBe('claude 4.1');
  });

  test('with another agent hands it no session', () => {
    const loop = nonstop({ session: 'continue' });
    loop.iterate(WORK);
    const turn = loop.resume({ agent: 'codex', agents: ['codex'] });
    expect(turn.agent).toMatchObject({ agent: 'codex', resumeSession: null });
  });
});

describe('the books of a list', () => {
  const USED = { cost_usd: 0.5, input_tokens: 40, output_tokens: 20 };

  test('say which agent did what, and what each has used', () => {
    const loop = pair();
    loop.iterate(limited(laterBy(START, HOUR), { usage: USED }));
    loop.iterate(answered('x', { usage: { cost_usd: 0, input_tokens: 7, output_tokens: 8 } }));
    const lost = { cost_usd: 0, input_tokens: 1, output_tokens: 1 };
    loop.resume({}, { afterMs: MINUTE, lost });
    const { task } = loop.state();
    expect(task.iterations).toMatchObject([{ number: 1, agent: 'codex' }]);
    expect(task.errors).toMatchObject([
      { agent: 'claude', kind: 'usage-limited' },
      { agent: 'codex', kind: 'interrupted' },
    ]);
    expect(task.agents).toMatchObject({
      claude: { usage: USED },
      codex: { usage: { cost_usd: 0, input_tokens: 8, output_tokens: 9 } },
    });
    expect(task.usage).toEqual({ cost_usd: 0.5, input_tokens: 48, output_tokens: 29 });
    loop.iterate(DONE);
    expect(loop.state().task.evidence?.agent).toBe('codex');
  });

  test('name no agent where there is only one', () => {
    const loop = nonstop();
    loop.iterate(OVERLOADED);
    loop.wait();
    loop.iterate(DONE);
    const { agent, agents, iterations, errors, evidence } = loop.state().task;
    expect({ agent, agents }).toEqual({ agent: 'claude', agents: {} });
    for (const each of [...iterations, ...errors, evidence])
      expect(each).not.toHaveProperty('agent');
  });

  test('count the same error only within one agent', () => {
    const broken = withoutReport(1, 'cannot write', { sessionId: null });
    const loop = pair({ sameErrorLimit: 2 });
    loop.iterate(broken);
    loop.iterate(limited(laterBy(loop.now(), HOUR)));
    expect(next(loop.iterate(broken))).toBe('codex 3.1');
    expect(next(loop.iterate(broken))).toBe('stalled same-error');
  });
});
