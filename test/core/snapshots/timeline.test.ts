import { describe, expect, test } from 'vitest';
import {
  changesIn,
  changesSinceStart,
  iterationsWithStart,
  type ListedSnapshot,
  redoSpans,
  timelineOf,
  undoSpan,
} from '../../../src/core/snapshots/timeline.ts';

/** Snapshots from lines such as `3 tree`; with an undo `undo.1 tree from left base`, and a redo ends in `redo`. */
function snapshots(...lines: readonly string[]) {
  const listed = lines.map((line, at): ListedSnapshot => {
    const [name = '', tree = '', fromTree, leftTree = '', base = '', redo] = line.split(' ');
    return {
      ...{ name, tree, commit: `commit of ${name}`, subject: name, order: at + 1 },
      ...{ at: 'now', branch: null, underWay: [] },
      undone: fromTree === undefined ? null : { fromTree, leftTree, base, isRedo: redo === 'redo' },
    };
  });
  return timelineOf(listed.toReversed());
}

const THREE = snapshots('0 A', '1 B', '2 C', '2.1 D', '3.0 E', '3 F');

describe('what iterations changed', () => {
  test.for([
    { first: 1, last: 1, pair: { from: 'A', to: 'B' } },
    // A second attempt after the end counts to its iteration.
    { first: 2, last: 2, pair: { from: 'B', to: 'D' } },
    { first: 3, last: 3, pair: { from: 'E', to: 'F' } },
    { first: 2, last: 9, pair: { from: 'B', to: 'F' } },
    // One that changed nothing has no snapshot.
    { first: 4, last: 4, pair: { from: 'F', to: 'F' } },
  ])('$first to $last', ({ first, last, pair }) => {
    expect(changesIn(THREE, first, last)).toEqual(pair);
  });

  test('since the start, without what was taken back', () => {
    expect(changesSinceStart(THREE)).toEqual({ from: 'A', to: 'F' });
    expect(changesSinceStart(snapshots('0 A', '1 B', 'undo.1 X B A 0'))).toEqual({
      from: 'A',
      to: 'A',
    });
  });
});

describe('what an undo is about', () => {
  test('names where somebody else may have changed files', () => {
    expect(undoSpan(THREE, 1)).toMatchObject({
      ...{ before: 'A', ours: 'F', begun: null },
      gaps: [{ from: 'D', to: 'E', left: null }],
    });
    expect(undoSpan(THREE, 3)).toMatchObject({ before: 'E', ours: 'F', gaps: [] });
  });

  test('is what an earlier undo has left', () => {
    const undone = snapshots('0 A', '1 B', '2 C', 'undo.1 X C B 1');
    expect(undoSpan(undone, 1)).toMatchObject({
      ...{ before: 'A', ours: 'B' },
      begun: { from: 'C', to: 'B', isSame: false },
      gaps: [{ from: 'C', to: 'X', left: 'B' }],
    });
    expect(undoSpan(undone, 2)).toMatchObject({ begun: { isSame: true } });
  });

  test('of an iteration without a snapshot begins where that began', () => {
    const unchanged = snapshots('0 A', '1 B', '3.0 C', '3 D');
    expect(undoSpan(unchanged, 2)).toMatchObject({
      ...{ before: 'B', ours: 'D' },
      gaps: [{ from: 'B', to: 'C' }],
    });
    expect(changesIn(unchanged, 2, 3)).toEqual({ from: 'B', to: 'D' });
    expect(changesIn(unchanged, 2, 2)).toEqual({ from: 'B', to: 'B' });
    expect(undoSpan(unchanged, 4)).toBeNull();
  });

  test('is unknown where the snapshot before the iteration is gone', () => {
    const { snapshots: all } = THREE;
    const thinned = timelineOf(all.filter(({ name }) => name !== '1'));
    expect(undoSpan(thinned, 1)).toBeNull();
    expect(undoSpan(thinned, 2)).toBeNull();
    expect(changesIn(thinned, 2, 2)).toBeNull();
    expect(iterationsWithStart(thinned)).toEqual([3]);
  });
});

describe('a redo', () => {
  const BEGIN = ['0 A', '1 B', '2 C'];
  const TWO = [...BEGIN, 'undo.1 C C B 1', 'undo.2 B B A 0'];

  test.for<{ what: string; lines: readonly string[]; undos: readonly string[] }>([
    { what: 'takes back the newest undo first', lines: TWO, undos: ['undo.2', 'undo.1'] },
    {
      what: 'goes on with the undo before',
      lines: [...TWO, 'undo.3 A A B undo.2 redo'],
      undos: ['undo.1'],
    },
    {
      what: 'has nothing to do once all is redone',
      lines: [...TWO, 'undo.3 A A B undo.2 redo', 'undo.4 B B C undo.1 redo'],
      undos: [],
    },
    {
      what: 'takes back first what was undone after a redo',
      lines: [...TWO, 'undo.3 A A B undo.2 redo', 'undo.4 B B A 0'],
      undos: ['undo.4', 'undo.1'],
    },
    { what: 'has nothing to do after an iteration', lines: [...TWO, '3.0 A', '3 D'], undos: [] },
    {
      what: 'has nothing to do after an iteration that changed nothing',
      lines: [...TWO, '3.0 A'],
      undos: [],
    },
    {
      what: 'takes an undo that was given twice for one',
      lines: [...TWO, 'undo.3 B B A 0'],
      undos: ['undo.3', 'undo.1'],
    },
  ])('$what', ({ lines, undos }) => {
    const spans = redoSpans(snapshots(...lines), false);
    expect(spans.map(({ base }) => base.name)).toEqual(undos);
  });

  test('that was cut off comes first', () => {
    const redone = snapshots(...TWO, 'undo.3 A A B undo.2 redo');
    const [first, next] = redoSpans(redone, true);
    expect(first).toMatchObject({
      ...{ base: { name: 'undo.2' }, before: 'B', after: 'A', ours: 'B' },
      begun: { from: 'A', to: 'B', isSame: true },
    });
    expect(next).toMatchObject({ base: { name: 'undo.1' }, before: 'C', after: 'B', begun: null });
    expect(redoSpans(snapshots(...TWO), true).map(({ begun }) => begun)).toEqual([null, null]);
  });
});
