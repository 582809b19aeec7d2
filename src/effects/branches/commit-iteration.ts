import { commitMessage } from '../../core/snapshots/commit-message.ts';
import { looksSecret } from '../../core/snapshots/secret-names.ts';
import type { Settlement, TreeToSettle } from '../../core/snapshots/settlement.ts';
import { leftBy, type Timeline } from '../../core/snapshots/timeline.ts';
import type { TreeDifference } from '../../core/snapshots/undo-plan.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { readParents } from '../snapshots/move-head.ts';
import { type PrivateGit, runOnRepository } from '../snapshots/private-git.ts';
import { type Head, headSign, readHead, underWayIn } from '../snapshots/repository.ts';
import type { SnapshotStore } from '../snapshots/snapshot-store.ts';
import type { TreePath } from '../snapshots/tree-changes.ts';
import { ignoredThen } from '../snapshots/trees.ts';
import { asInput, type GitAnswer } from '../workspace/git-command.ts';
import {
  ask,
  CommitError,
  changesOf,
  followCommit,
  stage,
  unstage,
  userIndex,
} from './commit-index.ts';
import { differenceOf, dirtyByOthers } from './dirty-paths.ts';
import { changedSetup, type GitSetup, readGitSetup } from './git-setup.ts';
import { enterOwnBranch, protectedBranches } from './own-branch.ts';

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

export interface CommitRequest {
  readonly git: PrivateGit;
  readonly store: SnapshotStore;
  readonly timeline: Timeline;
  readonly tree: TreeToSettle;
  readonly taskId: string;
  readonly template: string | null;
  /** The branches that `--protect-branch` names. */
  readonly protect: readonly string[];
  /** What a commit ran when the task began. */
  readonly setup: GitSetup;
  /** Runs git as the user would; see `callGit`. */
  readonly asUser: AsUser;
  /** For a commit with its hooks. */
  readonly timeoutMs: number;
}

export type AsUser = (
  args: readonly string[],
  call?: {
    readonly input?: string;
    readonly index?: string;
    readonly timeoutMs?: number;
    /** Whether git may start programs that the agent has written: hooks, filters, what signs. */
    readonly startsPrograms?: boolean;
  },
) => Promise<GitAnswer>;

/** Why a path that the iteration changed is not in the commit. */
export type NotCommitted = 'others' | 'secret' | 'ignored' | 'conflict' | 'repository';

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
  const refusal = await whyNot(request);
  if (refusal !== null) return end({ kind: 'not-committed', why: refusal });
  const head = await readHead(git.repository, runOnRepository(git));
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
  const now = await readHead(git.repository, runOnRepository(git));
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

function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** Places of snapshots: of the one that the first iteration began with, and of the newest. */
interface Span {
  readonly begin: number;
  readonly last: number;
}

/** Returns null if the iterations have no snapshots of their own: then they have changed nothing. */
function spanOf({ snapshots }: Timeline, { since, iteration }: TreeToSettle): Span | null {
  const isWork = ({ what }: Timeline['snapshots'][number]): boolean =>
    (what.kind === 'end' || what.kind === 'attempt') &&
    what.iteration >= since &&
    what.iteration <= iteration;
  const first = snapshots.findIndex(isWork);
  if (first === -1) return null;
  const before = snapshots[first - 1];
  if (before === undefined || before.order + 1 !== snapshots[first]?.order) {
    throw new CommitError('the snapshot from before the iteration is missing');
  }
  return { begin: first - 1, last: snapshots.findLastIndex(isWork) };
}

/** Returns the paths that the agent changed in the iteration, without those that are not its own. */
async function changedIn(
  { git, store, timeline, tree }: CommitRequest,
  { begin, last }: Span,
  left: Map<TreePath, NotCommitted>,
): Promise<readonly TreePath[]> {
  const { snapshots } = timeline;
  const differs = async (from = '', to = ''): Promise<Iterable<TreePath>> =>
    from === to ? [] : (await differenceOf(git, from, to)).keys();
  const end = snapshots[last]?.tree;
  const before = snapshots[begin];
  const changed = new Set(await differs(before && leftBy(before), end));
  const others = new Set(await dirtyByOthers(git, timeline, begin, changed));
  for (let at = begin + 1; at <= last; at += 1) {
    if (snapshots[at]?.what.kind !== 'start') continue;
    for (const name of await differs(snapshots[at - 1]?.tree, snapshots[at]?.tree))
      others.add(name);
  }
  // While no driver was alive, anybody may have written.
  if (tree.again) {
    for (const name of await differs(end, (await store.keepTree()).tree)) others.add(name);
  }
  const index = await userIndex(git);
  for (const name of changed) {
    if (index.get(name) === 'conflict') left.set(name, 'conflict');
    else if (others.has(name)) left.set(name, 'others');
  }
  return [...changed].filter((name) => !left.has(name));
}

/** Returns why nothing at all is committed, as a clause; null if nothing speaks against it. */
async function whyNot({ git, setup, asUser }: CommitRequest): Promise<string | null> {
  const [operation] = underWayIn(git.repository);
  if (operation !== undefined) return `a ${operation} is under way`;
  const now = await readGitSetup(git.repository, async (args) => {
    const { exitCode, output } = await asUser(args);
    return exitCode === 0 ? output : null;
  });
  if (now === null) return 'git cannot tell its configuration';
  const changed = changedSetup(setup, now);
  if (changed.length === 0) return null;
  const named = oneLine(changed.slice(0, 5).join(', '), 500);
  const more = changed.length > 5 ? ` and ${changed.length - 5} more` : '';
  return `the task began with another state of ${named}${more}`;
}

/**
 * Takes new files that must not be committed out of the index. Returns the paths that are left in it.
 * A file that HEAD has is committed whatever its name is.
 */
async function withoutLeftOut(
  { git, timeline }: CommitRequest,
  { begin }: Span,
  { index, staged }: { readonly index: string; readonly staged: TreeDifference },
  left: Map<TreePath, NotCommitted>,
): Promise<ReadonlySet<TreePath>> {
  const added = [...staged].filter(([, { from }]) => from === null);
  const inIndex = await userIndex(git);
  const input = asInput(added.map(([name]) => name).filter((name) => !inIndex.has(name)));
  const listed = await git.onRepository(['check-ignore', '-z', '--stdin'], { input });
  if (listed.exitCode !== 0 && listed.exitCode !== 1) {
    throw new CommitError('git cannot tell which files are ignored');
  }
  const before = timeline.snapshots[begin];
  const names = added.map(([name]) => name);
  const then = before === undefined ? [] : await ignoredThen(git, leftBy(before), names);
  const ignored = new Set([...listed.output.split('\0'), ...then]);
  const out = new Map<TreePath, NotCommitted>();
  for (const [name, { to }] of added) {
    if (looksSecret(name)) out.set(name, 'secret');
    else if (ignored.has(name)) out.set(name, 'ignored');
    // Git would link to a repository that nobody else can find.
    else if (to?.startsWith('160000') && !inIndex.has(name)) out.set(name, 'repository');
  }
  await unstage(git, index, new Set(out.keys()));
  for (const [name, why] of out) left.set(name, why);
  return new Set([...staged.keys()].filter((name) => !out.has(name)));
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

/** The author has to be configured: git would otherwise make one up of user and machine. */
async function identityProblem({ asUser }: CommitRequest): Promise<Settlement | null> {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { exitCode } = await asUser(['-c', 'user.useConfigOnly=true', 'var', who]);
    if (exitCode !== 0) {
      return { kind: 'not-committed', why: 'git knows no author (user.name and user.email)' };
    }
  }
  return null;
}

/** How long a signature may take. Nobody sits at a terminal to type a passphrase. */
const SIGNING_MS = 30_000;

/** Signs a commit that no branch gets, to learn before the hooks run whether that is possible. */
async function signingProblem(
  { git, asUser }: CommitRequest,
  index: string,
): Promise<Settlement | null> {
  const wanted = await asUser(['config', '--type=bool', '--get', 'commit.gpgSign']);
  if (wanted.output.trim() !== 'true') return null;
  const tree = await ask(git.onRepository(['write-tree'], { index }), 'git cannot write a tree');
  const args = ['commit-tree', '-S', '-m', 'Can ralph sign?', tree.trim()];
  const { exitCode, complaint } = await asUser(args, {
    timeoutMs: SIGNING_MS,
    startsPrograms: true,
  });
  if (exitCode === 0) return null;
  const said = oneLine(Buffer.from(complaint, 'latin1').toString(), 300);
  const why = exitCode === null ? 'it took more than 30 s' : said || `git ended with ${exitCode}`;
  return { kind: 'not-committed', why: `the commit cannot be signed: ${why}` };
}

/** Returns the branch to commit to, and whether it was made for that. */
async function branchFor(
  { git, taskId, protect }: CommitRequest,
  head: Head,
): Promise<{ readonly branch: string | null; readonly newBranch: string | null }> {
  const { branch } = head;
  if (branch !== null && !(await protectedBranches(git, protect)).has(shortName(branch))) {
    return { branch, newBranch: null };
  }
  const made = await enterOwnBranch(git, taskId, head);
  return { branch: made, newBranch: made };
}

function refused({ exitCode, output, complaint }: GitAnswer): Settlement {
  const said = Buffer.from(`${output}${complaint}`, 'latin1').toString().trim();
  const why =
    exitCode === null
      ? 'git commit was killed or took too long'
      : `git commit ended with ${exitCode}${said === '' ? '' : `: ${oneLine(said, 300)}`}`;
  return { kind: 'refused', why, output: said };
}
