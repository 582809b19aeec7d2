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
 * A checkout is a linked git work tree that ralph makes. It is made in steps, so that a kill between any
 * two of them leaves what the next call finishes:
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
  /** The id of a commit. */
  readonly commit: string;
  /** A branch such as `ralph/fix-login`, made at the commit if there is none; null for a detached HEAD. */
  readonly branch: string | null;
  /** Called with the work tree's own git folder before the first file is written. */
  readonly onEntered?: (gitDir: string) => Promise<void>;
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

/** Removes a work tree with all that is in it, also one that is gone. Rejects with a `GitError`. */
export function removeCheckout({ repository, git, path: place }: CheckoutPlace): Promise<void> {
  return removeWorkTree(gitAt(git, repository.commonDir), place);
}

/** Lists the work trees of a repository, also those that are gone. Rejects with a `GitError`. */
export function listTrees({
  repository,
  git,
}: Omit<CheckoutPlace, 'path'>): Promise<readonly ListedTree[]> {
  return workTrees(gitAt(git, repository.commonDir));
}

/** Whether a branch of this name is there. */
export function isBranch(
  { repository, git }: Omit<CheckoutPlace, 'path'>,
  branch: string,
): Promise<boolean> {
  return isRef(gitAt(git, repository.commonDir), refOf(branch));
}

/** Returns the git folder of the work tree at this path; null if it is none of this repository. */
export async function gitDirOf(place: CheckoutPlace): Promise<string | null> {
  if (!existsSync(path.join(place.path, '.git'))) return null;
  const found = await findPlaces(place.path, place.git);
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
  const here = gitAt(request.git, request.repository.commonDir);
  await moveRef(here, refOf(branch), { from: null, to: commit });
  return true;
}

/** How often git is asked again: two that add a work tree at once can disturb each other. */
const MOST_TRIES = 8;
const BETWEEN_TRIES_MS = 50;

/** Adds the entry of the work tree, and the folder with nothing but its `.git`. */
async function enter(request: CheckoutRequest): Promise<string> {
  const { repository, git, path: place, branch, commit } = request;
  // Only the entry may be left, of a work tree that somebody deleted.
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
