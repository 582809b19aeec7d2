import { commitMessage } from '../../../core/snapshots/commit-message.ts';
import type { Settlement } from '../../../core/snapshots/settlement.ts';
import type { TreeDifference } from '../../../core/snapshots/undo-plan.ts';
import { withIndex } from '../../git/git.ts';
import { locksOf, lockText } from '../../git/git-locks.ts';
import { commitIndex } from '../../git/questions/commits.ts';
import { readCommits } from '../../git/questions/verified.ts';
import { type Head, headSign, isSameHead, readHead, timeOf } from '../../git/repository.ts';
import type { TreePath } from '../../git/tree-path.ts';
import { readSnapshot } from '../../snapshots/read-snapshot.ts';
import { changesOf, stage } from './commit-index.ts';
import {
  identityProblem,
  messageFile,
  refused,
  settingsOfCommit,
  signingProblem,
  subjectRefused,
  whyNotCommitted,
} from './commit-refusals.ts';
import type { CommitRequest, NotCommitted } from './commit-request.ts';
import { followCommit, indexLock } from './follow-commit.ts';
import { changedIn, type SnapshotSpan, spanOf, withoutLeftOut } from './iteration-changes.ts';
import { branchFor, shortName } from './own-branch.ts';
import { instantOf, rewrittenIn } from './rewritten-files.ts';

/*
 * A commit of what one iteration changed, and of nothing else. Git makes it as a user's `git commit`
 * would, hooks and all, but from an index of ralph's own:
 *
 *   HEAD + the files that the snapshots name ──► index-of-commit ──► git commit ──► the user's index,
 *                                                                                   for these files only
 *
 * If ralph is killed before git has moved HEAD, the next call commits again. If it is killed later, the next call finds
 * the commit and only updates the user's index.
 */

/** The outcome of a commit. */
export interface Committed {
  readonly settlement: Settlement;
  readonly left: ReadonlyMap<TreePath, NotCommitted>;
  /** The branch that was made for the commit, or null. */
  readonly newBranch: string | null;
  /** Whether `git commit` ran and did not commit. */
  readonly isRefused: boolean;
  /** Paths that a hook or a filter changed during the commit, even if git made no commit in the end. */
  readonly rewritten: readonly TreePath[];
}

/** Commits what an iteration changed. Rejects with a `GitError`. */
export async function commitIteration(request: CommitRequest): Promise<Committed> {
  const { git, tree, patience } = request;
  const left = new Map<TreePath, NotCommitted>();
  const end = (settlement: Settlement, more: Partial<Committed> = {}): Committed => ({
    ...{ settlement, left, newBranch: null, isRefused: false, rewritten: [] },
    ...more,
  });
  const span = spanOf(request.timeline, tree);
  if (span === null) return end({ kind: 'nothing' });
  const settings = await settingsOfCommit(request);
  const refusal = await whyNotCommitted(request, settings);
  if (refusal !== null) return end(notCommitted(refusal));
  const sign = headSign(git.repository);
  const head = await readHead(git.users);
  const changed = await changedIn(request, span, left);
  const done = tree.again ? await doneBefore(request, span, head) : null;
  if (done !== null && head.commit !== null) {
    const { staged } = await stage(git, head.commit, done.keys());
    // A file that equals the committed one counts as the iteration's work, even if a hook wrote it later.
    const rewritten = [...done.keys()].filter((name) => !staged.has(name));
    for (const name of rewritten) left.delete(name);
    await stage(git, head.commit, []);
    const news = { changes: done, committed: new Set(changed.keys()) };
    await followCommit(git, news, patience);
    return end(committed(head.commit, head.branch, done.size), { rewritten });
  }
  const { index, staged } = await stage(git, head.commit, changed.keys());
  const files = await withoutLeftOut(request, span, { index, staged }, left);
  if (files.size === 0) return end({ kind: 'nothing' });
  const problem =
    (await identityProblem(request, settings)) ?? (await signingProblem(request, index, settings));
  if (problem !== null) return end(problem);
  const locks = locksOf(git.repository, head.branch);
  const lock = await patience.untilGone([...locks, indexLock(git)]);
  // A lock on the user's index does not stop the commit: that index can be updated later.
  if (lock !== null && lock !== indexLock(git)) return end(notCommitted(lockText(lock)));
  const now = headSign(git.repository) === sign ? head : await readHead(git.users);
  const kept = await keptHead(request);
  if (!isSameHead(head, kept) || !isSameHead(now, kept)) return end(HEAD_MOVED);
  const onto = await branchFor(request, head);
  if (onto.branch === null) return end(notCommitted('git lets no branch be made for the task'));
  const { branch, newBranch } = onto;
  const facts = { taskId: request.taskId, ...tree };
  const input = commitMessage(facts, request.template);
  const earlierMessage = timeOf(messageFile(git));
  const began = instantOf(index);
  const answer = await commitIndex(withIndex(request.withPrograms, index), input);
  const after = await readHead(git.users);
  const own = [...staged].filter(([name]) => files.has(name));
  if (after.commit === null || after.commit === head.commit) {
    // Git writes the message before it runs the `commit-msg` hook. Without a new message, that hook refused nothing.
    const isWritten = timeOf(messageFile(git)) !== earlierMessage;
    const ofSubject = isWritten ? await subjectRefused(request, answer, input, index) : null;
    return end(ofSubject ?? refused(answer), {
      ...{ newBranch, isRefused: true },
      rewritten: rewrittenIn(git, began, changed, new Map(own)),
    });
  }
  // After an error of git, a new commit at HEAD may be somebody else's.
  const isOwn = answer.exitCode === 0 || (await parentOfOwn(request, after.commit)) !== null;
  if (!isOwn) return end(HEAD_MOVED, { newBranch });
  const changes = await changesOf(git, head.commit, after.commit);
  // Rewritten files are looked for before the user's index is updated, which takes time in which others may write.
  const rewritten = rewrittenIn(git, began, changed, new Map([...own, ...changes]));
  await followCommit(git, { changes, committed: files }, patience);
  return end(committed(after.commit, branch, changes.size), { newBranch, rewritten });
}

function notCommitted(why: string): Settlement {
  return { kind: 'not-committed', why };
}

const HEAD_MOVED = notCommitted('HEAD moved meanwhile');

/** Returns HEAD as it was at the iteration's newest snapshot. */
async function keptHead({ git, store, timeline }: CommitRequest): Promise<Head> {
  const newest = timeline.snapshots.at(-1);
  if (store.keptHead !== null || newest === undefined) {
    return store.keptHead ?? { branch: null, commit: null };
  }
  // An earlier process made the newest snapshot, so HEAD is read from the snapshot.
  return { branch: newest.branch, commit: (await readSnapshot(git, newest.commit)).head };
}

function committed(commit: string, branch: string | null, files: number): Settlement {
  return { kind: 'committed', commit, branch: shortName(branch ?? 'HEAD'), files };
}

/** Returns what an earlier process, killed since, committed for this iteration; null if it made no commit. */
async function doneBefore(
  request: CommitRequest,
  { begin }: SnapshotSpan,
  { commit }: Head,
): Promise<TreeDifference | null> {
  const { git, timeline } = request;
  const before = timeline.snapshots[begin];
  if (commit === null || before === undefined) return null;
  const { head } = await readSnapshot(git, before.commit);
  if (head === commit) return null;
  const parent = await parentOfOwn(request, commit);
  return parent === null ? null : changesOf(git, parent || null, commit);
}

/** Returns the parent of `commit` ('' without a parent) if ralph made the commit for this iteration; otherwise null. */
async function parentOfOwn(
  { git, taskId, tree }: CommitRequest,
  commit: string,
): Promise<string | null> {
  const { parents = [], message = '' } = (await readCommits(git.users, [commit])).get(commit) ?? {};
  const lines = message.split('\n');
  const isOwn = [`Ralph-Task: ${taskId}`, `Ralph-Iteration: ${tree.iteration}`].every((line) =>
    lines.includes(line),
  );
  return isOwn ? (parents[0] ?? '') : null;
}
