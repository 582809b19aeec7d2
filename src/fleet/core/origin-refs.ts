/** How many of the newest snapshots of a task are kept. */
const NEWEST_KEPT = 200;
/** Of the older snapshots, every tenth is kept. */
const EACH = 10;

/** Returns the prefix of a task's git refs at the origin, the repository to which the workers push. */
export function originRefs(taskId: string): string {
  return `refs/ralph/${taskId}/`;
}

/**
 * Returns the refs of a task at the origin that are to be removed: the snapshots before the newest 200, except for the
 * first and every tenth. Results stay. A snapshot's name is `<iteration>.<fence>.<number>`: the fence numbers the
 * workers' runs of the task, and `number` the snapshots of a run.
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
