import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { KB, MB, tryReadText } from '../files/bounded-read.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { type AskGit, type RunGit, runGitOf } from '../git/call/git-command.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { gitFoldersAt } from '../git/git-folders-at.ts';
import { readChanged } from '../git/listings.ts';
import { refOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { repositoryFinder } from '../workspace/find-repositories.ts';
import { findWorkTree } from '../workspace/git-view.ts';
import { type CheckoutPlace, gitDirOf } from './checkout.ts';

/**
 * Returns what would be lost if the work tree were removed, as half a sentence such as `it holds what is
 * not committed (a.txt)`; null if nothing would be but what git ignores. What is not on `branch` counts as
 * lost, too, since that is all that remains of the task. `isLanded`: its files have landed, as they are.
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
  const git = runGitOf(place.ask);
  if ((await git(place.path, ['merge-base', '--is-ancestor', 'HEAD', refOf(branch)])) === null) {
    const head = await git(place.path, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
    return `its newest commit is not on its branch${head === null ? '' : ` but on ${asText(head.trim())}`}`;
  }
  return (
    (isLanded ? null : await changesIn(place.path, '', place.ask)) ??
    (await workInside(place, gitDir)) ??
    (await submoduleCommits(gitDir, place.ask))
  );
}

const PLAN_MAX_BYTES = MB;

/** Returns why an uncompleted task needs a plan file of its work tree, as `unsavedWork` does; no commit has its ticks. */
export async function unsavedPlan(
  { path: root, ask }: CheckoutPlace,
  plan: { readonly file: string; readonly original: string },
): Promise<string | null> {
  const file = realPath(plan.file);
  if (!isInside(realPath(root), file)) return null;
  const text = tryReadText(file, PLAN_MAX_BYTES);
  if (text === null || text === tryReadText(plan.original, PLAN_MAX_BYTES)) return null;
  const name = path.relative(realPath(root), file);
  const { exitCode } = await ask(root, ['check-ignore', '-q', '--', name]);
  return exitCode === 0 ? `git ignores the plan ${shown(name)} in it, which a resume needs` : null;
}

/** Whether a person has locked a work tree, so that it stays. */
function isLocked(gitDir: string): boolean {
  const file = path.join(gitDir, 'locked');
  // So says the lock of a git that was killed while it made the work tree.
  return existsSync(file) && tryReadText(file, KB)?.trim() !== 'initializing';
}

const STATUS = [
  ...['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all'],
  // Of a submodule only its commit: looking into it would start its filters.
  '--ignore-submodules=dirty',
];

/** `name` is the path of a repository inside the work tree; empty for the work tree itself. */
async function changesIn(root: string, name: string, ask: AskGit): Promise<string | null> {
  const git: RunGit = (cwd, args, extras) => runGitOf(ask)(cwd, [...only(root), ...args], extras);
  const settings = await withoutOwnFilters(root, git);
  const status = settings === null ? null : await git(root, STATUS, { settings });
  const entries = await git(root, ['ls-files', '-z', '-v']);
  if (status === null || entries === null) {
    return `git cannot say what in ${name === '' ? 'it' : shown(name)} is not committed`;
  }
  const [first] = readChanged(status);
  if (first !== undefined) {
    return `it holds what is not committed (${shown(path.join(name, asText(first)))})`;
  }
  for (const [, tag, file = ''] of entries.matchAll(ENTRY)) {
    // Git does not look at such files, so they may differ from what is committed.
    if (tag !== 'H' && existsSync(path.join(root, asText(file)))) {
      return `git was told not to look at ${shown(path.join(name, asText(file)))}`;
    }
  }
  return null;
}

/** Options for one repository: a broken one does not lead to that around it, and no setting to files elsewhere. */
function only(root: string): readonly string[] {
  return [`--git-dir=${path.join(root, '.git')}`, `--work-tree=${root}`];
}

function shown(name: string): string {
  return oneLine(name, 300);
}

/** Tag and path of an entry; lower-case tags and `S` stand for files that git leaves alone. */
const ENTRY = /([A-Za-z]) ([^\0]*)\0/g;

/** Looks into the repositories inside the work tree, also where git ignores them. */
async function workInside(
  { path: root, ask }: CheckoutPlace,
  gitDir: string,
): Promise<string | null> {
  for (const folder of await repositoryFinder([])(root)) {
    const name = path.relative(root, folder);
    const lost =
      (await changesIn(folder, name, ask)) ??
      (await commitsInside(folder, name, [root, gitDir], ask));
    if (lost !== null) return lost;
  }
  return null;
}

/** `going` are the folders that are removed. */
async function commitsInside(
  folder: string,
  name: string,
  going: readonly string[],
  ask: AskGit,
): Promise<string | null> {
  const common = realPath(gitFoldersAt(path.join(folder, '.git'))?.at(-1) ?? folder);
  const goesAlong = going.some((place) => isInside(realPath(place), common));
  // Of a further work tree of a repository elsewhere, only HEAD goes.
  const commits = goesAlong
    ? ['--all', '--not', '--remotes']
    : ['HEAD', '--not', '--branches', '--tags', '--remotes'];
  const args = [...only(folder), 'rev-list', '--count', ...commits];
  const { exitCode, output } = await ask(folder, args);
  if (exitCode !== 0) return `git cannot say which commits are in ${shown(name)}`;
  if (output.trim() === '0') return null;
  return goesAlong
    ? `the repository ${shown(name)} in it has commits that no remote of it has`
    : `the work tree ${shown(name)} in it has commits that no branch has`;
}

/** A work tree has repositories of its own for its submodules, and they are removed with it. */
async function submoduleCommits(gitDir: string, ask: AskGit): Promise<string | null> {
  for (const folder of repositoriesBelow(path.join(gitDir, 'modules'))) {
    const args = [
      `--git-dir=${folder}`,
      'rev-list',
      '--count',
      'HEAD',
      '--all',
      '--not',
      '--remotes',
    ];
    const { exitCode, output } = await ask(gitDir, args);
    if (exitCode !== 0 || output.trim() !== '0') {
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

/** Returns what is not committed in a work tree, outside of some folders; empty if git cannot say. */
export async function changedFiles(
  place: { readonly cwd: string; readonly excluded: readonly string[] },
  ask: AskGit,
): Promise<readonly string[]> {
  const git = runGitOf(ask);
  const tree = await findWorkTree(place, place.cwd, git);
  const settings = await withoutOwnFilters(place.cwd, git);
  if (tree === null || settings === null) return [];
  const args = ['status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=dirty'];
  const output = await git(tree.root, [...args, ...tree.pathspecs], { settings });
  return readChanged(asText(output ?? ''));
}
