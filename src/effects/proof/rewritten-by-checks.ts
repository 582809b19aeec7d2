import type { RewrittenFile } from '../../core/completion/examination.ts';
import { isDeciderName, isTestName } from '../../core/proof/decider-names.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { countLines } from '../git/questions/diffs.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { listTree } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';

export interface RewriteRequest {
  readonly git: PrivateGit;
  /** The trees before and after the checks that follow a claim, the agent's word that it is done. */
  readonly before: string;
  readonly after: string;
  /** The tree of the start. */
  readonly start: string;
  /** The files of the tree `start` that decide what the checks say. */
  readonly deciders: ReadonlySet<TreePath>;
  /** Files that checks wrote when the agent said earlier that it was done. */
  readonly earlier: readonly RewrittenFile[];
}

/** Files that existed at the start and that checks have written. */
export interface Rewrites {
  /** Files with which a check compares its results. A check that has written them may only confirm itself. */
  readonly rewritten: readonly RewrittenFile[];
  /** Other files, such as a lock file, or files that a formatter fixes. */
  readonly others: readonly TreePath[];
}

/**
 * Finds test files and `deciders` in which a check has removed or changed lines, now or on an earlier claim, and that
 * are still as the check left them. Added lines do not count: they are new expected results. Rejects with a `GitError`.
 */
export async function findRewrites(request: RewriteRequest): Promise<Rewrites> {
  const { git, before, after, start, deciders, earlier } = request;
  const rewritten = earlier.length === 0 ? [] : stillThere(earlier, await listTree(git, after));
  if (before === after) return { rewritten, others: [] };
  const atStart = await listTree(git, start);
  const difference = await compareTrees(git, before, after);
  const lines = await countLines(git.own, { from: before, to: after });
  const others: TreePath[] = [];
  for (const [path, { from, to }] of difference) {
    const first = atStart.get(path) ?? null;
    // If a check has set a file back to how it was at the start, the check compares with the right content.
    if (from === null || first === null || to === first) continue;
    const isCompared = deciders.has(path) || isDeciderName(path) || isTestName(path);
    if (!isCompared) others.push(path);
    // For a binary file, which has no lines, any change counts.
    else if (to === null || lines.get(path)?.removed !== 0) {
      rewritten.push({ path: asText(path), entry: to });
    }
  }
  return { rewritten, others };
}

function stillThere(
  earlier: readonly RewrittenFile[],
  now: ReadonlyMap<TreePath, string>,
): RewrittenFile[] {
  return earlier.filter(({ path, entry }) => (now.get(asTreePath(path)) ?? null) === entry);
}
