import { isMarkedInner, type ProcessEntry, unlessUnreadable } from './process-table.ts';
import type { ProcessTree, TreeSweep } from './process-tree.ts';

/**
 * Returns a tree whose agent is in a sandbox. The wrappers around it share its process group, but not the
 * mark that everything inside has: the agent is the group of the oldest process with that mark.
 */
export function innerTree(tree: ProcessTree): ProcessTree {
  let inner: ReadonlySet<number> = new Set();
  return {
    agentGroup: tree.agentGroup,
    isInner: ({ pid }) => inner.has(pid),
    sweep() {
      const seen = tree.sweep();
      inner = innerOf(seen);
      return seen;
    },
  };
}

/**
 * Returns what an agent in a sandbox has left in the background so far: what has lost its parents, and is no
 * wrapper. When the agent exits, the kernel ends it before anyone could look.
 */
export function leftInside(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const inside = markedInner(members);
  const [agent] = inside;
  if (agent === undefined) return [];
  const parents = new Map(members.map(({ pid, ppid }) => [pid, ppid]));
  const line = (pid: number): readonly number[] => {
    const above = parents.get(pid);
    return above === undefined ? [pid] : [pid, ...line(above)];
  };
  const above = line(agent.pid);
  return members.filter(
    (each) =>
      !above.includes(each.pid) &&
      !line(each.pid).includes(agent.pid) &&
      (each.pgid !== agent.pgid || inside.includes(each)),
  );
}

function innerOf({ members }: TreeSweep): ReadonlySet<number> {
  const inside = markedInner(members);
  const [agent] = inside;
  return new Set(inside.filter(({ pgid }) => pgid === agent?.pgid).map(({ pid }) => pid));
}

function markedInner(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return members.filter(({ pid }) => unlessUnreadable(() => isMarkedInner(pid)) === true);
}
