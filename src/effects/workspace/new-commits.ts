import type { Git } from '../git/git.ts';
import { countCommits } from '../git/questions/history.ts';

/** Counts the commits that lead up to `branches` but to nothing in `seen`. If git fails, each new tip counts as one. */
export async function countNewCommits(
  branches: readonly string[],
  seen: ReadonlySet<string>,
  git: Git,
): Promise<number> {
  const fresh = branches.filter((tip) => !seen.has(tip));
  if (fresh.length === 0) return 0;
  return (await countCommits(git, fresh, seen)) ?? fresh.length;
}
