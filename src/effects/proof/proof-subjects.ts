import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ProofFacts } from '../../core/proof/statement.ts';
import { isRepository } from '../../core/snapshots/undo-plan.ts';
import { withGitSettings, withIndex, withTree } from '../git/git.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import type { PrivateGit } from '../git/private-git.ts';
import {
  readIntoIndex,
  setEntries,
  stagePaths,
  writeSome,
  writeTree,
} from '../git/questions/index-files.ts';
import { headWithTree } from '../git/questions/objects.ts';
import type { TreePath } from '../git/tree-path.ts';
import { listTree } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';

/**
 * Finds the ids under which git may have the files of `tree`: the tree that git would commit by its rules for line ends
 * and filters, and the commit of HEAD if HEAD has that tree or `tree` itself. Rejects with a `GitError` if git fails.
 */
export async function subjectsOf(
  git: PrivateGit,
  tree: string,
): Promise<Pick<ProofFacts, 'committedTree' | 'commit'>> {
  const head = await headWithTree(git.users);
  const commit = head?.commit ?? null;
  const headTree = head?.tree ?? null;
  if (headTree === tree) return { committedTree: tree, commit };
  const committedTree = await committedTreeOf(git, tree, headTree);
  return { committedTree, commit: headTree !== null && headTree === committedTree ? commit : null };
}

/**
 * Returns the tree that `git add` makes of a tree's files; null if a program of the repository could change them. The
 * files that differ from HEAD are added from a folder of ralph's own, since the work tree may have changed.
 */
async function committedTreeOf(
  git: PrivateGit,
  tree: string,
  headTree: string | null,
): Promise<string | null> {
  const own = await withoutOwnFilters(git.repository.root, git.users);
  if (own === null || own.length > 0) return null;
  const folder = path.join(git.folder, 'to-commit');
  const index = path.join(folder, 'index');
  const files = path.join(folder, 'files');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(files, { recursive: true, mode: 0o700 });
  const written = withIndex(withTree(git.own, files), index);
  // With a split index, git would leave a part of the index in the user's repository.
  const whole = withGitSettings(git.users, [{ name: 'core.splitIndex', value: 'false' }]);
  const adding = withIndex(withTree(whole, files), index);
  try {
    const entries = await listTree(git, tree);
    const different = headTree === null ? null : await compareTrees(git, headTree, tree);
    const isDifferent = (name: TreePath): boolean => different?.has(name) ?? true;
    const [repositories, plain] = partition([...entries].filter(([name]) => isDifferent(name)));
    // These files decide how git converts all others, so they are written even if HEAD has the same.
    const rules = [...entries.keys()].filter((name) => /(?:^|\/)\.gitattributes$/.test(name));
    await readIntoIndex(written, tree, WHY);
    await writeSome(written, new Set([...plain, ...rules]), { why: WHY });
    const gone = [...(different?.keys() ?? [])].filter((name) => !entries.has(name));
    await stagePaths(adding, headTree, [...gone, ...plain], { reading: WHY, adding: WHY });
    const inner = repositories.map((name) => [name, entries.get(name) ?? null] as const);
    await setEntries(adding, git.repository, inner, WHY);
    return await writeTree(adding, { why: WHY });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WHY = 'git cannot tell which tree it would commit';

/** Returns the paths of repositories inside the work tree, and all other paths. */
function partition(
  entries: readonly (readonly [TreePath, string])[],
): readonly [repositories: readonly TreePath[], plain: readonly TreePath[]] {
  const namesOf = (isWanted: boolean): readonly TreePath[] =>
    entries.flatMap(([name, entry]) => (isRepository(entry) === isWanted ? [name] : []));
  return [namesOf(true), namesOf(false)];
}
