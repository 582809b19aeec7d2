import { NEWEST_KEPT } from '../../core/snapshots/thinning.ts';

/** Of the older snapshots every tenth stays. */
const EACH = 10;

/** Returns how the refs of a task at the origin begin. */
export function originRefs(taskId: string): string {
  return `refs/ralph/${taskId}/`;
}

/**
 * Returns those of a task's refs at the origin that are dropped: of the snapshots older than the newest 200 all but
 * the first and every tenth. A result stays. Snapshots are called `<iteration>.<fence>.<number>`: a later leg
 * has a higher fence, and its numbers count up.
 */
export function thinnedAtOrigin(refs: readonly string[]): readonly string[] {
  const snapshots = refs
    .flatMap((ref) => {
      const [, fence, number] = /\/\d+\.(\d+)\.(\d+)$/.exec(ref) ?? [];
      return fence === undefined ? [] : [{ ref, fence: Number(fence), number: Number(number) }];
    })
    .sort((one, other) => one.fence - other.fence || one.number - other.number);
  const older = snapshots.slice(1, Math.max(1, snapshots.length - NEWEST_KEPT));
  return older.flatMap(({ ref, number }) => (number % EACH === 0 ? [] : [ref]));
}
