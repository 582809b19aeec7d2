import { commitMessage } from '../../../core/snapshots/commit-message.ts';
import type { Settlement } from '../../../core/snapshots/settlement.ts';
import type { TreeDifference } from '../../../core/snapshots/undo-plan.ts';
import { readParents } from '../../snapshots/move-head.ts';
import { type Head, headSign, readHead } from '../../snapshots/repository.ts';
import type { TreePath } from '../../snapshots/tree-changes.ts';
import { changesOf, followCommit, stage } from './commit-index.ts';
import { identityProblem, refused, signingProblem, whyNotCommitted } from './commit-refusals.ts';
import type { CommitRequest, NotCommitted } from './commit-request.ts';
import { changedIn, type Span, spanOf, withoutLeftOut } from './iteration-changes.ts';
import { branchFor, shortName } from './own-branch.ts';

/*
 * A commit of what one iteration changed, and of nothing else. Git makes it as a user's `git commit`
 * would, hooks and all, but from an index of ralph's own:
 *
 *   HEAD + the files that the snapshots name ──► index-of-commit ──► git commit ──► the user's index,
 *                                                                                   for these files only
 *
 * Killed before git has moved HEAD, it is done again. Killed after, the repetition finds the commit and
 * only brings the index up to date.
 */

/** What became of a commit. */
export interface Committed {
  readonly settlement: Settlement;
  readonly left: ReadonlyMap<TreePath, NotCommitted>;
  /** The branch that was made for it, or null. */
  readonly newBranch: string | null;
  /** Whether the user's index is locked, so that it does not show the commit. */
  readonly isIndexBehind: boolean;
}

/** Commits what an iteration changed. Rejects with a `CommitError` or a `SnapshotError`. */
export async function commitIteration(request: CommitRequest): Promise<Committed> {
  const { git, tree } = request;
  const left = new Map<TreePath, NotCommitted>();
  const end = (settlement: Settlement, more: Partial<Committed> = {}): Committed => ({
    ...{ settlement, left, newBranch: null, isIndexBehind: false },
    ...more,
  });
  const span = spanOf(request.timeline, tree);
  if (span === null) return end({ kind: 'nothing' });
  const refusal = await whyNotCommitted(request);
  if (refusal !== null) return end({ kind: 'not-committed', why: refusal });
  const head = await readHead(git.onRepository);
  const sign = headSign(git.repository);
  const changed = await changedIn(request, span, left);
  const done = tree.again ? await doneBefore(request, span, head) : null;
  if (done !== null && head.commit !== null) {
    const { index } = await stage(git, head.commit, []);
    const isIndexBehind = !(await followCommit(git, done, new Set(changed), index));
    return end(committed(head.commit, head.branch, done.size), { isIndexBehind });
  }
  const { index, staged } = await stage(git, head.commit, changed);
  const files = await withoutLeftOut(request, span, { index, staged }, left);
  if (files.size === 0) return end({ kind: 'nothing' });
  const problem = (await identityProblem(request)) ?? (await signingProblem(request, index));
  if (problem !== null) return end(problem);
  const onto = await branchFor(request, head);
  if (onto.branch === null) {
    return end({ kind: 'not-committed', why: 'git lets no branch be made for the task' });
  }
  const { branch, newBranch } = onto;
  if (newBranch === null && headSign(git.repository) !== sign) {
    return end({ kind: 'not-committed', why: 'HEAD moved meanwhile' });
  }
  const facts = { taskId: request.taskId, ...tree };
  const answer = await request.asUser(['commit', '--quiet', '--cleanup=whitespace', '--file=-'], {
    input: commitMessage(facts, request.template),
    index,
    timeoutMs: request.timeoutMs,
    startsPrograms: true,
  });
  const now = await readHead(git.onRepository);
  if (now.commit === null || now.commit === head.commit) {
    return end(refused(answer), { newBranch });
  }
  const changes = await changesOf(git, head.commit, now.commit);
  const isIndexBehind = !(await followCommit(git, changes, files, index));
  return end(committed(now.commit, branch, changes.size), { newBranch, isIndexBehind });
}

function committed(commit: string, branch: string | null, files: number): Settlement {
  return { kind: 'committed', commit, branch: shortName(branch ?? 'HEAD'), files };
}

/** Returns what an earlier driver committed for this iteration before it died; null if it did not. */
async function doneBefore(
  { git, timeline, taskId, tree }: CommitRequest,
  { begin }: Span,
  { commit }: Head,
): Promise<TreeDifference | null> {
  const before = timeline.snapshots[begin];
  if (commit === null || before === undefined) return null;
  const { head } = await readParents(git, before.commit);
  if (head === commit) return null;
  const found = await git.onRepository(['log', '--max-count=1', '--format=%P%n%B', commit]);
  const [parents = '', ...message] = Buffer.from(found.output, 'latin1').toString().split('\n');
  const isOwn = [`Ralph-Task: ${taskId}`, `Ralph-Iteration: ${tree.iteration}`].every((line) =>
    message.includes(line),
  );
  return isOwn ? changesOf(git, parents.split(' ')[0] || null, commit) : null;
}
