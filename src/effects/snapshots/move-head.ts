import type { ListedSnapshot } from '../../core/snapshots/timeline.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { withGitSettings } from '../git/git.ts';
import { complaintOf, GitError, orNull } from '../git/git-error.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { lockIn } from '../git/git-locks.ts';
import { heldBy } from '../git/listings.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { quit } from '../git/questions/checkouts.ts';
import { flagPaths, indexEntries, setEntries } from '../git/questions/index-files.ts';
import { deleteRef, type ListedRef, listRefs, moveRef, putHeadOn } from '../git/questions/refs.ts';
import { type Head, readHead } from '../git/repository.ts';
import type { TreePath } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { readSnapshot } from './read-snapshot.ts';
import { listTree } from './tree-files.ts';

/*
 * Moves HEAD, its branch and the user's index back to what a snapshot says. Each step is skipped if it is done already,
 * so the same call can finish a move that was cut off.
 */

/** What has to change so that HEAD and the index are as in a snapshot. */
export interface HeadMove {
  readonly to: Head;
  readonly now: Head;
  /** The commit that the branch of `to` leads to now; null if there is no such branch. */
  readonly tip: string | null;
  /** The entries that change in the index; null removes a path. */
  readonly index: readonly (readonly [TreePath, TreeEntry])[];
  /** The paths in `index` that a sparse checkout leaves out of the work tree. */
  readonly skipped: readonly string[];
  /** The operations, such as a merge, that are under way now and were not when the snapshot was made. */
  readonly ends: readonly string[];
}

export type PlannedMove =
  | { readonly kind: 'none' }
  | { readonly kind: 'move'; readonly move: HeadMove }
  /** `why` is a clause. */
  | { readonly kind: 'refused'; readonly why: string };

/** Returns what has to move so that HEAD and the index are as in a snapshot. */
export async function planHeadMove(git: PrivateGit, base: ListedSnapshot): Promise<PlannedMove> {
  const { repository } = git;
  const underWay = underWayIn(repository.gitDir);
  const ended = base.underWay.filter((name) => !underWay.includes(name));
  if (ended.length > 0) return refused(`a ${ended[0]} was under way then, and has ended since`);
  const kept = await readSnapshot(git, base.commit);
  if (kept.index === null) return refused('the index had conflicts then');
  const now = await readHead(git.users);
  const to: Head = { commit: kept.head, branch: base.branch };
  const tip = to.branch === null ? null : await branchAt(git, to.branch);
  // For a branch checked out in a submodule, git names the folder of its repository, not that of its files.
  const here = ['', repository.root, repository.gitDir];
  if (tip !== null && !here.includes(tip.checkedOutIn)) {
    return refused(`${to.branch} is checked out in ${tip.checkedOutIn}`);
  }
  const { index, skipped } = await indexLines(git, kept.index);
  const ends = underWay.filter((name) => !base.underWay.includes(name));
  const isThere = to.branch === null ? to.commit === now.commit : to.commit === (tip?.id ?? null);
  if (isThere && to.branch === now.branch && index.length + ends.length === 0)
    return { kind: 'none' };
  return { kind: 'move', move: { to, now, tip: tip?.id ?? null, index, skipped, ends } };
}

function refused(why: string): PlannedMove {
  return { kind: 'refused', why };
}

async function branchAt(git: PrivateGit, name: string): Promise<ListedRef | null> {
  return (await orNull(listRefs(git.users, [name])))?.[0] ?? null;
}

/** Returns the entries that turn the user's index into this tree. An entry that does not change keeps its flags. */
async function indexLines(
  git: PrivateGit,
  tree: string,
): Promise<Pick<HeadMove, 'index' | 'skipped'>> {
  const entries = [...(await indexEntries(git.users, [], 'git cannot read the index'))];
  const now = heldBy(entries);
  const left = new Set(entries.flatMap(({ tag, name }) => (/s/i.test(tag) ? [name] : [])));
  const then = await listTree(git, tree);
  const gone = [...now].filter(([name, entry]) => !then.has(name) || entry === 'conflict');
  const back = [...then].filter(([name, entry]) => now.get(name) !== entry);
  const index = [...gone.map(([name]) => [name, null] as const), ...back];
  return { index, skipped: back.flatMap(([name]) => (left.has(name) ? [name] : [])) };
}

/** The reason that the reflog gives. */
const REASON = 'ralph undo';

/** Ends the operations in `ends`, then moves the branch, HEAD and the index. Rejects with a `GitError`. */
export async function moveHead(
  git: PrivateGit,
  { to, now, tip, index, skipped, ends }: HeadMove,
): Promise<void> {
  // Without these settings, git would run the filter of a file that was written in the same instant as the index.
  const settings = await withoutOwnFilters(git.repository.root, git.users);
  if (settings === null) throw new GitError('git cannot tell which filters are whose');
  const ask = withGitSettings(git.users, settings);
  const move = async (what: string, step: Promise<void>): Promise<void> => {
    const complaint = await complaintOf(step);
    if (complaint === null) return;
    const lock = lockIn(complaint);
    throw new GitError(`git cannot move ${what}${lock === null ? '' : `: ${lock}`}`);
  };
  const { branch, commit } = to;
  // A rebase that stayed under way would later continue from the HEAD that is moved below.
  for (const name of ends.filter((each) => each !== 'bisect')) {
    await move(`HEAD out of the ${name}`, quit(ask, name));
  }
  if (branch === null) {
    if (commit !== null && (now.branch !== null || now.commit !== commit)) {
      const detached = { from: now.commit, to: commit, reason: REASON, isDetached: true };
      await move('HEAD', moveRef(ask, 'HEAD', detached));
    }
  } else {
    if (commit === null && tip !== null) await move(branch, deleteRef(ask, branch, tip));
    if (commit !== null && tip !== commit) {
      await move(branch, moveRef(ask, branch, { from: tip, to: commit, reason: REASON }));
    }
    if (now.branch !== branch) await move('HEAD', putHeadOn(ask, branch, REASON));
  }
  await move('the index', setEntries(ask, git.repository, index));
  // Without this flag, a missing file of a sparse checkout would look deleted.
  await move('the index', flagPaths(ask, skipped, 'skip-worktree'));
}
