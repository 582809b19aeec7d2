import { endTree, ORPHAN_ENDING } from './end-process.ts';
import { createTree } from './process-tree.ts';

/** The process ids of whatever lives of a run, known by the run's marker. */
export function findRun(runId: string): readonly number[] {
  if (runId === '') return [];
  const tree = createTree({ seeds: [], marker: runId, since: null });
  return tree.sweep().members.map(({ pid }) => pid);
}

/**
 * Ends whatever a dead driver's run has left alive, known by the run's marker; its guard may be at it
 * already. Resolves to how many processes there were, once none is left or nothing more can be done.
 */
export async function sweepRun(runId: string): Promise<number> {
  if (runId === '') return 0;
  const tree = createTree({ seeds: [], marker: runId, since: null });
  const found = tree.sweep().members.length;
  if (found > 0) await endTree(tree, { steps: ORPHAN_ENDING }).done;
  return found;
}
