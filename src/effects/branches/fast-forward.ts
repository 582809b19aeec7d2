import type { LandingRefusal } from '../../core/snapshots/landing.ts';
import { type Git, gitAt, withGitSettings } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { withoutOwnPrograms } from '../git/git-filters.ts';
import { indexLockOf, locksOf, lockText, type Patience } from '../git/git-locks.ts';
import { forwardTo } from '../git/questions/checkouts.ts';
import { changesBetween, stagedSince } from '../git/questions/diffs.ts';
import { switchTrees, touchedNames, writeTree } from '../git/questions/index-files.ts';
import { resolveName } from '../git/questions/refs.ts';
import { refOf } from '../git/repository.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import type { CheckoutPlace } from './checkout.ts';

export interface FastForward extends CheckoutPlace {
  /** The work tree's own git folder. */
  readonly gitDir: string;
  /** The branch that is checked out in the work tree, without `refs/heads/`. */
  readonly branch: string;
  /** The id of the branch's present commit. */
  readonly from: string;
  /** The id of a later commit. */
  readonly to: string;
  readonly patience: Patience;
}

/**
 * Moves a branch forward where it is checked out; resolves to null if it has moved. Git writes the files and the index
 * before it moves the branch, so git's locks are waited for first. If git fails even then, the files are put back.
 */
export async function fastForward(request: FastForward): Promise<LandingRefusal | null> {
  const { repository, git, path: folder, gitDir, branch, to, patience } = request;
  const place = { gitDir, commonDir: repository.commonDir };
  const lock = await patience.untilGone([
    ...locksOf(place, refOf(branch)),
    indexLockOf(`${gitDir}/index`),
  ]);
  if (lock !== null) return { kind: 'failed', why: lockText(lock) };
  const settings = [
    { name: 'gc.auto', value: '0' },
    { name: 'maintenance.auto', value: 'false' },
    ...(await withoutOwnPrograms(folder, git)),
  ];
  const here = gitAt(git, folder);
  const index = await orNull(writeTree(here));
  const safely = withGitSettings(here, settings);
  const refused = await forwardTo(safely, to);
  if (refused === null) return null;
  const { why, inTheWay, isLocked } = refused;
  if (inTheWay.length > 0) return { kind: 'in-the-way', folder, paths: inTheWay };
  // `index` is null if the index was in conflict or locked; then git has changed nothing yet.
  const left = index === null || isLocked ? [] : await putBack(request, index, safely);
  return left.length === 0
    ? { kind: 'failed', why }
    : { kind: 'half-moved', folder, paths: left.map(asText), why };
}

/**
 * Undoes what a failed fast-forward has written, and nothing that a person has changed. `index` is the tree of the
 * index from before the move. Resolves to the paths that could not be put back.
 */
async function putBack(
  { from, to, patience, gitDir }: FastForward,
  index: string,
  git: Git,
): Promise<readonly TreePath[]> {
  const byOthers = new Set(await stagedSince(git, to));
  const staged = (await stagedSince(git, index)).filter((name) => !byOthers.has(name));
  if (staged.length > 0) {
    await patience.untilGone([indexLockOf(`${gitDir}/index`)]);
    return (await switchTrees(git, to, index)) ? [] : staged;
  }
  if ((await resolveName(git, 'HEAD')) !== from) return [];
  // If the disk was full, git may have written files without the index, so they count as changed.
  const moving = await orNull(changesBetween(git, from, to));
  const dirty = new Set(await touchedNames(git));
  return [...(moving?.keys() ?? [])].filter((name) => dirty.has(name));
}
