import type { ListedSnapshot } from '../../core/snapshots/timeline.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { RunGit } from '../git/call/git-command.ts';
import { GitError, outputOf } from '../git/git-error.ts';
import { withoutOwnFilters } from '../git/git-filters.ts';
import { lockIn } from '../git/git-locks.ts';
import { heldBy, indexInfo, readStaged } from '../git/listings.ts';
import { type PrivateGit, runOnRepository } from '../git/private-git.ts';
import { type Head, readHead } from '../git/repository.ts';
import { asInput, asText, type TreePath } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { INDEX_MESSAGE } from './snapshot-store.ts';
import { listTree } from './tree-files.ts';
import { lacks, readCommits } from './verified.ts';

/*
 * HEAD, its branch and the user's index go back to what a snapshot says. Each step is skipped if it is
 * done already, so that the same call finishes one that was cut off.
 */

/** What has to move. */
export interface HeadMove {
  readonly to: Head;
  /** HEAD as it is now. */
  readonly now: Head;
  /** The commit that the branch to go back to leads to now; null if there is no such branch. */
  readonly tip: string | null;
  /** What the index holds from now on; null takes a path out. */
  readonly index: readonly (readonly [TreePath, TreeEntry])[];
  /** The paths among them that a sparse checkout leaves out of the work tree. */
  readonly skipped: readonly string[];
  /** What is under way now and was not then. */
  readonly ends: readonly string[];
}

export type PlannedMove =
  | { readonly kind: 'none' }
  | { readonly kind: 'move'; readonly move: HeadMove }
  /** `why` is half a sentence. */
  | { readonly kind: 'refused'; readonly why: string };

/** Returns what has to move so that HEAD and the index are as in a snapshot. */
export async function planHeadMove(git: PrivateGit, base: ListedSnapshot): Promise<PlannedMove> {
  const { repository } = git;
  const ask = runOnRepository(git);
  const underWay = underWayIn(repository.gitDir);
  const ended = base.underWay.filter((name) => !underWay.includes(name));
  if (ended.length > 0) return refused(`a ${ended[0]} was under way then, and has ended since`);
  const parents = await readParents(git, base.commit);
  if (parents.index === null) return refused('the index had conflicts then');
  const now = await readHead(git.users);
  const to: Head = { commit: parents.head, branch: base.branch };
  const tip = to.branch === null ? null : await readTip(ask, to.branch);
  // Of a submodule git names the repository, and not the folder of its files.
  const here = ['', repository.root, repository.gitDir];
  if (tip?.place !== undefined && !here.includes(tip.place)) {
    return refused(`${to.branch} is checked out in ${tip.place}`);
  }
  const { index, skipped } = await indexLines(git, parents.index);
  const ends = underWay.filter((name) => !base.underWay.includes(name));
  const isThere =
    to.branch === null ? to.commit === now.commit : to.commit === (tip?.commit ?? null);
  if (isThere && to.branch === now.branch && index.length + ends.length === 0)
    return { kind: 'none' };
  return { kind: 'move', move: { to, now, tip: tip?.commit ?? null, index, skipped, ends } };
}

function refused(why: string): PlannedMove {
  return { kind: 'refused', why };
}

async function readTip(ask: RunGit, branch: string) {
  const output = await ask('', ['for-each-ref', '--format=%(objectname) %(worktreepath)', branch]);
  const [, commit, place] = /^(\S+) (.*)$/m.exec(output ?? '') ?? [];
  if (commit === undefined || place === undefined) return null;
  return { commit, place: asText(place) };
}

/**
 * Returns a snapshot's first parents: the commit of HEAD, null before the first one, and the one with the
 * index as its tree, null while the index had conflicts.
 */
export async function readParents(git: PrivateGit, commit: string) {
  const read = async (ids: readonly string[]) => {
    const commits = await readCommits(git, ids);
    return ids.map((id) => {
      const found = commits.get(id);
      if (found === undefined) throw new GitError(lacks(id));
      return { id, ...found };
    });
  };
  const parents = (await read([commit])).flatMap((snapshot) => snapshot.parents);
  const [first, ...others] = await read(parents);
  const own = [first, ...others].filter((parent) => parent?.author === OWN_EMAIL);
  return {
    head: first === undefined || own.includes(first) ? null : first.id,
    index: own.find((parent) => parent?.message === INDEX_MESSAGE)?.id ?? null,
  };
}

const OWN_EMAIL = 'ralph@localhost';

/** Returns the lines that make the user's index what a tree says. Entries that are so already keep their flags. */
async function indexLines(
  git: PrivateGit,
  tree: string,
): Promise<Pick<HeadMove, 'index' | 'skipped'>> {
  const listed = await git.onRepository(['ls-files', '-s', '-v', '-z']);
  const entries = readStaged(outputOf(listed, 'git cannot read the index'));
  const now = heldBy(entries);
  const left = new Set(entries.flatMap(({ tag, name }) => (/s/i.test(tag) ? [name] : [])));
  const then = await listTree(git, tree);
  const gone = [...now].filter(([name, entry]) => !then.has(name) || entry === 'conflict');
  const back = [...then].filter(([name, entry]) => now.get(name) !== entry);
  const index = [...gone.map(([name]) => [name, null] as const), ...back];
  return { index, skipped: back.flatMap(([name]) => (left.has(name) ? [name] : [])) };
}

const REASON = ['-m', 'ralph undo'];

/** Moves the branch by compare and swap, then HEAD, the index, and ends what was begun since. */
export async function moveHead(git: PrivateGit, move: HeadMove): Promise<void> {
  const { to, now, tip, index, skipped, ends } = move;
  // Git runs the filter of a file that was written in the same instant as the index.
  const settings = await withoutOwnFilters(git.repository.root, runOnRepository(git));
  if (settings === null) throw new GitError('git cannot tell which filters are whose');
  const run = async (what: string, args: readonly string[], input?: Uint8Array): Promise<void> => {
    const { exitCode, complaint } = await git.onRepository(args, { input, settings });
    if (exitCode === 0) return;
    const lock = lockIn(complaint);
    throw new GitError(`git cannot move ${what}${lock === null ? '' : `: ${lock}`}`);
  };
  const { branch, commit } = to;
  // A rebase has HEAD detached, and would go on from where it is.
  for (const name of ends.filter((each) => each !== 'bisect')) {
    await run(`HEAD out of the ${name}`, [name, '--quit']);
  }
  if (branch === null) {
    if (commit !== null && (now.branch !== null || now.commit !== commit)) {
      await run('HEAD', ['update-ref', ...REASON, '--no-deref', 'HEAD', commit, now.commit ?? '']);
    }
  } else {
    if (commit === null && tip !== null) await run(branch, ['update-ref', '-d', branch, tip]);
    if (commit !== null && tip !== commit) {
      await run(branch, ['update-ref', ...REASON, branch, commit, tip ?? '']);
    }
    if (now.branch !== branch) await run('HEAD', ['symbolic-ref', ...REASON, 'HEAD', branch]);
  }
  if (index.length === 0) return;
  const input = indexInfo(index, git.repository);
  await run('the index', ['update-index', '--replace', '-z', '--index-info'], input);
  if (skipped.length === 0) return;
  // A new entry has no flags, and would look like a deleted file.
  const skipping = ['update-index', '--skip-worktree', '-z', '--stdin'];
  await run('the index', skipping, asInput(skipped));
}
