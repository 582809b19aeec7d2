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

function innerOf({ members }: TreeSweep): ReadonlySet<number> {
  const inside = members.filter(({ pid }) => unlessUnreadable(() => isMarkedInner(pid)) === true);
  const agent: ProcessEntry | undefined = inside[0];
  return new Set(inside.filter(({ pgid }) => pgid === agent?.pgid).map(({ pid }) => pid));
}
