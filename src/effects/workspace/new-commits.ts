import type { Git } from '../git/git.ts';
import { countCommits } from '../git/questions/history.ts';

/** Counts the commits that `branches` lead to and none of the `seen` commits does. */
export async function countNewCommits(
  branches: readonly string[],
  seen: ReadonlySet<string>,
  git: Git,
): Promise<number> {
  const fresh = branches.filter((tip) => !seen.has(tip));
  if (fresh.length === 0) return 0;
  return (await countCommits(git, fresh, seen)) ?? fresh.length;
}
