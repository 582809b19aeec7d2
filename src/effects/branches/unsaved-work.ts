import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { KB, MB, tryReadText } from '../files/bounded-read.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { type Git, gitAt, onlyIn } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { gitWithoutOwnFilters } from '../git/git-filters.ts';
import { gitFoldersAt } from '../git/git-folders-at.ts';
import { allBut } from '../git/pathspecs.ts';
import { countUnkept, isAncestor } from '../git/questions/history.ts';
import { indexEntries, isIgnored } from '../git/questions/index-files.ts';
import { branchOfHead } from '../git/questions/refs.ts';
import { readStatus } from '../git/questions/status.ts';
import { refOf, rootOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { repositoryFinder } from '../workspace/find-repositories.ts';
import { type CheckoutPlace, gitDirOf } from './checkout.ts';

/**
 * Returns what would be lost if a task's work tree were removed, or why that is unclear, as half a sentence such as `it
 * holds what is not committed (a.txt)`; null if only ignored files would be lost. Commits that are not on `branch`
 * count as lost, since only that branch remains. With `isLanded`, uncommitted files do not count, since another branch
 * has them by now.
 */
export async function unsavedWork(
  place: CheckoutPlace,
  branch: string,
  { isLanded = false } = {},
): Promise<string | null> {
  const gitDir = await gitDirOf(place);
  if (gitDir === null) return 'git does not open it';
  const [operation] = underWayIn(gitDir);
  if (operation !== undefined) return `a ${operation} is under way in it`;
  if (isLocked(gitDir)) return 'it is locked (git worktree lock)';
  const git = gitAt(place.git, place.path);
  if (!(await isAncestor(git, 'HEAD', refOf(branch)))) {
    const head = await branchOfHead(git);
    const where = head === null ? '' : ` but on ${asText(head).replace(refOf(''), '')}`;
    return `its newest commit is not on its branch${where}`;
  }
  return (
    (isLanded ? null : await changesIn(place.path, '', git)) ??
    (await workInside(place, gitDir)) ??
    (await submoduleCommits(gitDir, git))
  );
}

const PLAN_MAX_BYTES = MB;

/**
 * Returns why a task's work tree must stay for its plan file, as half a sentence: the agent has changed the file, for
 * example ticked items, and git ignores the file, so no commit has the changes. Null if the work tree may go.
 */
export async function unsavedPlan(
  { path: root, git }: CheckoutPlace,
  plan: { readonly file: string; readonly original: string },
): Promise<string | null> {
  const file = realPath(plan.file);
  if (!isInside(realPath(root), file)) return null;
  const text = tryReadText(file, PLAN_MAX_BYTES);
  if (text === null || text === tryReadText(plan.original, PLAN_MAX_BYTES)) return null;
  const name = path.relative(realPath(root), file);
  const isLost = await isIgnored(gitAt(git, root), name);
  return isLost ? `git ignores the plan ${shown(name)} in it, which a resume needs` : null;
}

/** Whether a person has locked a work tree, so that it is not removed. */
function isLocked(gitDir: string): boolean {
  const file = path.join(gitDir, 'locked');
  // A git that was killed while it made the work tree leaves a lock with this word.
  return existsSync(file) && tryReadText(file, KB)?.trim() !== 'initializing';
}

/** Returns what is not committed in a repository, as half a sentence, or null. `name`: its path in the tree, or ''. */
async function changesIn(root: string, name: string, git: Git): Promise<string | null> {
  const here = inside(git, root);
  const safely = await orNull(gitWithoutOwnFilters(here, root));
  const status = safely === null ? null : await orNull(readStatus(safely));
  const entries = await orNull(indexEntries(here));
  if (status === null || entries === null) {
    return `git cannot say what in ${name === '' ? 'it' : shown(name)} is not committed`;
  }
  const [first] = status.names;
  if (first !== undefined) {
    return `it holds what is not committed (${shown(path.join(name, asText(first)))})`;
  }
  // Git was told not to look at these files for changes, so they may differ from what is committed.
  const unwatched = [...entries].flatMap((entry) =>
    entry.tag === 'H' ? [] : [asText(entry.name)],
  );
  const hidden = unwatched.find((file) => existsSync(path.join(root, file)));
  return hidden === undefined
    ? null
    : `git was told not to look at ${shown(path.join(name, hidden))}`;
}

/** Returns git for this repository and folder only, even if damage or a setting would lead git elsewhere. */
function inside(git: Git, root: string): Git {
  return onlyIn(gitAt(git, root), path.join(root, '.git'), root);
}

function shown(name: string): string {
  return oneLine(name, 300);
}

/** Returns what would be lost in the repositories inside the work tree, even those that git ignores; null for nothing. */
async function workInside(
  { path: root, git }: CheckoutPlace,
  gitDir: string,
): Promise<string | null> {
  for (const folder of await repositoryFinder([])(root)) {
    const name = path.relative(root, folder);
    const lost =
      (await changesIn(folder, name, git)) ??
      (await commitsInside(folder, name, [root, gitDir], git));
    if (lost !== null) return lost;
  }
  return null;
}

/** Returns which commits of an inner repository would be lost; null for none. `going` are the folders to be removed. */
async function commitsInside(
  folder: string,
  name: string,
  going: readonly string[],
  git: Git,
): Promise<string | null> {
  const common = realPath(gitFoldersAt(path.join(folder, '.git'))?.at(-1) ?? folder);
  const goesAlong = going.some((place) => isInside(realPath(place), common));
  const here = inside(git, folder);
  const count = await countUnkept(here, goesAlong ? 'repository' : 'work tree');
  if (count === null) return `git cannot say which commits are in ${shown(name)}`;
  if (count === 0) return null;
  return goesAlong
    ? `the repository ${shown(name)} in it has commits that no remote of it has`
    : `the work tree ${shown(name)} in it has commits that no branch has`;
}

/** Returns which commits of submodules would be lost with their repositories; null for none. */
async function submoduleCommits(gitDir: string, git: Git): Promise<string | null> {
  for (const folder of repositoriesBelow(path.join(gitDir, 'modules'))) {
    const count = await countUnkept(onlyIn(gitAt(git, gitDir), folder), 'submodule');
    if (count !== 0) {
      return `a submodule has commits that are nowhere else (${path.basename(realPath(folder))})`;
    }
  }
  return null;
}

function repositoriesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  if (existsSync(path.join(folder, 'HEAD'))) {
    return [folder, ...repositoriesBelow(path.join(folder, 'modules'))];
  }
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => repositoriesBelow(path.join(folder, name)));
}

/** Returns a work tree's uncommitted paths outside the `excluded` folders; empty if git cannot list them. */
export async function uncommittedFiles(
  place: { readonly cwd: string; readonly excluded: readonly string[] },
  git: Git,
): Promise<readonly string[]> {
  const root = await rootOf(gitAt(git, place.cwd));
  const safely = await orNull(gitWithoutOwnFilters(git, place.cwd));
  if (root === null || safely === null) return [];
  const pathspecs = allBut(place.excluded, root);
  const status = await orNull(readStatus(gitAt(safely, root), pathspecs, { isFull: false }));
  return (status?.names ?? []).map(asText);
}
