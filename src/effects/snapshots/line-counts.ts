import type { TreePair } from '../../core/snapshots/timeline.ts';
import type { LineChanges } from '../../core/task/line-changes.ts';
import type { PrivateGit } from './private-git.ts';

const NUMSTAT = [
  ...['diff-tree', '--stdin', '-r', '--numstat', '--no-renames'],
  ...['--no-ext-diff', '--no-textconv'],
];

/**
 * Counts the lines that differ between the trees of each pair, with one process for all of them. Null for a
 * pair of which a tree is gone, and for all of them if git fails. Binary files have no lines.
 */
export async function countLinesBetween(
  git: Pick<PrivateGit, 'onRepository'>,
  pairs: readonly TreePair[],
): Promise<readonly (LineChanges | null)[]> {
  if (pairs.length === 0) return [];
  const names = pairs.map(({ from, to }) => `${from} ${to}`);
  const input = Buffer.from(`${names.join('\n')}\n`);
  const { exitCode, output } = await git.onRepository(NUMSTAT, { input });
  // It was killed, so the last count may not be whole.
  if (exitCode === null) return pairs.map(() => null);
  // Git repeats each pair before its files. Of a pair that it cannot read it only complains.
  const found = new Map<string, LineChanges>();
  let pair = '';
  for (const line of output.split('\n')) {
    const counts = /^(\d+|-)\t(\d+|-)\t/.exec(line);
    if (counts === null) {
      pair = line;
      found.set(pair, { added: 0, removed: 0 });
      continue;
    }
    const { added, removed } = found.get(pair) ?? { added: 0, removed: 0 };
    found.set(pair, {
      added: added + linesIn(counts[1]),
      removed: removed + linesIn(counts[2]),
    });
  }
  return names.map((name) => found.get(name) ?? null);
}

/** Git writes a dash for a binary file. */
function linesIn(count: string | undefined): number {
  return Number.parseInt(count ?? '', 10) || 0;
}
