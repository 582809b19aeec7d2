import type { Timeline } from './timeline.ts';

type Placed = Timeline['snapshots'][number];

/** So many of the newest snapshots of a task are kept. */
export const NEWEST_KEPT = 200;
/** Of the older ones every tenth is kept. */
const EACH = 10;

/**
 * Returns the names of the snapshots that are dropped when a task ends, the oldest first. Kept are also the
 * first one, the one before each that is kept of the older ones, so that an undo can go back to it, and
 * both sides of each change that was not the agent's, so that no undo takes that back.
 */
export function thinnedOut({ snapshots }: Timeline): readonly string[] {
  const older = snapshots.slice(0, Math.max(0, snapshots.length - NEWEST_KEPT));
  return older.flatMap((snapshot, place) => {
    const next = snapshots[place + 1];
    const isNeeded =
      place === 0 ||
      !isWork(snapshot) ||
      // The numbers of snapshots stay, so that a second thinning finds the same ones.
      snapshot.order % EACH === 0 ||
      (snapshot.order + 1) % EACH === 0 ||
      (next !== undefined && !isWork(next));
    return isNeeded ? [] : [snapshot.name];
  });
}

/** Whether it is the tree after an attempt, rather than before one or before an undo. */
function isWork({ what }: Placed): boolean {
  return what.kind === 'end' || what.kind === 'attempt';
}
