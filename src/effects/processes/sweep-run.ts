import { endTree, ORPHAN_ENDING } from './end-process.ts';
import { createTree } from './process-tree.ts';

/** Returns the pids of all living processes of a run, found by its marker. */
export function findRun(runId: string): readonly number[] {
  if (runId === '') return [];
  const tree = createTree({ seeds: [], marker: runId, since: null });
  return tree.sweep().members.map(({ pid }) => pid);
}

/**
 * Ends all living processes of a dead driver's run, found by its marker; the guard may be doing the
 * same. Resolves to how many there were, once none is left or nothing more can be done.
 */
export async function sweepRun(runId: string): Promise<number> {
  if (runId === '') return 0;
  const tree = createTree({ seeds: [], marker: runId, since: null });
  const found = tree.sweep().members.length;
  if (found > 0) await endTree(tree, { steps: ORPHAN_ENDING }).done;
  return found;
}
