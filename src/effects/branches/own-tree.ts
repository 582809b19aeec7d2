import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { OwnWorkTree, TaskState } from '../../core/task/task-state.ts';
import { KB, readTextWithin } from '../files/bounded-read.ts';
import { isInside, realPath } from '../files/real-path.ts';
import {
  errorCode,
  giveName,
  makePrivateFolder,
  removeFile,
  writeFileAtomic,
} from '../files/write-file.ts';
import { type Git, gitAt } from '../git/git.ts';
import { rootAround } from '../git/questions/checkouts.ts';
import { objectType } from '../git/questions/objects.ts';
import {
  branchOfHead,
  isRefName,
  refNamed,
  refNames,
  resolveNamed,
} from '../git/questions/refs.ts';
import { findRepository, type Repository, refOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';
import { TASK_NOTE } from '../workspace/find-repositories.ts';
import { type CheckoutPlace, listTrees } from './checkout.ts';

/** Turns a path in the work tree where a task began into that in the task's own tree; returns others unchanged. */
export function inOwnTree(tree: OwnWorkTree | null, place: string): string {
  if (tree === null) return place;
  const real = realPath(place);
  if (real !== tree.origin && !isInside(tree.origin, real)) return place;
  return path.join(tree.path, path.relative(tree.origin, real));
}

export interface NewTree {
  readonly repository: Repository;
  readonly git: Git;
  readonly taskId: string;
  /** The absolute path of the folder for work trees; null for the one beside the repository. */
  readonly folder: string | null;
  /** The commit to begin at, as the user named it, such as `main`; null for HEAD. */
  readonly base: string | null;
}

/** Decides where a task's own work tree will be. Resolves to null if the commit to begin at does not exist. */
export async function planTree(request: NewTree): Promise<OwnWorkTree | null> {
  const { repository, base, folder } = request;
  const here = gitAt(request.git, repository.root);
  const commit = await resolveNamed(here, base ?? 'HEAD');
  if (commit === null) return null;
  const ref = base === null ? asText((await branchOfHead(here)) ?? '') : await refNamed(here, base);
  const isBranch = ref.startsWith(refOf(''));
  const trees = realPath(folder ?? (await treesBeside(repository, request.git)));
  return {
    ...(await freeNames(request, trees)),
    base: commit,
    onto: isBranch ? ref.slice(refOf('').length) : null,
    origin: realPath(repository.root),
  };
}

/** Returns the folder beside a repository for the work trees and checkouts of tasks. */
export async function treesBeside(repository: Repository, git: Git): Promise<string> {
  return `${await mainFolder(repository, git)}.ralph`;
}

/**
 * Returns the folder of the main work tree, or of the present one if the git folder lies elsewhere. For a submodule,
 * returns the outer repository's: work trees beside the submodule would be files of the outer repository.
 */
async function mainFolder({ root, commonDir }: Repository, git: Git): Promise<string> {
  const around = await rootAround(gitAt(git, root));
  const outer = around === null ? null : await findRepository(around, git);
  if (outer !== null) return mainFolder(outer, git);
  return path.basename(commonDir) === '.git' ? path.dirname(commonDir) : root;
}

/** Returns the first branch and folder with the task's name that are not taken. */
async function freeNames(
  { repository, git, taskId }: NewTree,
  trees: string,
): Promise<Pick<OwnWorkTree, 'path' | 'branch'>> {
  const here = gitAt(git, repository.commonDir);
  const branches = new Set(await refNames(here, ['ralph', 'ralph-*'].map(refOf)));
  const isTaken = (branch: string): boolean =>
    [...branches].some((ref) => ref === refOf(branch) || ref.startsWith(`${refOf(branch)}/`));
  const folders = new Set((await listTrees({ repository, git })).map((tree) => tree.path));
  const isAllowed = await isRefName(here, refOf(`ralph/${taskId}`));
  const start = isAllowed && !branches.has(refOf('ralph')) ? 'ralph/' : 'ralph-';
  // If git does not allow a task's id in a branch's name, this is because of a dot.
  const part = isAllowed ? taskId : taskId.replaceAll('.', '%2E');
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : `-${number}`;
    const [place, branch] = [path.join(trees, `${taskId}${suffix}`), `${start}${part}${suffix}`];
    const isThere = lstatSync(place, { throwIfNoEntry: false }) !== undefined;
    if (!isThere && !folders.has(place) && !isTaken(branch)) return { path: place, branch };
  }
}

/** The task to which a work tree belongs, and when that task was started. */
export type TreeOwner = Pick<TaskState, 'task_id' | 'started_at'>;

function ownerFile(gitDir: string): string {
  return path.join(gitDir, TASK_NOTE);
}

/**
 * Notes in the work tree's own git folder which task owns the work tree, unless an owner is noted already: if several
 * tasks make it at the same instant, exactly one becomes the owner. Resolves to whether this task is the owner. Rejects
 * with the system's error.
 */
export async function noteOwner(gitDir: string, owner: TreeOwner): Promise<boolean> {
  const file = ownerFile(gitDir);
  makePrivateFolder(path.dirname(file));
  const note = `${file}.${randomUUID()}`;
  await writeFileAtomic(note, nameOf(owner));
  try {
    giveName(note, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    removeFile(note);
  }
  return whoseTree(gitDir, owner) === 'own';
}

/** Returns whether a work tree was made for this start of a task, or for another; `unknown` without a readable note. */
export function whoseTree(gitDir: string, owner: TreeOwner): 'own' | "another's" | 'unknown' {
  try {
    return readTextWithin(ownerFile(gitDir), KB) === nameOf(owner) ? 'own' : "another's";
  } catch {
    return 'unknown';
  }
}

function nameOf({ task_id, started_at }: TreeOwner): string {
  return `${task_id} ${started_at}\n`;
}

/** Whether the commit `base` has a folder at `name`, relative to the root. */
export async function hasFolder(
  { repository, git }: Omit<CheckoutPlace, 'path'>,
  base: string,
  name: string,
): Promise<boolean> {
  return (await objectType(gitAt(git, repository.commonDir), `${base}:${name}`)) === 'tree';
}
