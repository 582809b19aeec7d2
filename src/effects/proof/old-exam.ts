import { appendFileSync, lutimesSync, mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { isDeciderName } from '../../core/proof/decider-names.ts';
import { isRepository } from '../../core/snapshots/undo-plan.ts';
import { type FreshCheckout, makeFreshCheckout } from '../branches/fresh-checkout.ts';
import { isThere } from '../files/file-kinds.ts';
import { ifPossible } from '../files/if-possible.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { gitAt } from '../git/git.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { filesThatAre } from '../git/questions/index-files.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import { listTree } from '../snapshots/tree-files.ts';
import { type CheckPlace, placeIn } from './check-place.ts';
import type { DeciderLook } from './decider-look.ts';
import { examCopies, MOST_BYTES, sizeBelow } from './exam/exam-copies.ts';

/*
 * The old exam is a run of the checks on the claimed tree (which the agent says is done), but with test files, and the
 * other files that decide what checks say, as at the start. What git ignores, and what no snapshot has, is brought in
 * so that as little as possible leads back into the work tree (all links are symbolic):
 *
 *   links into the work tree  ──►  links to the same place of the exam
 *   what is installed         ──►  a link for each package
 *   everything else           ──►  copies; links where there is no room for them
 */

export interface OldExamRequest<T> {
  readonly git: PrivateGit;
  /** Absolute path of the checkout. */
  readonly folder: string;
  /** The commit of HEAD in the work tree; null before the first one. */
  readonly head: string | null;
  readonly claimed: string;
  readonly undone: DeciderLook['undone'];
  /** The folder that checks run in, relative to the root of the work tree, or empty. */
  readonly below: string;
  /** Ignored files that decide what checks say and are as they were at the start, relative to the root. */
  readonly asAtStart?: ReadonlySet<string>;
  /** Whether ralph itself writes this file; such files are not brought in. */
  readonly isOwn: (file: string) => boolean;
  /** The limit for copies, in bytes; absent for the usual one. */
  readonly mostBytes?: number;
  readonly check: (place: CheckPlace) => Promise<T>;
}

/** Runs the checks in the old exam, then removes it. Rejects with a `GitError` or the system's error if it cannot be made. */
export async function sitOldExam<T>(request: OldExamRequest<T>): Promise<T> {
  const { git, folder, head, claimed, undone, below, check } = request;
  const changes = undone;
  const checkout = await makeFreshCheckout({ git, folder, head, tree: claimed, changes });
  try {
    const linked = await bringIgnored(checkout, request);
    try {
      return await check(placeIn(checkout, below));
    } finally {
      // Through a link, checks may have written build output into the work tree, made from the files of the start. The
      // work tree's versions of these files get a new time, so that the next build does not keep that output.
      if (linked.length > 0) touchAll(git.repository.root, [...undone.keys()]);
    }
  } finally {
    checkout.remove();
  }
}

/** Brings in what git ignores and what no snapshot has. Returns the paths that could only be linked. */
async function bringIgnored(
  checkout: FreshCheckout,
  { git, claimed, isOwn, asAtStart = new Set(), mostBytes }: OldExamRequest<unknown>,
): Promise<readonly string[]> {
  const { root } = git.repository;
  const here = gitAt(git.anywhere, root);
  const isBelow = (name: TreePath): boolean => name !== './';
  const tree = await listTree(git, claimed);
  // Untracked files that are too large for a snapshot, or that the user keeps out of it.
  const leftOut = (await filesThatAre(here, 'untracked'))
    .filter(isBelow)
    .filter((name) => !tree.has(name));
  // A file that decides what checks say and has changed cannot be put back without a snapshot, so it is left out.
  const brought = [...(await filesThatAre(here, 'ignored')).filter(isBelow), ...leftOut].filter(
    (name) => !isDeciderName(name) || asAtStart.has(asText(name)),
  );
  const submodules = [...tree].flatMap(([name, entry]) => (isRepository(entry) ? [name] : []));
  const places = { root: realPath(root), folder: realPath(checkout.folder) };
  const copies = examCopies(places, isOwn, mostBytes);
  // Small files and folders are copied first, so that as few as possible have to be linked.
  const names = [...brought, ...submodules]
    .map((each) => asText(each).replace(/\/$/, ''))
    .filter((name) => isThere(path.join(root, name)))
    .map((name) => ({ name, size: sizeBelow(path.join(root, name), MOST_BYTES) }))
    .toSorted((one, other) => one.size - other.size);
  const exclude = path.join(checkout.folder, '.git', 'info', 'exclude');
  for (const { name } of names) {
    const [from, to] = [path.join(places.root, name), path.join(places.folder, name)];
    if (isOwn(path.join(root, name)) || isOwn(`${path.join(root, name)}/`)) continue;
    if (!makeRoom(to, places.folder)) continue;
    await copies.bring(from, to);
    appendFileSync(exclude, `\n/${escaped(name)}\n`);
  }
  return copies.linked;
}

/** Makes the parent folder of a place. Returns false if the place is taken, cannot be made, or is outside the exam. */
function makeRoom(place: string, root: string): boolean {
  try {
    mkdirSync(path.dirname(place), { recursive: true });
    const parent = realPath(path.dirname(place));
    // A link of the tree may lead out of the exam.
    if (parent !== root && !isInside(root, parent)) return false;
    // Git leaves an empty folder for a submodule.
    ifPossible(() => rmdirSync(place));
    return !isThere(place);
  } catch {
    // The tree has a file where a folder is needed.
    return false;
  }
}

/** Makes files newer than any output that was made from them, so that the next build makes that output again. */
function touchAll(root: string, names: readonly TreePath[]): void {
  // A date has whole milliseconds, so the present one is older than output that was written within it.
  const next = new Date(Date.now() + 1);
  for (const name of names) {
    // The work tree may lack the file.
    ifPossible(() => lutimesSync(path.join(root, asText(name)), next, next));
  }
}

/** Returns a pattern for git's exclude file that matches a name. With a slash at its end it would not match a link. */
function escaped(name: string): string {
  return name.replace(/[\\*?[\]#! ]/g, '\\$&');
}
