import { ifPossible } from '../files/if-possible.ts';
import { isMarkedInner, type ProcessEntry } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';

/**
 * Returns a tree whose agent is in a sandbox. The wrappers around the agent share its process group, but lack the mark
 * that everything inside has. So the agent's processes are the marked ones in the group of the oldest marked process.
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

/**
 * Returns a function that notes the background processes of an agent in a sandbox: those whose parents have ended and
 * that are no wrappers. They are noted while the agent runs, since the kernel ends them as soon as it exits.
 */
export function noteLeftInside(): (members: readonly ProcessEntry[]) => readonly ProcessEntry[] {
  let agent: ProcessEntry | undefined;
  let left: readonly ProcessEntry[] = [];
  return (members) => {
    const inside = markedInner(members);
    agent ??= inside[0];
    const { pid, startedAt, pgid } = agent ?? { pid: 0, startedAt: '', pgid: 0 };
    // Without the agent's entry, wrappers cannot be told from its processes, so the last result stays.
    if (!members.some((each) => each.pid === pid && each.startedAt === startedAt)) return left;
    const parents = new Map(members.map((each) => [each.pid, each.ppid]));
    const line = (from: number): readonly number[] => {
      const above = parents.get(from);
      return above === undefined ? [from] : [from, ...line(above)];
    };
    const wrappers = line(pid);
    left = members.filter(
      (each) =>
        !wrappers.includes(each.pid) &&
        !line(each.pid).includes(pid) &&
        (each.pgid !== pgid || inside.includes(each)),
    );
    return left;
  };
}

function markedInner(members: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return members.filter(({ pid }) => ifPossible(() => isMarkedInner(pid)) === true);
}
