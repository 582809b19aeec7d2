import { expect, test } from 'vitest';
import { thinnedOut } from '../../../src/core/snapshots/thinning.ts';
import { type Timeline, timelineOf } from '../../../src/core/snapshots/timeline.ts';

/** Snapshots of these names, in order. */
function timeline(names: readonly string[]): Timeline {
  return timelineOf(
    names.map((name, index) => ({
      name,
      commit: `c${name}`,
      tree: `t${name}`,
      subject: '',
      at: '',
      order: index + 1,
      branch: null,
      undone: null,
      underWay: [],
    })),
  );
}

const ends = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => String(index + 1));

/** The names that stay, of those older than the newest 200. */
function staying(all: Timeline): readonly string[] {
  const gone = new Set(thinnedOut(all));
  return all.snapshots.slice(0, -200).flatMap(({ name }) => (gone.has(name) ? [] : [name]));
}

test('up to 200 snapshots all stay', () => {
  expect(thinnedOut(timeline(['0', ...ends(199)]))).toEqual([]);
});

test('of older ones the first stays, and every tenth with the one before it', () => {
  const all = timeline(['0', ...ends(234)]);
  expect(staying(all)).toEqual(['0', '8', '9', '18', '19', '28', '29']);
});

test('both sides of what somebody else changed stay', () => {
  const all = timeline(['0', '1', '2', '3', '4.0', '4', '5', 'undo.1', '6', ...ends(250).slice(6)]);
  expect(staying(all).slice(0, 7)).toEqual(['0', '3', '4.0', '5', 'undo.1', '6', '7']);
});

test('a second thinning finds nothing more', () => {
  const all = timeline(['0', ...ends(400)]);
  const gone = new Set(thinnedOut(all));
  expect(gone.size).toBeGreaterThan(100);
  const rest = { ...all, snapshots: all.snapshots.filter(({ name }) => !gone.has(name)) };
  expect(thinnedOut(rest)).toEqual([]);
});
