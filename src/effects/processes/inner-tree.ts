import { ifPossible } from '../files/if-possible.ts';
import { isMarkedInner, type ProcessEntry } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';

/**
 * Returns a tree whose agent is in a sandbox. The wrappers around the agent share its process group, but only what runs
 * inside has a marking variable. So the agent's processes are the marked ones in the group of the oldest marked one.
 */
export function innerTree(tree: ProcessTree): ProcessTree {
  let group: number | undefined;
  let inner: readonly number[] = [];
  return {
    agentGroup: tree.agentGroup,
    isInner: ({ pid }) => inner.includes(pid),
    sweep() {
      const seen = tree.sweep();
      const inside = markedInner(seen.members);
      group ??= inside[0]?.pgid;
      inner = inside.filter(({ pgid }) => pgid === group).map(({ pid }) => pid);
      return seen;
    },
  };
}

function markedInner(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return members.filter(({ pid }) => ifPossible(() => isMarkedInner(pid)) === true);
}
