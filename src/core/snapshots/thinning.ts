import type { Timeline } from './timeline.ts';

type Placed = Timeline['snapshots'][number];

/** How many of the newest snapshots of a task are kept. */
export const NEWEST_KEPT = 200;
/** Of the older snapshots, every tenth is kept. */
const EACH = 10;

/**
 * Returns the names of the snapshots to drop when a task ends, oldest first. Never drops the first snapshot, the one
 * before each kept older snapshot (an undo goes back to it), nor those on both sides of a change that the agent did
 * not make, so that no undo reverts that change.
 */
export function thinnedOut({ snapshots }: Timeline): readonly string[] {
  const older = snapshots.slice(0, Math.max(0, snapshots.length - NEWEST_KEPT));
  return older.flatMap((snapshot, place) => {
    const next = snapshots[place + 1];
    const isNeeded =
      place === 0 ||
      !isWork(snapshot) ||
      // Snapshots keep their numbers, so a second thinning chooses the same ones.
      snapshot.order % EACH === 0 ||
      (snapshot.order + 1) % EACH === 0 ||
      (next !== undefined && !isWork(next));
    return isNeeded ? [] : [snapshot.name];
  });
}

/** Whether a snapshot has the tree after an attempt, and not the tree before an attempt or an undo. */
function isWork({ what }: Placed): boolean {
  return what.kind === 'end' || what.kind === 'attempt';
}
