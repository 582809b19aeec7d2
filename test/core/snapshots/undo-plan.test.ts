import { describe, expect, test } from 'vitest';
import {
  planUndo,
  type TreeDifference,
  type TreeEntry,
} from '../../../src/core/snapshots/undo-plan.ts';

const difference = (from: TreeEntry, to: TreeEntry): TreeDifference =>
  from === to ? new Map() : new Map([['p', { from, to }]]);

interface Case {
  readonly before: TreeEntry;
  readonly ours: TreeEntry;
  readonly now: TreeEntry;
  readonly isBetween?: boolean;
  readonly force?: boolean;
  /** What the path held when an undo was begun that left it as `ours`. */
  readonly begunFrom?: TreeEntry;
  /** Whether nothing of that undo was left to do. */
  readonly isOver?: boolean;
  readonly does: 'nothing' | 'restore' | 'keep';
}

const CASES: readonly Case[] = [
  { before: 'a', ours: 'b', now: 'b', does: 'restore' },
  { before: null, ours: 'b', now: 'b', does: 'restore' },
  { before: 'a', ours: null, now: null, does: 'restore' },
  { before: 'a', ours: 'b', now: 'a', does: 'nothing' },
  { before: 'a', ours: 'a', now: 'x', does: 'nothing' },
  { before: 'a', ours: 'b', now: 'x', does: 'keep' },
  { before: 'a', ours: 'b', now: null, does: 'keep' },
  { before: 'a', ours: 'b', now: 'x', force: true, does: 'restore' },
  { before: 'a', ours: 'b', now: 'b', isBetween: true, does: 'keep' },
  { before: 'a', ours: 'b', now: 'b', isBetween: true, force: true, does: 'restore' },
  // An undo was cut off before it came to the path.
  { before: 'a', ours: 'a', now: 'b', begunFrom: 'b', does: 'restore' },
  { before: 'a', ours: 'b', now: 'c', begunFrom: 'c', does: 'restore' },
  { before: 'a', ours: 'a', now: 'x', begunFrom: 'b', does: 'nothing' },
  // A person has made it again what it was before the undo.
  { before: 'a', ours: 'a', now: 'b', begunFrom: 'b', isOver: true, does: 'nothing' },
  { before: 'a', ours: 'b', now: 'c', begunFrom: 'c', isOver: true, does: 'keep' },
  { before: 'a', ours: 'a', now: null, begunFrom: null, does: 'restore' },
];

describe('a path', () => {
  test.for(CASES)('$before → $ours → $now: $does', (given) => {
    const {
      before,
      ours,
      now,
      isBetween = false,
      force = false,
      begunFrom,
      isOver = false,
    } = given;
    const plan = planUndo({
      done: difference(before, ours),
      since: difference(ours, now),
      begun: begunFrom === undefined ? new Map() : difference(begunFrom, ours),
      ...{ goesOn: false, isCutOff: !isOver },
      changedBetween: new Set(isBetween ? ['p'] : []),
      force,
    });
    const restored = given.does === 'restore' ? [['p', { now, before }]] : [];
    expect([...plan.restore]).toEqual(restored);
    expect(plan.kept).toEqual(given.does === 'keep' ? ['p'] : []);
  });
});

test('a path that the same undo has brought back before still belongs to it', () => {
  const question = {
    ...{ done: new Map(), since: new Map(), changedBetween: new Set<string>(), force: false },
    isCutOff: true,
    begun: difference('b', 'a'),
  };
  const already = (goesOn: boolean) => [...planUndo({ ...question, goesOn }).already];
  expect(already(true)).toEqual([['p', { now: 'b', before: 'a' }]]);
  expect(already(false)).toEqual([['p', { now: 'a', before: 'a' }]]);
});

test('a path that a redo brings back although there is none now is no part of the redo before it', () => {
  const plan = planUndo({
    ...{ done: difference('b', null), since: new Map(), begun: difference('a', 'b') },
    ...{ isCutOff: true, goesOn: true, changedBetween: new Set(), force: false },
  });
  expect([...plan.restore]).toEqual([['p', { now: null, before: 'b' }]]);
});
