import { expect, test } from 'vitest';
import {
  budgetOf,
  hasRoom,
  type MoneyEvent,
  NOTHING_SPENT,
  withMoney,
} from '../../../src/core/task/day-budget.ts';

const UNTIL = '2026-01-06T00:00:00.000Z';

const started = (attempt: number, usedUsd: number): MoneyEvent => ({
  kind: 'attempt-started',
  attempt,
  usedUsd,
});
const iterated = (costUsd: number): MoneyEvent => ({ kind: 'iterated', costUsd });
const ended = (usedUsd: number): MoneyEvent => ({ kind: 'task-ended', usedUsd });
const judged = (costUsd: number): MoneyEvent => ({ kind: 'judged', costUsd });
const BEGUN: MoneyEvent = { kind: 'task-started' };

function spent(...events: readonly MoneyEvent[]): number {
  const { endedUsd, openUsd } = events.reduce(withMoney, NOTHING_SPENT);
  return endedUsd + openUsd;
}

test.for<[what: string, usd: number, events: readonly MoneyEvent[]]>([
  ['nothing', 0, []],
  ['what iterations cost', 5, [BEGUN, started(1, 0), iterated(2), started(1, 2), iterated(3)]],
  ['an attempt that failed, before its iteration ends', 1, [BEGUN, started(1, 4), started(2, 5)]],
  ['an attempt that failed only once', 3, [BEGUN, started(1, 4), started(2, 5), iterated(3)]],
  ['an attempt that ended its task', 1, [BEGUN, started(1, 4), ended(5)]],
  [
    'such an attempt once, though the task is resumed',
    3,
    [BEGUN, started(1, 4), ended(5), started(2, 5), iterated(3)],
  ],
  ['what a judge costs', 5, [BEGUN, started(1, 0), judged(3), iterated(2), ended(5)]],
  ['what a judge costs without a verdict', 5, [BEGUN, started(1, 0), judged(3), ended(5)]],
  ['no iteration twice at the end of its task', 2, [BEGUN, started(1, 0), iterated(2), ended(2)]],
  ['a failed attempt of a task that starts over', 4, [started(1, 4), ended(5), BEGUN, iterated(3)]],
  ['all of an iteration that began yesterday', 3, [iterated(3)]],
  [
    'only the later attempts of a task that was begun on an earlier day',
    1,
    [started(2, 4), started(3, 5)],
  ],
  ['nothing of a task that ended yesterday’s iteration', 0, [ended(5)]],
])('of a day counts %s', ([, usd, events]) => {
  expect(spent(...events)).toBe(usd);
});

test('a day has room until its budget is reached, rounding errors aside', () => {
  const day = (spentUsd: number) => ({ spentUsd, until: UNTIL });
  expect(hasRoom(day(0.99), 1)).toBe(true);
  expect(hasRoom(day(1), 1)).toBe(false);
  expect(hasRoom(day(0.1 + 0.2), 0.3)).toBe(false);
  expect(hasRoom(day(0.7 + 0.1), 0.8)).toBe(false);
});

test('what is left is never less than nothing, and nothing where no more may start', () => {
  const left = (spentUsd: number): number => budgetOf({ spentUsd, until: UNTIL }, 3).leftUsd;
  expect([left(1), left(3), left(4), left(3 - 1e-12)]).toEqual([2, 0, 0, 0]);
});
