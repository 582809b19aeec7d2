import type { CitedCriterion } from '../../core/judge/read-answer.ts';
import { type AtPath, citedPaths } from '../../core/judge/weigh.ts';
import type { DifferingFile } from '../../core/prompt/shown-diff.ts';
import { isRepository } from '../../core/snapshots/undo-plan.ts';
import { realPath } from '../files/real-path.ts';
import { GitError } from '../git/git-error.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { readDiff } from '../git/questions/diffs.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import { readEntries } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { treeReader } from './search-deciders.ts';

/** In bytes. Of a longer diff, the rest is not read; of the files in the rest, only the names are known. */
const DIFF_BYTES = 4 * 1024 * 1024;

/** Returns the files that differ between two trees, with their diffs. Rejects with a `GitError` if git fails. */
export async function filesWithDiffs(
  git: PrivateGit,
  start: string,
  claimed: string,
): Promise<readonly DifferingFile[]> {
  const names = [...(await compareTrees(git, start, claimed)).keys()].toSorted();
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
  // Git lists files in the byte order of their names, as the names are sorted here, so that diffs and names
  // correspond.
  const isKnown = isCut || whole.length === names.length;
  return names.map((name, at) => ({
    name: asText(name),
    diff: (isKnown ? textOf(whole[at]) : null) ?? null,
  }));
}

/**
 * Splits what git printed into one diff for each file. Splits only at line feeds: a file may have other separators
 * before words that look like a header. A file that became a symbolic link has two parts under the same header.
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

/** Returns the diff if it is text; null for that of a binary file. */
function textOf(diff: string | undefined): string | null {
  return diff === undefined || diff.includes('\0') ? null : diff;
}

/** Returns a function that says what a tree, through its symbolic links, has at a path that a judging agent cited. */
export async function lookIn(
  git: PrivateGit,
  tree: ReadonlyMap<TreePath, string>,
  criteria: readonly CitedCriterion[],
  { place, below }: { readonly place: { readonly folder: string }; readonly below: string },
): Promise<(path: string) => AtPath> {
  const { linked } = await treeReader(git, tree);
  const behindLinks = (path: string): TreePath => linked(path).at(-1) ?? '';
  const roots = [place.folder, realPath(place.folder)];
  const cited = criteria.flatMap(({ where }) =>
    where.flatMap((each) => citedPaths(each, { roots, below })),
  );
  const entries = cited.flatMap((path) => tree.get(behindLinks(path)) ?? []);
  const contents = await readEntries(
    git,
    entries.filter((entry) => entry.startsWith('100')),
  );
  return (path) => {
    const name = behindLinks(path);
    const entry = tree.get(name);
    const content = entry === undefined ? undefined : contents.get(entry);
    if (content !== undefined) return { kind: 'file', lines: linesIn(content) };
    // A path outside the tree is not looked at, so it counts as something unknown.
    const isOther = entry !== undefined || /^(?:\/|\.\.(?:\/|$)|$)/.test(name);
    return { kind: isOther || isFolder(tree, name) ? 'other' : 'nothing' };
  };
}

/** Whether a path is a folder of the tree, or may be one in a submodule, whose files the tree does not list. */
function isFolder(tree: ReadonlyMap<TreePath, string>, name: TreePath): boolean {
  for (const [each, entry] of tree) {
    if (each.startsWith(`${name}/`)) return true;
    if (isRepository(entry) && name.startsWith(`${each}/`)) return true;
  }
  return false;
}

function linesIn(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) lines += 1;
  return content.length > 0 && content.at(-1) !== 10 ? lines + 1 : lines;
}
