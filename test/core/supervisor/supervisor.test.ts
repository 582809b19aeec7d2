import { expect, test } from 'vitest';
import type { SignFound } from '../../../src/core/agent/sign.ts';
import {
  type AgentDeed,
  createSupervisor,
  type SignLimits,
} from '../../../src/core/supervisor/supervisor.ts';
import { NO_LIMITS } from '../../helpers/no-limits.ts';

type How = Extract<AgentDeed, { kind: 'answered' }>['how'];

/** A supervisor to which whole calls are told, each with an id of its own. */
function watch(limits: Partial<SignLimits>) {
  const { observe } = createSupervisor({ ...NO_LIMITS, ...limits });
  let calls = 0;
  const made = (how: How, command: string, by: string | null = null): SignFound | null => {
    calls += 1;
    const id = `c${calls}`;
    observe({ kind: 'called', id, by, tool: 'Bash', input: { command } });
    return observe({ kind: 'answered', id, how });
  };
  return {
    observe,
    failed: (command: string, by?: string) => made('failed', command, by),
    worked: (command: string, by?: string) => made('succeeded', command, by),
    refused: (command: string, by?: string) => made('refused', command, by),
  };
}

type Watch = ReturnType<typeof watch>;

function repeat(times: number, step: (n: number) => SignFound | null): (SignFound | null)[] {
  return Array.from({ length: times }, (_, index) => step(index + 1));
}

/** What was found in some steps, each in the words `told 2`. */
function foundIn(steps: readonly (SignFound | null)[]): readonly string[] {
  return steps.flatMap((found) => (found === null ? [] : [`${found.action} ${found.count}`]));
}

test('a failing call is told at a quarter of the limit, rounded up, and cut at the limit', () => {
  const { failed } = watch({ sameFailing: 5 });
  const detail = 'Bash: npm test';
  expect(repeat(9, () => failed('npm test'))).toEqual([
    ...[null, null],
    { sign: 'same-failing-call', action: 'told', count: 2, detail },
    ...[null, null],
    { sign: 'same-failing-call', action: 'cut', count: 5, detail },
    // A cut is found once.
    ...[null, null, null],
  ]);
});

test('a limit of 1 cuts without telling first', () => {
  const { failed } = watch({ sameFailing: 1 });
  expect(foundIn(repeat(2, () => failed('npm test')))).toEqual(['cut 1']);
});

test('nothing more is found after a cut, not even another sign', () => {
  const { observe, failed } = watch({ tokens: 10, sameFailing: 1 });
  expect(observe({ kind: 'used', tokens: 11 })?.action).toBe('cut');
  expect(foundIn(repeat(5, () => failed('npm test')))).toEqual([]);
  expect(observe({ kind: 'used', tokens: 11 })).toBeNull();
});

test.for<[string, (watched: Watch) => unknown, string[]]>([
  ['a new call that works', ({ worked }) => worked('edit 1'), ['told 1', 'cut 4']],
  ['a call that worked before', ({ worked }) => worked('seen'), ['cut 4']],
  ['a call that failed before and works now', ({ worked }) => worked('npm test'), ['cut 4']],
  ['a new call that fails', ({ failed }) => failed('other'), ['cut 4']],
  ['a refused call', ({ refused }) => refused('other'), ['cut 4']],
  ['a new call of another agent', ({ worked }) => worked('edit 1', 'sub'), ['cut 4']],
])('the count of failing calls after %s', ([, between, expected]) => {
  const watched = watch({ sameFailing: 4 });
  watched.worked('seen');
  expect(foundIn(repeat(2, () => watched.failed('npm test')))).toEqual(['told 1']);
  between(watched);
  expect(foundIn(repeat(6, () => watched.failed('npm test')))).toEqual(expected);
});

test('what failed before a new call worked did not fail before', () => {
  const { failed, worked } = watch({ sameFailing: 1 });
  const rounds = repeat(30, (n) => failed('npm test') ?? worked(`edit ${n}`));
  expect(foundIn(rounds)).toEqual([]);
});

test('a call that works counts from its first repetition on, and only if nothing new worked', () => {
  const { worked } = watch({ sameCall: 4 });
  expect(foundIn(repeat(3, () => worked('look')))).toEqual(['told 1']);
  expect(foundIn(repeat(9, (n) => worked(`edit ${n}`) ?? worked('look')))).toEqual([]);
  expect(foundIn(repeat(9, () => worked('look')))).toEqual(['told 1', 'cut 4']);
});

test.for<[string, (watched: Watch) => unknown, string[]]>([
  ['any call that works', ({ worked }) => worked('seen'), ['cut 4']],
  ['a new call that works', ({ worked }) => worked('edit 1'), ['told 1', 'cut 4']],
])(
  'the count of refused calls starts again after %s, and is told again only after a new call worked',
  ([, between, expected]) => {
    const watched = watch({ refused: 4 });
    watched.worked('seen');
    expect(foundIn(repeat(3, (n) => watched.refused(`try ${n}`)))).toEqual(['told 1']);
    between(watched);
    expect(foundIn(repeat(3, (n) => watched.refused(`again ${n}`)))).toEqual(expected.slice(0, -1));
    expect(foundIn([watched.refused('last')])).toEqual(expected.slice(-1));
  },
);

test('a call that fails does not answer for refused ones', () => {
  const { refused, failed } = watch({ refused: 2 });
  expect(foundIn([refused('a'), failed('b'), refused('c')])).toEqual(['told 1', 'cut 2']);
});

test('a refused call is no failing one', () => {
  const { refused } = watch({ sameFailing: 1, sameCall: 1 });
  expect(foundIn(repeat(9, () => refused('npm publish')))).toEqual([]);
});

test('a limit that is null is off', () => {
  const { observe, failed, worked, refused } = watch({});
  const deeds: readonly AgentDeed[] = [
    { kind: 'used', tokens: 1e12 },
    { kind: 'spent', costUsd: 1e6 },
    { kind: 'sub-agent-started', id: 'a' },
  ];
  expect(deeds.map(observe)).toEqual([null, null, null]);
  const calls = repeat(300, () => failed('a') ?? worked('b') ?? refused('c'));
  expect(foundIn([...calls, ...repeat(300, () => refused('c'))])).toEqual([]);
});

test('an answer is read once, and one without a call is ignored', () => {
  const { observe, failed } = watch({ sameFailing: 4 });
  failed('npm test');
  const again: AgentDeed = { kind: 'answered', id: 'c1', how: 'failed' };
  const unknown: AgentDeed = { kind: 'answered', id: 'x', how: 'failed' };
  expect([again, unknown, again].map(observe)).toEqual([null, null, null]);
  expect(failed('npm test')?.count).toBe(1);
});

test('a call that is told twice before its answer is one call, and new', () => {
  const { observe, failed } = watch({ sameFailing: 2 });
  repeat(2, () => failed('npm test'));
  const call: AgentDeed = { kind: 'called', id: 'x', by: null, tool: 'Edit', input: { at: 1 } };
  observe(call);
  observe(call);
  observe({ kind: 'answered', id: 'x', how: 'succeeded' });
  expect(failed('npm test')).toBeNull();
});

test('calls under way at the same time are told apart', () => {
  const { observe } = watch({ sameFailing: 4 });
  const ids = ['a', 'b', 'c'];
  for (const id of ids) {
    observe({ kind: 'called', id, by: null, tool: 'Bash', input: { command: `test ${id}` } });
  }
  const answers = ids.map((id) => observe({ kind: 'answered', id, how: 'failed' }));
  expect(answers).toEqual([null, null, null]);
});

test('sub-agents may start up to the limit, each counted once', () => {
  const { observe } = watch({ subAgents: 2 });
  const ids = ['a', 'a', 'b', 'b', 'a', 'c'];
  const found = ids.map((id) => observe({ kind: 'sub-agent-started', id }));
  expect(found.map((each) => each?.count ?? 0)).toEqual([0, 0, 0, 0, 0, 3]);
});

test('tokens and money of all agents are added up', () => {
  const tokens = watch({ tokens: 100 });
  expect(foundIn(repeat(4, () => tokens.observe({ kind: 'used', tokens: 33 })))).toEqual([
    'cut 132',
  ]);
  const money = watch({ moneyUsd: 0.8 });
  // The sum is 0.7999999999999999.
  const costs = [0.7, 0.1].map((costUsd) => money.observe({ kind: 'spent', costUsd }));
  expect(costs.map((found) => found?.action)).toEqual([undefined, 'cut']);
});

test.for<[string, string, Readonly<Record<string, unknown>> | null, string]>([
  ['a command', 'Bash', { command: ' npm  test\n && ls' }, 'Bash: npm test && ls'],
  ['a file', 'Read', { offset: 1, file_path: '/a/b.ts' }, 'Read: /a/b.ts'],
  ['nothing', 'TodoWrite', { todos: [] }, 'TodoWrite'],
  ['no input', 'Look', null, 'Look'],
  ['controls', 'Bash', { command: '\u001b[31mred' }, 'Bash: red'],
  ['too much', 'Bash', { command: 'x'.repeat(999) }, `Bash: ${'x'.repeat(113)}…`],
])('the detail of a call with %s is one line', ([, tool, input, detail]) => {
  const { observe } = watch({ refused: 1 });
  observe({ kind: 'called', id: 'a', by: null, tool, input });
  expect(observe({ kind: 'answered', id: 'a', how: 'refused' })?.detail).toBe(detail);
});

test('the detail of a call masks a credential that it would cut in two', () => {
  const { refused } = watch({ refused: 1 });
  const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`;
  const detail = refused(`curl --silent ${'x'.repeat(80)} -u ${token} .`)?.detail;
  expect(detail).toMatch(/^Bash: curl/);
  expect(detail).not.toContain('a1B2');
});

test('what one agent does never touches the counts of another', () => {
  // A fixed row of numbers that looks like chance.
  let last = 7;
  const below = (most: number): number => {
    last = (last * 48_271) % 2_147_483_647;
    return last % most;
  };
  const limits = { sameFailing: 8, sameCall: 12, refused: 8 };
  const agents = [null, 'one', 'two', 'three'] as const;
  const hows = ['failed', 'failed', 'succeeded', 'refused'] as const;
  let cuts = 0;
  for (let round = 0; round < 200; round += 1) {
    const all = watch(limits);
    const alone = new Map(agents.map((by) => [by, watch(limits)]));
    const newOnes = 1 + below(30);
    for (let step = 0; step < 400; step += 1) {
      const by = agents[below(agents.length)] ?? null;
      const command = below(newOnes) === 0 ? `new ${step}` : `call ${below(3)}`;
      const call: AgentDeed = {
        kind: 'called',
        id: `${step}`,
        by,
        tool: 'Bash',
        input: { command },
      };
      const how = hows[below(hows.length)] ?? 'failed';
      const answer: AgentDeed = { kind: 'answered', id: `${step}`, how };
      all.observe(call);
      alone.get(by)?.observe(call);
      const found = all.observe(answer);
      expect(found).toEqual(alone.get(by)?.observe(answer));
      if (found?.action !== 'cut') continue;
      cuts += 1;
      break;
    }
  }
  expect(cuts).toBeGreaterThan(50);
});

test.for<[string, (watched: Watch, n: number) => unknown]>([
  ['calls of the same agent', ({ failed }, n) => failed(`other ${n}`, 'sub')],
  ['agents', ({ failed }, n) => failed('npm test', `agent ${n}`)],
])('a call is forgotten after 100,000 others: %s', ([, other]) => {
  const watched = watch({ sameFailing: 1 });
  watched.failed('npm test', 'sub');
  for (let n = 0; n < 100_000; n += 1) other(watched, n);
  expect(watched.failed('npm test', 'sub')).toBeNull();
  expect(watched.failed('npm test', 'sub')?.action).toBe('cut');
});

test('calls without an answer are forgotten after 100,000 others', () => {
  const { observe } = watch({ refused: 1 });
  for (let n = 0; n <= 100_000; n += 1) {
    observe({ kind: 'called', id: `${n}`, by: null, tool: 'Bash', input: { command: `${n}` } });
  }
  expect(observe({ kind: 'answered', id: '0', how: 'refused' })).toBeNull();
  expect(observe({ kind: 'answered', id: '100000', how: 'refused' })?.action).toBe('cut');
});

test('the main agent is not forgotten, however many sub-agents there are', () => {
  const { failed } = watch({ sameFailing: 1 });
  failed('npm test');
  for (let n = 0; n < 1_000; n += 1) failed('npm test', `agent ${n}`);
  expect(failed('npm test')?.action).toBe('cut');
});

test('what goes on is not forgotten: a call that is repeated, an agent that works', () => {
  const call = watch({ sameFailing: 300 });
  const rounds = repeat(301, (n) => {
    for (let other = 0; other < 10; other += 1) call.failed(`other ${n} ${other}`);
    return call.failed('npm test');
  });
  expect(foundIn(rounds)).toEqual(['told 75', 'cut 300']);
  const agent = watch({ sameFailing: 300 });
  expect(
    foundIn(
      repeat(301, (n) => agent.failed('npm test', `agent ${n}`) ?? agent.failed('npm test', 'sub')),
    ),
  ).toEqual(['told 75', 'cut 300']);
});
