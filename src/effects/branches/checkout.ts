import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThere } from '../files/file-kinds.ts';
import { realPath } from '../files/real-path.ts';
import { type Git, gitAt } from '../git/git.ts';
import { GitError, gitRefusal } from '../git/git-error.ts';
import { gitWithoutOwnFilters } from '../git/git-filters.ts';
import {
  addWorkTree,
  checkOutHead,
  type ListedTree,
  removeWorkTree,
  workTrees,
} from '../git/questions/checkouts.ts';
import { deleteRef, isRef, moveRef } from '../git/questions/refs.ts';
import { findPlaces, type Repository, refOf } from '../git/repository.ts';

/*
 * A checkout is a linked git work tree that ralph makes, in these steps. If ralph is killed between two of them, the
 * next `makeCheckout` does the rest:
 *
 *   branch ──► entry of the work tree in the repository (no index yet) ──► files ──► index
 */

export interface CheckoutPlace {
  readonly repository: Repository;
  readonly git: Git;
  /** Absolute path of the work tree. */
  readonly path: string;
}

export interface CheckoutRequest extends CheckoutPlace {
  readonly commit: string;
  /** A branch such as `ralph/fix-login`, which is made at the commit if it does not exist; null for a detached HEAD. */
  readonly branch: string | null;
  /** Called with the work tree's own git folder before the first file is written. */
  readonly onEntered?: (gitDir: string) => Promise<void>;
}

/**
 * Makes a work tree, or finishes one that a killed process began. Runs no program that the repository names: git writes
 * the files as they are stored, or through filters of the user's own configuration. Resolves to the work tree's own git
 * folder. Rejects with a `GitError`, or the system's error.
 */
export async function makeCheckout(request: CheckoutRequest): Promise<string> {
  const { path: place, branch, commit, onEntered } = request;
  const isNewBranch = branch !== null && (await makeBranch(request, branch, commit));
  try {
    const gitDir = (await gitDirOf(request)) ?? (await enter(request));
    await onEntered?.(gitDir);
    // Git writes the index last, so a work tree that has an index is complete.
    if (!existsSync(path.join(gitDir, 'index'))) {
      rmSync(path.join(gitDir, 'index.lock'), { force: true });
      await checkOutHead(await gitWithoutOwnFilters(request.git, place));
    }
    return gitDir;
  } catch (error) {
    if (isNewBranch && branch !== null && (await gitDirOf(request)) === null) {
      await gitRefusal(
        deleteRef(gitAt(request.git, request.repository.root), refOf(branch), commit),
      );
    }
    throw error;
  }
}

/** Removes a work tree with all that is in it, even if its folder is already deleted. Rejects with a `GitError`. */
export function removeCheckout({ repository, git, path: place }: CheckoutPlace): Promise<void> {
  return removeWorkTree(gitAt(git, repository.commonDir), place);
}

/** Lists the work trees of a repository, even those whose folders are deleted. Rejects with a `GitError`. */
export function listTrees({
  repository,
  git,
}: Omit<CheckoutPlace, 'path'>): Promise<readonly ListedTree[]> {
  return workTrees(gitAt(git, repository.commonDir));
}

/** Whether a branch of this name exists. */
export function isBranch(
  { repository, git }: Omit<CheckoutPlace, 'path'>,
  branch: string,
): Promise<boolean> {
  return isRef(gitAt(git, repository.commonDir), refOf(branch));
}

/** Returns the git folder of the work tree at this path; null if this repository has no work tree there. */
export async function gitDirOf(place: CheckoutPlace): Promise<string | null> {
  if (!existsSync(path.join(place.path, '.git'))) return null;
  const found = await findPlaces(place.path, place.git);
  const isOwn =
    found !== null &&
    realPath(found.root) === realPath(place.path) &&
    realPath(found.commonDir) === realPath(place.repository.commonDir);
  return isOwn ? found.gitDir : null;
}

/** Makes the branch, and never moves an existing one. Resolves to whether it was made. */
async function makeBranch(
  request: CheckoutRequest,
  branch: string,
  commit: string,
): Promise<boolean> {
  if (await isBranch(request, branch)) return false;
  const here = gitAt(request.git, request.repository.commonDir);
  await moveRef(here, refOf(branch), { from: null, to: commit });
  return true;
}

/** How often git is asked to add a work tree: it can fail if another process adds one at the same time. */
const MOST_TRIES = 8;
const BETWEEN_TRIES_MS = 50;

/** Adds the work tree to the repository, and its folder with only a `.git`. Resolves to its git folder. */
async function enter(request: CheckoutRequest): Promise<string> {
  const { repository, git, path: place, branch, commit } = request;
  // If somebody deleted the folder of the work tree, the repository may still have its entry.
  if (!isThere(place) && (await listTrees(request)).some((tree) => tree.path === realPath(place))) {
    await removeCheckout(request);
  }
  mkdirSync(path.dirname(place), { recursive: true });
  const here = gitAt(git, repository.commonDir);
  const target = branch === null ? { commit } : { branch };
  for (let tries = 1; ; tries += 1) {
    const refusal = await gitRefusal(addWorkTree(here, place, target));
    const gitDir = await gitDirOf(request);
    if (refusal === null && gitDir !== null) return gitDir;
    const isTaken = refusal !== null && /already/.test(refusal.complaint);
    if (isTaken || (isThere(place) && gitDir === null) || tries === MOST_TRIES) {
      throw refusal ?? new GitError('git ended with 0');
    }
    await sleep(BETWEEN_TRIES_MS * tries);
  }
}
