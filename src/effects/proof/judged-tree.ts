import type { CitedCriterion } from '../../core/judge/read-answer.ts';
import { throughLinks } from '../../core/judge/through-links.ts';
import { type AtPath, citedPaths } from '../../core/judge/weigh.ts';
import type { DifferingFile } from '../../core/prompt/shown-diff.ts';
import { realPath } from '../files/real-path.ts';
import { GitError } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { readDiff } from '../git/questions/diffs.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { listTree, readEntries } from '../snapshots/tree-files.ts';

/** More of a diff is not read: of the files behind it only the names are known. */
const DIFF_BYTES = 4 * 1024 * 1024;

/** Returns the files that differ between two trees, with their diffs. Rejects with a `GitError` if git fails. */
export async function filesWithDiffs(
  git: PrivateGit,
  start: string,
  claimed: string,
): Promise<readonly DifferingFile[]> {
  const [before, after] = [await listTree(git, start), await listTree(git, claimed)];
  const names = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .toSorted();
  if (names.length === 0) return [];
  const chunks: Buffer[] = [];
  let bytes = 0;
  const isRead = await readDiff(git.own, start, claimed, (chunk) => {
    if (bytes < DIFF_BYTES) chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
  });
  if (!isRead) throw new GitError('git cannot compare the claim with the start');
  const isCut = bytes > DIFF_BYTES;
  const diffs = diffsIn(Buffer.concat(chunks).subarray(0, DIFF_BYTES).toString());
  const whole = isCut ? diffs.slice(0, -1) : diffs;
  // Git lists files in the order of their bytes, as they are sorted here.
  const isKnown = isCut || whole.length === names.length;
  return names.map((name, at) => ({
    name: asText(name),
    diff: (isKnown ? textOf(whole[at]) : null) ?? null,
  }));
}

/**
 * Splits what git printed into one diff for each file. Only a line feed ends a line of git's: a file can have other
 * separators before words that look like a header. A file that became a link has two parts under the same header.
 */
function diffsIn(printed: string): readonly string[] {
  const diffs: string[] = [];
  for (const part of printed.split(/(?<=^|\n)(?=diff --git )/)) {
    const header = part.slice(0, part.indexOf('\n') + 1);
    const last = diffs.at(-1);
    if (last?.startsWith(header) === true) diffs[diffs.length - 1] = `${last}${part}`;
    else diffs.push(part);
  }
  return diffs;
}

/** Returns a diff of text; null for that of a binary file. */
function textOf(diff: string | undefined): string | null {
  return diff === undefined || diff.includes('\0') ? null : diff;
}

/** Returns a function that tells what a tree has at the paths that a judge has cited, also behind links of the tree. */
export async function lookIn(
  git: PrivateGit,
  tree: ReadonlyMap<TreePath, string>,
  criteria: readonly CitedCriterion[],
  { place, below }: { readonly place: { readonly folder: string }; readonly below: string },
): Promise<(path: string) => AtPath> {
  const follow = await followerIn(git, tree);
  const roots = [place.folder, realPath(place.folder)];
  const cited = criteria.flatMap(({ where }) =>
    where.flatMap((each) => citedPaths(each, { roots, below })),
  );
  const entries = cited.flatMap((path) => {
    const name = follow(asTreePath(path));
    const entry = name === null ? undefined : tree.get(name);
    return entry === undefined || entry.startsWith('160000 ') ? [] : [entry];
  });
  const contents = await readEntries(git, entries);
  return (path) => {
    const name = follow(asTreePath(path));
    if (name === null || name === '') return { kind: 'other' };
    const entry = tree.get(name);
    if (entry === undefined) return isFolder(tree, name) ? { kind: 'other' } : { kind: 'nothing' };
    const content = contents.get(entry);
    return content === undefined ? { kind: 'other' } : { kind: 'file', lines: linesIn(content) };
  };
}

/** Returns a function that follows the symbolic links of a tree; null if one leads out of it. */
async function followerIn(
  git: PrivateGit,
  tree: ReadonlyMap<TreePath, string>,
): Promise<(name: TreePath) => TreePath | null> {
  const links = [...tree].filter(([, entry]) => entry.startsWith('120000 '));
  const targets = await readEntries(
    git,
    links.map(([, entry]) => entry),
  );
  const byName = new Map(
    links.map(([name, entry]) => [name, targets.get(entry)?.toString('latin1') ?? '']),
  );
  return (name) => throughLinks(name, (each) => byName.get(each) ?? null);
}

/** Whether a tree has files below a path, or a submodule that could have it. */
function isFolder(tree: ReadonlyMap<TreePath, string>, name: TreePath): boolean {
  for (const [each, entry] of tree) {
    if (each.startsWith(`${name}/`)) return true;
    if (entry.startsWith('160000 ') && name.startsWith(`${each}/`)) return true;
  }
  return false;
}

function linesIn(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) lines += 1;
  return content.length > 0 && content.at(-1) !== 10 ? lines + 1 : lines;
}
