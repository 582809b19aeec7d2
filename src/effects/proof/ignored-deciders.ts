import path from 'node:path';
import type { accepting } from '../../core/proof/accepted.ts';
import { isDeciderName } from '../../core/proof/decider-names.ts';
import type { ChangedDecider } from '../../core/proof/findings.ts';
import { findGitAbove } from '../files/find-git-above.ts';
import { type Git, gitAt } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { filesThatAre } from '../git/questions/index-files.ts';
import { asText } from '../git/tree-path.ts';
import { markFile } from '../workspace/file-marks.ts';

/*
 * Files that git ignores are in no snapshot. If the name of such a file says that checks obey it (`conftest.py`), its
 * hash is recorded. Folders that git ignores as a whole are left out, since their files are installed or built.
 */

/** SHA-256 in hex by the path relative to the top of the work tree; null if the file cannot be read. */
export type IgnoredDeciders = Readonly<Record<string, string | null>>;

/** Records the hashes of the ignored files that checks obey; none outside git or if git fails. */
export async function markIgnoredDeciders(cwd: string, git: Git): Promise<IgnoredDeciders> {
  const root = findGitAbove(cwd);
  if (root === null) return {};
  const ignored = (await orNull(filesThatAre(gitAt(git, root), 'ignored'))) ?? [];
  const marks: Record<string, string | null> = {};
  const files = ignored.filter((name) => !name.endsWith('/'));
  for (const name of files.filter(isDeciderName)) {
    const mark = await markFile(path.join(root, asText(name)));
    marks[asText(name)] = mark?.sha256 ?? null;
  }
  return marks;
}

/** Returns ignored files that checks obey and that are changed, new or gone; git may only have begun to ignore them. */
export function bentIgnored(
  atStart: IgnoredDeciders,
  now: IgnoredDeciders,
  isAccepted: ReturnType<typeof accepting>,
): readonly ChangedDecider[] {
  const names = [...new Set([...Object.keys(atStart), ...Object.keys(now)])].toSorted();
  return names.flatMap((name): readonly ChangedDecider[] => {
    const [before, after] = [atStart[name], now[name]];
    if (before === after || isAccepted(name)) return [];
    const change = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed';
    return [{ kind: 'file', path: name, change }];
  });
}
