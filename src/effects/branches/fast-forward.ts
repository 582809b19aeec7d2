import type { LandingRefusal } from '../../core/snapshots/landing.ts';
import { type AskGit, runGitOf } from '../git/call/git-command.ts';
import type { GitSetting } from '../git/git.ts';
import { reasonOf } from '../git/git-error.ts';
import { indexLockOf, lockIn, locksOf, lockText, type Patience } from '../git/git-locks.ts';
import { readNames } from '../git/listings.ts';
import { refOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';
import type { CheckoutPlace } from './checkout.ts';
import { withoutOwnPrograms } from './scratch-tree.ts';

export interface FastForward extends CheckoutPlace {
  /** The work tree's own git folder. */
  readonly gitDir: string;
  /** The branch that is checked out in it, without `refs/heads/`. */
  readonly branch: string;
  /** The id of the commit at which it is. */
  readonly from: string;
  /** The id of a commit that follows it. */
  readonly to: string;
  readonly patience: Patience;
}

/**
 * Moves a branch forward where it is checked out; null if it is done. Git writes the files and the index before it
 * moves the branch, so locks are waited for first. If git fails all the same, the files are put back.
 */
export async function fastForward(request: FastForward): Promise<LandingRefusal | null> {
  const { repository, ask, path: folder, gitDir, branch, to, patience } = request;
  const place = { gitDir, commonDir: repository.commonDir };
  const lock = await patience.untilGone([
    ...locksOf(place, refOf(branch)),
    indexLockOf(`${gitDir}/index`),
  ]);
  if (lock !== null) return { kind: 'failed', why: lockText(lock) };
  const settings = [
    { name: 'gc.auto', value: '0' },
    { name: 'maintenance.auto', value: 'false' },
    ...(await withoutOwnPrograms(folder, ask)),
  ];
  const index = (await runGitOf(ask)(folder, ['write-tree']))?.trim() ?? null;
  const answer = await ask(folder, [...FORWARD, to], { settings });
  if (answer.exitCode === 0) return null;
  const complaint = asText(answer.complaint);
  const inTheWay = [...complaint.matchAll(/^\t(.+)$/gm)].map(([, name = '']) => name);
  if (inTheWay.length > 0) return { kind: 'in-the-way', folder, paths: inTheWay };
  const why = reasonOf(answer);
  // Without a tree, something was unmerged or locked before, and git did not begin.
  const isLocked = lockIn(answer.complaint)?.includes('index.lock ') === true;
  const left = index === null || isLocked ? [] : await putBack(request, index, settings);
  return left.length === 0
    ? { kind: 'failed', why }
    : { kind: 'half-moved', folder, paths: left, why };
}

/** Quiet, since a word to a ralph that was killed would end git in the middle. */
const FORWARD = [
  ...['merge', '--quiet', '--ff-only', '--no-overwrite-ignore', '--no-autostash', '--no-stat'],
  ...['--no-squash', '--no-gpg-sign', '--no-verify-signatures', '--no-edit'],
];

/**
 * Takes back what a fast-forward that failed has written, and nothing that a person has changed; `index` is the
 * tree of the index before it. Resolves to the paths that could not be put back.
 */
async function putBack(
  { ask, path: folder, from, to, patience, gitDir }: FastForward,
  index: string,
  settings: readonly GitSetting[],
): Promise<readonly string[]> {
  const namesOf = (args: readonly string[]): Promise<readonly string[]> =>
    listNames(ask, folder, args, settings);
  const differing = ['diff-index', '--cached', '--name-only', '--no-renames', '-z'];
  const byOthers = new Set(await namesOf([...differing, to]));
  const staged = (await namesOf([...differing, index])).filter((name) => !byOthers.has(name));
  if (staged.length > 0) {
    await patience.untilGone([indexLockOf(`${gitDir}/index`)]);
    const back = await ask(folder, ['read-tree', '-m', '-u', to, index], { settings });
    return back.exitCode === 0 ? [] : staged;
  }
  const head = await runGitOf(ask)(folder, ['rev-parse', '-q', '--verify', 'HEAD']);
  if (head?.trim() !== from) return [];
  // A disk that was full: the files come before the index.
  const moving = await namesOf(['diff-tree', '-r', '--name-only', '--no-renames', '-z', from, to]);
  const dirty = new Set(await namesOf(['ls-files', '-m', '-d', '-o', '-z']));
  return moving.filter((name) => dirty.has(name));
}

async function listNames(
  ask: AskGit,
  folder: string,
  args: readonly string[],
  settings: readonly GitSetting[],
): Promise<readonly string[]> {
  const listed = (await runGitOf(ask)(folder, args, { settings })) ?? '';
  return readNames(asText(listed));
}
