/** Runs git in one work tree. */
export type GitHere = (args: readonly string[], input?: string) => Promise<string | null>;

/** Counts the commits that `branches` lead to and none of the `seen` commits does. */
export async function countNewCommits(
  branches: readonly string[],
  seen: ReadonlySet<string>,
  git: GitHere,
): Promise<number> {
  const fresh = branches.filter((tip) => !seen.has(tip));
  if (fresh.length === 0) return 0;
  // Standard input is used because a command line can be too short for all refs. `--ignore-missing` is
  // needed because some of the seen commits may no longer exist.
  const input = [...fresh, ...[...seen].map((tip) => `^${tip}`)].join('\n');
  const output = await git(['rev-list', '--count', '--ignore-missing', '--stdin'], `${input}\n`);
  return output === null ? fresh.length : Number.parseInt(output, 10);
}
