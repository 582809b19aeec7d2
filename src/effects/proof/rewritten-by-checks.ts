import type { RewrittenFile } from '../../core/completion/examination.ts';
import { isDeciderName, isTestName } from '../../core/proof/decider-names.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { countLines } from '../git/questions/diffs.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { listTree } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';

export interface RewriteRequest {
  readonly git: PrivateGit;
  /** The trees before and after the checks of a claim. */
  readonly before: string;
  readonly after: string;
  /** The tree of the start. */
  readonly start: string;
  /** The files of it that decide what the checks say. */
  readonly deciders: ReadonlySet<TreePath>;
  /** What checks of earlier claims wrote. */
  readonly earlier: readonly RewrittenFile[];
}

/** What checks wrote of the files that stood at the start. */
export interface Rewrites {
  /** Files with which a check compares: it takes what it wrote itself for what is expected. */
  readonly rewritten: readonly RewrittenFile[];
  /** The others, such as a lock file, or what a formatter fixes. */
  readonly others: readonly TreePath[];
}

/**
 * Finds the test files and deciders of which a check has removed or changed lines, now or on an earlier claim, and
 * that are still as it wrote them. Lines that were only added are new snapshots. Rejects with a `GitError`.
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
    // A file that is as it was at the start is what the check has to compare with.
    if (from === null || first === null || to === first) continue;
    const isCompared = deciders.has(path) || isDeciderName(path) || isTestName(path);
    if (!isCompared) others.push(path);
    // A binary file has no lines.
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
