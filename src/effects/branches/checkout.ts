import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThere } from '../files/file-kinds.ts';
import { realPath } from '../files/real-path.ts';
import { type AskGit, type GitAnswer, runGitOf } from '../git/call/git-command.ts';
import { GitError, outputOf, reasonOf } from '../git/git-error.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { findPlaces, type Repository, refOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';

/*
 * A checkout is a linked git work tree that ralph makes. It is made in steps, so that a kill between any
 * two of them leaves what the next call finishes:
 *
 *   branch ──► entry of the work tree in the repository (no index yet) ──► files ──► index
 */

export interface CheckoutPlace {
  readonly repository: Repository;
  readonly ask: AskGit;
  /** Absolute path of the work tree. */
  readonly path: string;
}

export interface CheckoutRequest extends CheckoutPlace {
  /** The id of a commit. */
  readonly commit: string;
  /** A branch such as `ralph/fix-login`, made at the commit if there is none; null for a detached HEAD. */
  readonly branch: string | null;
  /** Called with the work tree's own git folder before the first file is written. */
  readonly onEntered?: (gitDir: string) => Promise<void>;
}

/** One entry of `git worktree list`. */
export interface ListedTree {
  /** Absolute path, with links resolved. It need not exist. */
  readonly path: string;
  /** The full name of the branch; null if HEAD is detached. */
  readonly branch: string | null;
}

/**
 * Makes a work tree, or finishes one that a killed ralph began. Of the repository's programs none runs:
 * files are written as git has them, but for filters of the user's own configuration. Resolves to the
 * work tree's own git folder. Rejects with a `GitError`, or the system's error.
 */
export async function makeCheckout(request: CheckoutRequest): Promise<string> {
  const { path: place, branch, commit, onEntered } = request;
  const isNewBranch = branch !== null && (await makeBranch(request, branch, commit));
  try {
    const gitDir = (await gitDirOf(request)) ?? (await enter(request));
    await onEntered?.(gitDir);
    // Git writes the index last: with one, the work tree is whole.
    if (!existsSync(path.join(gitDir, 'index'))) {
      rmSync(path.join(gitDir, 'index.lock'), { force: true });
      await must(request, place, ['reset', '--hard', '--quiet']);
    }
    return gitDir;
  } catch (error) {
    if (isNewBranch && branch !== null && (await gitDirOf(request)) === null) {
      await request.ask(request.repository.root, ['update-ref', '-d', refOf(branch), commit]);
    }
    throw error;
  }
}

/** Removes a work tree with all that is in it, also one that is gone. Rejects with a `GitError`. */
export async function removeCheckout({
  repository,
  ask,
  path: place,
}: CheckoutPlace): Promise<void> {
  // Given twice, it also removes an entry that a killed git left locked. Submodules go with it.
  const args = ['worktree', 'remove', '--force', '--force', place];
  outputOf(await askPastOthers(ask, repository.commonDir, args));
}

/** Lists the work trees of a repository, also those that are gone. Rejects with a `GitError`. */
export async function listTrees({
  repository,
  ask,
}: Pick<CheckoutPlace, 'repository' | 'ask'>): Promise<readonly ListedTree[]> {
  const list = ['worktree', 'list', '--porcelain'];
  const answer = await askPastOthers(ask, repository.commonDir, [...list, '-z']);
  // Git before 2.36 knows no `-z`; a path with a line break is then cut.
  const plain =
    answer.exitCode === 0 ? answer : await askPastOthers(ask, repository.commonDir, list);
  const end = plain === answer ? '\0' : '\n';
  return asText(outputOf(plain))
    .split(end + end)
    .flatMap((entry) => {
      const lines = entry.split(end);
      const fieldOf = (name: string): string | null =>
        lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
      const found = fieldOf('worktree');
      return found === null ? [] : [{ path: realPath(found), branch: fieldOf('branch') }];
    });
}

/** Whether a branch of this name is there. */
export async function isBranch(
  { repository, ask }: Pick<CheckoutPlace, 'repository' | 'ask'>,
  branch: string,
): Promise<boolean> {
  const { exitCode } = await ask(repository.commonDir, [
    'show-ref',
    '-q',
    '--verify',
    refOf(branch),
  ]);
  return exitCode === 0;
}

/** Returns the git folder of the work tree at this path; null if it is none of this repository. */
export async function gitDirOf(place: CheckoutPlace): Promise<string | null> {
  if (!existsSync(path.join(place.path, '.git'))) return null;
  const found = await findPlaces(place.path, runGitOf(place.ask));
  const isOwn =
    found !== null &&
    realPath(found.root) === realPath(place.path) &&
    realPath(found.commonDir) === realPath(place.repository.commonDir);
  return isOwn ? found.gitDir : null;
}

/** Makes the branch unless it is there; whether it was made. Compares and swaps, so none is moved. */
async function makeBranch(
  request: CheckoutRequest,
  branch: string,
  commit: string,
): Promise<boolean> {
  if (await isBranch(request, branch)) return false;
  await must(request, request.repository.commonDir, ['update-ref', refOf(branch), commit, '']);
  return true;
}

/** How often git is asked again: two that add a work tree at once can disturb each other. */
const MOST_TRIES = 8;
const BETWEEN_TRIES_MS = 50;
/** On a busy machine, the git of another work tree may take seconds for its entry. */
const MOST_TRIES_PAST_OTHERS = 20;

/** Asks git, and again while it fails by the entry of another work tree, which is half made or half removed. */
async function askPastOthers(
  ask: AskGit,
  cwd: string,
  args: readonly string[],
): Promise<GitAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask(cwd, args);
    const isOfAnother = answer.exitCode !== 0 && /worktrees\/.*commondir/.test(answer.complaint);
    if (!isOfAnother || tries === MOST_TRIES_PAST_OTHERS) return answer;
    await sleep(BETWEEN_TRIES_MS * tries);
  }
}

/** Adds the entry of the work tree, and the folder with nothing but its `.git`. */
async function enter(request: CheckoutRequest): Promise<string> {
  const { repository, path: place, branch, commit } = request;
  // Only the entry may be left, of a work tree that somebody deleted.
  if (!isThere(place) && (await listTrees(request)).some((tree) => tree.path === realPath(place))) {
    await removeCheckout(request);
  }
  mkdirSync(path.dirname(place), { recursive: true });
  const target = branch === null ? ['--detach', place, commit] : [place, branch];
  for (let tries = 1; ; tries += 1) {
    const add = ['worktree', 'add', '--quiet', '--no-checkout', ...target];
    const answer = await askPastOthers(request.ask, repository.commonDir, add);
    const gitDir = await gitDirOf(request);
    if (answer.exitCode === 0 && gitDir !== null) return gitDir;
    const isFinal = /already/.test(answer.complaint) || (isThere(place) && gitDir === null);
    if (isFinal || tries === MOST_TRIES) {
      throw new GitError(reasonOf(answer));
    }
    await sleep(BETWEEN_TRIES_MS * tries);
  }
}

/** Runs git with the repository's own filters switched off. Rejects with a `GitError`. */
async function must({ ask }: CheckoutPlace, cwd: string, args: readonly string[]): Promise<void> {
  const settings = await withoutOwnFilters(cwd, runGitOf(ask));
  if (settings === null) throw new GitError('git cannot tell which filters are configured');
  outputOf(await ask(cwd, args, { settings }));
}
