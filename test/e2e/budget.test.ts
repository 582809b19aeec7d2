import { describe, expect, test } from 'vitest';
import { planLimited } from '../helpers/fake-claude.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// Money: what is counted, what is handed on, and what happens when it is spent.

const FLAG = '--max-budget-usd';

/** What each call was told it may spend; null where it was told nothing. */
function budgets(scene: Scene): readonly (number | null)[] {
  return scene.fake.calls().map(({ argv }) => {
    const at = argv.indexOf(FLAG);
    return at === -1 ? null : Number(argv[at + 1]);
  });
}

test('--max-cost: the rest is handed on and shrinks; spent: exit 8 and a note', async () => {
  const scene = await makeScene({ text: 'Not yet.', costUsd: 0.4 });
  const { exitCode, stdout, stderr } = await scene.run(['-n', '9', '--max-cost', '1']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
  const [first, second, third, ...more] = budgets(scene);
  expect(more).toEqual([]);
  expect(first).toBeCloseTo(1, 4);
  expect(second).toBeCloseTo(0.6, 4);
  expect(third).toBeCloseTo(0.2, 4);
  expect(scene.state()).toMatchObject({ status: 'budget_spent', exit_reason: 'budget' });
  expect(scene.state().usage.cost_usd).toBeCloseTo(1.2, 6);
  const [note] = scene.notes();
  expect(note).toMatchObject({
    name: expect.stringMatching(/^RALPH_BUDGET_t_\d{8}T\d{6}Z\.md$/),
    frontMatter: { type: 'ralph_budget', reason: 'budget', iterations: 3 },
    text: expect.stringContaining('$1.20 of $1.00 are spent'),
  });
  expect(stderr).toContain('the budget of the task is spent');
  expect(stderr).toContain(note?.path);
  expect(scene.journal().at(-1)).toMatchObject({ event: 'task_budget_spent', exit_code: 8 });
});

test('over all attempts: one that failed costs as well', async () => {
  const fault: Turn = {
    isError: true,
    apiErrorStatus: 529,
    text: 'API Error: 529 Overloaded.',
    costUsd: 0.3,
  };
  const scene = await makeScene([fault, { text: 'Not yet.', costUsd: 0.3 }]);
  const { exitCode } = await scene.run(['--max-cost', '0.5']);
  expect(exitCode).toBe(8);
  expect(budgets(scene)[1]).toBeCloseTo(0.2, 4);
  expect(scene.state().iterations[0].cost_usd).toBeCloseTo(0.6, 6);
});

test.for<[string, Turn]>([
  ['a passing fault', { isError: true, apiErrorStatus: 529, text: 'API Error: 529 Overloaded.' }],
  ['a limit of the plan', planLimited(1_000)],
])('spent when %s comes: nothing is waited for', async ([, turn]) => {
  const scene = await makeScene([{ ...turn, costUsd: 2 }]);
  const { exitCode } = await scene.run(['--max-cost', '1']);
  expect(exitCode).toBe(8);
  expect(scene.fake.calls()).toHaveLength(1);
});

test('an iteration that is cut off costs what it reports', async () => {
  const scene = await makeScene([
    { before: ['On it.'], hangs: true, reportsOnSigint: true, costUsd: 2 },
  ]);
  const { exitCode } = await scene.run(['--max-cost', '1', '--iteration-timeout', LIMIT]);
  expect(exitCode).toBe(8);
});

test('cut by the very budget: spent', async () => {
  const scene = await makeScene([
    {
      before: ['On it.'],
      subtype: 'error_max_budget_usd',
      isError: true,
      errors: ['Reached maximum budget ($1)'],
      costUsd: 1.01,
    },
  ]);
  expect((await scene.run(['--max-cost', '1'])).exitCode).toBe(8);
});

test('completion goes before it', async () => {
  const scene = await makeScene([{ text: 'TASK_COMPLETE', costUsd: 9 }]);
  expect((await scene.run(['--max-cost', '1'])).exitCode).toBe(0);
});

test('without --max-cost nothing is handed on', async () => {
  const scene = await makeScene([{ text: 'TASK_COMPLETE' }]);
  await scene.run();
  expect(budgets(scene)).toEqual([null]);
});

describe('a claude that does not know the flag', () => {
  const UNKNOWN: Turn = {
    bare: true,
    noResult: true,
    stderr: `error: unknown option '${FLAG}'\n`,
    exitCode: 1,
  };

  test('it is dropped once and said; the budget holds all the same', async () => {
    const scene = await makeScene([
      UNKNOWN,
      { text: 'One.', costUsd: 0.6 },
      { text: 'Two.', costUsd: 0.6 },
    ]);
    const { exitCode, stderr } = await scene.run(['--max-cost', '1']);
    expect(exitCode).toBe(8);
    const [first, ...rest] = budgets(scene);
    expect(first).toBeCloseTo(1, 4);
    expect(rest).toEqual([null, null]);
    expect(stderr.split(FLAG).length - 1).toBe(stderr.includes('unknown option') ? 2 : 1);
    expect(stderr).toMatch(/does not know --max-budget-usd.*continues without/);
    expect(scene.state()).toMatchObject({ iterations: [{ number: 1 }, { number: 2 }] });
  });

  test('where the user gave it himself it is the user’s mistake', async () => {
    const scene = await makeScene([UNKNOWN]);
    const { exitCode } = await scene.run(['--', FLAG, '1']);
    expect(exitCode).toBe(1);
    expect(scene.state().exit_reason).toBe('failed:bad-option');
  });
});
