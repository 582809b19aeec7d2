import { expect, test } from 'vitest';
import type { Policy } from '../../../src/core/task/policy.ts';
import { OVERLOADED, WORK } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

// The budget of the day: before each start of the agent the day is counted, and ends the task if it is spent.

const UNTIL = '2026-01-06T00:00:00.000Z';
const ROOM = { spentUsd: 4.99, until: UNTIL };
const SPENT = { spentUsd: 5, until: UNTIL };

const begun = (changes: Partial<Policy> = {}) => {
  const loop = loopInHand({ maxCostPerDay: 5, delayMs: 0, ...changes });
  return { loop, first: loop.start() };
};

test('without a budget of the day nothing is counted', () => {
  const { first } = begun({ maxCostPerDay: null });
  expect(first.actions).toEqual(['task_started', 'iteration_started', 'start-agent 1.1']);
});

test('a day with room starts the agent, in the first iteration and in the next', () => {
  const { loop, first } = begun();
  expect(first.actions).toEqual(['task_started', 'count-day']);
  expect(loop.dayCounted(ROOM).actions).toEqual(['iteration_started', 'start-agent 1.1']);
  expect(loop.iterate(WORK).actions).toEqual(['task_iterated', 'count-day']);
  expect(loop.dayCounted(ROOM).actions).toEqual(['iteration_started', 'start-agent 2.1']);
});

test('a day that is spent ends the task, also before its first iteration', () => {
  const { loop } = begun();
  const { actions, ending, state } = loop.dayCounted(SPENT);
  expect(actions).toEqual(['stop:budget_spent']);
  expect(ending).toEqual({
    status: 'budget_spent',
    exitReason: 'day_budget',
    event: 'task_budget_spent',
    evidence: null,
    note: 'BUDGET',
    error: 'all tasks together have spent $5.00 of $5.00 since midnight',
    until: UNTIL,
  });
  expect(state.task.current_iteration).toBe(0);
});

test('another attempt of an iteration is counted too, after its wait', () => {
  const { loop } = begun();
  loop.dayCounted(ROOM);
  expect(loop.iterate(OVERLOADED).waitMs).not.toBeNull();
  expect(loop.wait().actions).toEqual(['count-day']);
  expect(loop.dayCounted(ROOM).agent).toMatchObject({ iteration: 1, attempt: 2 });
});

test('a task that the day ended is counted again once it is resumed', () => {
  const { loop } = begun();
  loop.dayCounted(ROOM);
  loop.iterate(WORK);
  expect(loop.dayCounted(SPENT).ending?.exitReason).toBe('day_budget');
  expect(loop.resume().actions).toEqual(['task_resumed', 'count-day']);
  expect(loop.dayCounted(ROOM).agent).toMatchObject({ iteration: 2, attempt: 1 });
});

test.for<[name: string, attempts: number]>([
  ['before the first iteration', 0],
  ['before the second attempt', 1],
])('a driver that dies while it counts: the next one counts again, %s', ([, attempts]) => {
  const { loop } = begun();
  if (attempts === 1) {
    loop.dayCounted(ROOM);
    loop.iterate(OVERLOADED);
    loop.wait();
  }
  expect(loop.resume().actions).toEqual(['task_resumed', 'count-day']);
  expect(loop.dayCounted(ROOM).agent).toMatchObject({ iteration: 1, attempt: 1 + attempts });
});

test('a stop while the day is counted starts nothing', () => {
  const { loop } = begun();
  loop.stop('SIGTERM');
  expect(loop.dayCounted(ROOM).ending).toMatchObject({ status: 'stopped' });
});

test('a resume without a budget of the day starts the agent at once', () => {
  const { loop } = begun();
  loop.dayCounted(SPENT);
  expect(loop.resume({ maxCostPerDay: null }).agent).toMatchObject({ iteration: 1 });
});
