import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import {
  backQuestion,
  type DoubtfulPlace,
  PLACES,
} from '../../../src/core/completion/back-question.ts';
import { judgePromise } from '../../../src/core/completion/promise.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { msBetween } from '../../../src/core/task/task-state.ts';
import {
  answered,
  cut,
  errorReport,
  notFound,
  refusedTool,
  withoutReport,
} from '../../helpers/attempt-facts.ts';
import { checks } from '../../helpers/checks.ts';
import { LIMITED, type Loop, nonstop, TAG } from '../../helpers/loop-events.ts';
import type { Turn } from '../../helpers/loop-in-hand.ts';

const DOUBTFUL = `All tests pass.\n${TAG}\nSummary: two files changed.`;
const DOUBT = answered(DOUBTFUL, { durationMs: 5_000, turns: 4, tools: 6 });
const STATED = answered(TAG);
const MISSING = answered('The changelog is missing.');
const COST = { cost_usd: 0.25, input_tokens: 7, output_tokens: 3 };
const NO_COST = { cost_usd: 0, input_tokens: 0, output_tokens: 0 };
const ASKED = ['asked_back', 'start-agent 1.2'];

/** A loop whose agent has been asked. */
function asked(changes: Partial<Policy> = {}, facts = DOUBT): Loop {
  const loop = nonstop(changes);
  expect(loop.iterate(facts).actions).toEqual(ASKED);
  return loop;
}

describe('an answer in doubt', () => {
  test('is asked about within its iteration, in its own session', () => {
    const turn = nonstop({ maxCostUsd: 1 }).iterate(DOUBT);
    expect(turn.told).toEqual([
      { event: 'asked_back', iteration: 1, attempt: 2, line: TAG, where: 'earlier-line' },
    ]);
    expect(turn.agent).toMatchObject({
      iteration: 1,
      attempt: 2,
      prompt: { kind: 'question', text: backQuestion('DONE', 'earlier-line') },
      resumeSession: 'session-1',
      budgetUsd: 0.99,
    });
    expect(turn.state).toMatchObject({
      step: { kind: 'asking-back' },
      task: { attempt: 2, iterations: [], metrics: { iterations: 0 } },
    });
  });

  test('completes the task if the reply states the promise: one counted iteration', () => {
    const loop = asked();
    const { ending, state, told } = loop.iterate(STATED);
    expect(ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'promise', detail: TAG },
    });
    expect(told.map(({ event }) => event)).toEqual(['task_iterated']);
    // The answer is the result, and the statement what it was found complete by.
    expect(state.finalMessage).toBe(DOUBTFUL);
    expect(state.task).toMatchObject({
      metrics: { iterations: 1 },
      iterations: [{ number: 1, completed: true, near_miss: false }],
      usage: { cost_usd: 0.02 },
      errors: [],
    });
  });

  test('is a near miss if the reply says what is missing, and the next prompt repeats it', () => {
    const { actions, told, addition, state } = asked().iterate(MISSING);
    expect(actions).toEqual(['task_iterated', 'near_miss', 'iteration_started', 'start-agent 2.1']);
    expect(told[1]).toMatchObject({ line: TAG, why: 'earlier-line' });
    expect(state.task.iterations).toMatchObject([{ near_miss: true, completed: false }]);
    expect(addition).toContain(
      `${DOUBTFUL}\n\n[asked whether the task is complete, it answered:]\nThe changelog is missing.\n=====`,
    );
    expect(addition).toContain('on an earlier line, with more text behind it');
    expect(addition).toContain('fix first what you said is missing');
  });

  test('whose reply ends in a question: nobody answers it', () => {
    expect(asked().iterate(answered('Shall I write the changelog?')).addition).toContain(
      'Nobody answers questions here',
    );
  });

  test('costs the iteration the price of both', () => {
    const reply = answered(TAG, {
      durationMs: 2_000,
      turns: 1,
      tools: 1,
      usage: COST,
      refused: [refusedTool('Bash', 'npm test')],
    });
    const loop = asked({ maxIterations: 1 });
    // A statement from an iteration in which a tool was refused is held, whenever it was refused.
    const { state, told } = loop.iterate(reply);
    expect(told[1]).toMatchObject({ event: 'claim_held', gate: 'refused-tools' });
    expect(state.task.iterations).toMatchObject([
      {
        duration_ms: 7_000,
        turns: 5,
        tools: 7,
        refused: ['Bash: npm test'],
        cost_usd: 0.26,
        input_tokens: 107,
        output_tokens: 13,
        output_preview: expect.stringMatching(/^All tests pass\./),
      },
    ]);
    expect(state.task.metrics.api_calls).toBe(5);
    expect(state.task.usage.cost_usd).toBe(0.26);
  });

  test('is asked about once in an iteration, and again in the next', () => {
    const loop = asked();
    expect(loop.iterate(DOUBT).actions).toContain('start-agent 2.1');
    expect(loop.iterate(DOUBT).actions).toEqual(['asked_back', 'start-agent 2.2']);
    expect(loop.iterate(STATED).ending?.status).toBe('completed');
  });

  test('is judged by an observation after the question, not before', () => {
    const loop = asked({ watchGlobs: ['out/*.md'] });
    expect(loop.attempt(MISSING).actions).toEqual(['look']);
    const { ending } = loop.look({ ...NOTHING_SEEN, watchMatches: ['out/a.md'] });
    expect(ending).toMatchObject({ status: 'completed', evidence: { kind: 'watch-glob' } });
  });

  test('that is settled has to pass the gates like any other', () => {
    const loop = asked({ verify: checks('npm test'), confirm: 2 });
    expect(loop.iterate(STATED).actions).toEqual(['verify npm test']);
    const passed = { command: 'npm test', exitCode: 0, timedOut: false, output: '' };
    expect(loop.verified(passed).actions).toContain('claim_held');
    expect(loop.iterate(STATED).actions).toEqual(['verify npm test']);
    expect(loop.verified(passed).ending?.status).toBe('completed');
  });

  test.for<[where: string, message: string]>([
    ['earlier-line', DOUBTFUL],
    ['closing-sentence', 'All tests pass. DONE'],
    ['below-open-paragraph', `I still cannot honestly output\n\n${TAG}`],
    ['shared-line', `All tests pass: ${TAG}`],
    ['veiled', '<promise>DO\u200bNE</promise>'],
  ])('%s: the question says where the promise stood', ([where, message]) => {
    expect(nonstop().iterate(answered(message)).told).toMatchObject([{ where }]);
  });

  test('with --session continue the next iteration follows the question in the session', () => {
    const loop = nonstop({ session: 'continue' });
    loop.iterate(DOUBT);
    const next = loop.iterate(answered('The changelog is missing.', { sessionId: 'session-2' }));
    expect(next.agent?.resumeSession).toBe('session-2');
    // The session knows both.
    expect(next.addition).not.toContain('The changelog is missing.');
  });
});

test('a reply that asks for an approval beside the statement is a near miss', () => {
  const reply = `<approval id="push">push to main</approval>\n\n${TAG}`;
  const turn = asked().iterate(answered(reply));
  expect(turn.ending).toBeNull();
  expect(turn.actions).toContain('near_miss');
});

describe('a question that brings nothing', () => {
  test.for<[name: string, reply: AttemptFacts, error: string | null]>([
    ['a usage limit', LIMITED, 'usage-limited'],
    ['an overload', errorReport('API Error: 529 Overloaded.', 529), 'transient'],
    ['a time limit', cut('iteration-timeout'), 'timed-out'],
    ['an agent that crashes', withoutReport(1, 'boom'), 'errored'],
    ['an agent that is gone', notFound(), 'fatal:agent-not-found'],
    [
      'a login that is gone',
      errorReport('Not logged in · Please run /login'),
      'fatal:not-logged-in',
    ],
    [
      'a session that is gone',
      errorReport('No conversation found with session ID: session-1'),
      'session-gone',
    ],
    ['no words', answered(''), null],
  ])('%s: a near miss, and the loop continues', ([, reply, error]) => {
    const { actions, state, addition } = asked().iterate(reply);
    expect(actions).toEqual(['task_iterated', 'near_miss', 'iteration_started', 'start-agent 2.1']);
    expect(state.task.iterations).toMatchObject([{ outcome: 'answered', near_miss: true }]);
    expect(state.task.errors.map(({ kind, attempt }) => [kind, attempt])).toEqual(
      error === null ? [] : [[error, 2]],
    );
    expect(state.task.breaker.same_error).toBe(0);
    expect(addition).toContain('Summary: two files changed.\n');
    expect(addition).toContain('state it as the last line of your final message');
  });

  test('words of an agent that does not end well state nothing', () => {
    const turn = asked().iterate({ ...STATED, end: { kind: 'exited', exitCode: 3 } });
    expect(turn.ending).toBeNull();
  });

  test('is cut by a stop: the iteration counts, and the task ends stopped', () => {
    const loop = asked();
    loop.stop('SIGINT');
    const { ending, state } = loop.iterate(cut('stop-requested', { usage: COST }));
    expect(ending?.status).toBe('stopped');
    expect(state.task).toMatchObject({
      metrics: { iterations: 1 },
      iterations: [{ number: 1, cost_usd: 0.26, near_miss: true }],
    });
    expect(loop.resume().actions).toEqual(['task_resumed', 'iteration_started', 'start-agent 2.1']);
  });

  test('is cut by the limit of the whole task: the task ends by it', () => {
    const loop = nonstop({}, 60_000);
    loop.iterate(DOUBT);
    const { ending } = loop.iterate(cut('task-timeout', { durationMs: 55_000 }));
    expect(ending?.status).toBe('timeout');
  });

  test('spends the money: the task ends by that', () => {
    const loop = asked({ maxCostUsd: 0.2 });
    const turn = loop.iterate(answered('Not yet.', { usage: COST }));
    expect(turn.ending?.status).toBe('budget_spent');
  });
});

describe('nothing is asked', () => {
  const wide = { rateLimit: { status: 'allowed', resetsAt: null, type: null, utilization: 0.9 } };
  const APPROVAL = `${TAG}\n<approval id="push">push to main</approval>`;

  test.for<[name: string, policy: Partial<Policy>, facts: AttemptFacts]>([
    ['with --no-ask-back', { askBack: false }, DOUBT],
    ['of an agent without sessions', { agent: 'command' }, { ...DOUBT, sessionId: null }],
    ['before --min-iterations', { minIterations: 2 }, DOUBT],
    ['once the money is spent', { maxCostUsd: 0.01 }, DOUBT],
    ['once --max-usage is reached', { maxUsagePercent: 80 }, answered(DOUBTFUL, wide)],
    [
      'of an agent that gives the task up',
      { abortPromise: 'HOPELESS' },
      answered(`${DOUBTFUL}\nHOPELESS`),
    ],
    ['of an agent that asks for an approval', {}, answered(APPROVAL)],
    ['of one that takes it back', {}, answered(`I cannot state ${TAG} yet.`)],
    ['of one that has stated it', {}, STATED],
    ['of one that was cut', {}, { ...DOUBT, end: cut('iteration-timeout').end }],
    ['about a signal', { promise: null, signals: ['DONE'] }, answered('All is well. DONE')],
    ['about an abort promise', { promise: null, abortPromise: 'DONE' }, answered('No way. DONE')],
    ['with --match contains', { match: 'contains' }, DOUBT],
  ])('%s', ([, policy, facts]) => {
    const turn = nonstop(policy).iterate(facts);
    expect(turn.actions).not.toContain('asked_back');
    expect(turn.state.task.metrics.iterations).toBe(1);
  });

  test('if the time of the whole task is over', () => {
    const turn = nonstop({}, 5_000).iterate(DOUBT);
    expect(turn.ending?.status).toBe('timeout');
    expect(turn.actions).toContain('near_miss');
  });

  test('if somebody has asked the loop to stop', () => {
    const loop = nonstop();
    loop.stop('SIGTERM');
    expect(loop.iterate(DOUBT).ending?.status).toBe('stopped');
  });

  test('and the reminder says where the promise belongs', () => {
    const { addition } = nonstop({ askBack: false }).iterate(DOUBT);
    expect(addition).toContain(
      `on an earlier line, with more text behind it: "${TAG}". When the task is truly complete, state it as the last line of your final message. Give it a line of its own, below a finished sentence.`,
    );
    expect(addition).not.toContain('Asked whether');
  });

  test('but a loop that pauses after its iteration asks: the question belongs to it', () => {
    const loop = nonstop();
    loop.pause();
    expect(loop.iterate(DOUBT).actions).toEqual(ASKED);
    expect(loop.iterate(MISSING).ending?.status).toBe('paused');
  });
});

describe('a driver that dies while the question is asked', () => {
  const lost = (usage: typeof COST | null, changes: Partial<Policy> = {}): [Loop, Turn] => {
    const loop = asked();
    return [loop, loop.resume(changes, { lost: usage })];
  };

  test('after the question has cost something: a near miss, counted once with all costs', () => {
    const [loop, resumed] = lost(COST);
    expect(resumed.actions).toEqual(['task_resumed', 'look']);
    const turn = loop.look(NOTHING_SEEN);
    expect(turn.actions).toEqual([
      'task_iterated',
      'near_miss',
      'iteration_started',
      'start-agent 2.1',
    ]);
    expect(turn.state.task).toMatchObject({
      metrics: { iterations: 1 },
      usage: { cost_usd: 0.26 },
      iterations: [{ number: 1, cost_usd: 0.26, near_miss: true, turns: 4 }],
      errors: [{ kind: 'interrupted', iteration: 1, attempt: 2 }],
    });
    expect(turn.addition).toContain('Summary: two files changed.');
  });

  test('before it has cost anything: it is asked again, once', () => {
    const [loop, turn] = lost(NO_COST);
    expect(turn.actions).toEqual(['task_resumed', 'asked_back', 'start-agent 1.3']);
    expect(turn.agent?.resumeSession).toBe('session-1');
    expect(loop.resume({}, { lost: NO_COST }).actions).toEqual(['task_resumed', 'look']);
    expect(loop.look(NOTHING_SEEN).actions).toContain('start-agent 2.1');
    expect(loop.state().task.metrics.iterations).toBe(1);
  });

  test('and a reply to the question that is asked again counts', () => {
    const [loop] = lost(NO_COST);
    const { ending, state } = loop.iterate(STATED);
    expect(ending?.status).toBe('completed');
    expect(state.task.iterations).toMatchObject([{ number: 1, completed: true }]);
  });

  test('and the task is resumed with --no-ask-back: it is not asked again', () => {
    const [loop, resumed] = lost(NO_COST, { askBack: false });
    expect(resumed.actions).toEqual(['task_resumed', 'look']);
    expect(loop.look(NOTHING_SEEN).actions).toContain('start-agent 2.1');
  });

  test('loses no time to work in', () => {
    const loop = asked();
    const before = msBetween(loop.now(), loop.state().task.timeout_at);
    loop.resume({}, { lost: NO_COST });
    expect(msBetween(loop.now(), loop.state().task.timeout_at)).toBe(before);
  });
});

describe('the question', () => {
  test('repeated line by line it states no promise that happens to stand in it', () => {
    const promise = 'Do no further work now';
    const loop = nonstop({ promise });
    loop.iterate(answered(`<promise>${promise}</promise>\nSummary.`));
    const echo = backQuestion(promise, 'earlier-line').replaceAll('. ', '.\n');
    expect(loop.iterate(answered(echo)).ending).toBeNull();
  });

  test.for(Object.keys(PLACES) as DoubtfulPlace[])(
    '%s: repeated by the agent it states nothing',
    (where) => {
      const question = backQuestion('DONE', where);
      expect(judgePromise(question, 'DONE', 'statement', []).kind).toBe('near-miss');
      for (const echo of [question, `> ${question}`, question.replaceAll('. ', '.\n')]) {
        const loop = asked();
        expect(loop.iterate(answered(echo)).ending).toBeNull();
        const again = asked();
        expect(again.iterate(answered(`${echo}\n\n${TAG}`)).ending?.status).toBe('completed');
      }
    },
  );
});
