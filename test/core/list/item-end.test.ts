import { expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/core/agent/attempt.ts';
import { isUsedUp, MOST_RETURNS, refusedItem } from '../../../src/core/list/item-end.ts';
import type { LandingRefusal } from '../../../src/core/snapshots/landing.ts';

const CONFLICT: LandingRefusal = { kind: 'conflict', paths: ['a.txt'] };

test.for<[why: LandingRefusal, returned: number, expected: string]>([
  [CONFLICT, 0, 'goes-back'],
  [CONFLICT, MOST_RETURNS - 1, 'goes-back'],
  [CONFLICT, MOST_RETURNS, 'blocked'],
  [{ kind: 'checks-failed', failed: [] }, 0, 'goes-back'],
  [{ kind: 'left-out', stays: new Map([['.env', 'secret']]) }, 0, 'blocked'],
  [{ kind: 'in-the-way', folder: '/w', paths: ['a'] }, 0, 'blocked'],
  [{ kind: 'unrelated' }, 0, 'goes-back'],
  [{ kind: 'empty', branch: 'ralph/prd.a' }, 0, 'goes-back'],
  [{ kind: 'branch-gone', branch: 'ralph/prd.a' }, 0, 'blocked'],
  [{ kind: 'moved' }, MOST_RETURNS, 'try-again'],
  [{ kind: 'stopped' }, 0, 'stopped'],
  [{ kind: 'failed', why: 'a rebase is under way' }, 0, 'blocks-list'],
  [{ kind: 'half-moved', folder: '/w', paths: ['a'], why: 'full' }, 0, 'blocks-list'],
])('a landing that is refused with %o, after %i returns', ([why, returned, expected]) => {
  expect(refusedItem(why, { returned, isUsedUp: false })).toBe(expected);
});

test('a landing goes back to no task that is used up', () => {
  expect(refusedItem(CONFLICT, { returned: 0, isUsedUp: true })).toBe('blocked');
});

test.for<[iterations: number, costUsd: number, maxCostUsd: number | null, expected: boolean]>([
  [4, 1, null, false],
  [5, 0, null, true],
  [1, 1, 2, false],
  [1, 2, 2, true],
])('after %i of 5 iterations, and $%d of $%d', ([current_iteration, cost_usd, max, expected]) => {
  const usage = { ...NO_USAGE, cost_usd };
  expect(isUsedUp({ current_iteration, max_iterations: 5, usage }, max)).toBe(expected);
});
