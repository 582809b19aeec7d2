import path from 'node:path';
import type {
  IndexBehind,
  Settlement,
  TreeToSettle,
  Uncommitted,
} from '../core/snapshots/settlement.ts';
import type { Timeline } from '../core/snapshots/timeline.ts';
import { stage } from '../effects/branches/commit/commit-index.ts';
import { type Committed, commitIteration } from '../effects/branches/commit/commit-iteration.ts';
import type { CommitRequest, NotCommitted } from '../effects/branches/commit/commit-request.ts';
import { followCommit, indexLock } from '../effects/branches/commit/follow-commit.ts';
import { type GitSetup, readGitSetup } from '../effects/branches/commit/git-setup.ts';
import { hasLag, readLag } from '../effects/branches/commit/index-lag.ts';
import { countUncommitted, stillLacking } from '../effects/branches/commit/iteration-changes.ts';
import { revertIteration } from '../effects/branches/revert-iteration.ts';
import { realPath } from '../effects/files/real-path.ts';
import { type Git, gitIn } from '../effects/git/git.ts';
import { gitInside } from '../effects/git/git-inside.ts';
import { createPatience, lockText } from '../effects/git/git-locks.ts';
import type { PrivateGit } from '../effects/git/private-git.ts';
import { asText, type TreePath } from '../effects/git/tree-path.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import type { TreeKeeper } from '../effects/snapshots/keeper/tree-keeper.ts';
import { systemClock } from '../effects/time/clock.ts';
import { messageOf } from '../errors.ts';
import type { WorkTreeSettler } from '../loop/ports.ts';
import {
  branchMade,
  headNotMoved,
  heldBack,
  indexBehind,
  leftBecause,
  leftUncommitted,
} from '../report/notices.ts';
import type { ClaimedRun } from './held-run.ts';

/** Options for git with the user's own configuration. The time limit is for a call that starts no other program. */
const ASKED = { asUser: true, timeoutMs: 60_000 };

/** Returns git with the user's configuration, for calls that start no program. A second stop request ends them. */
function gitAsUser({ plan, stops }: ClaimedRun, { repository }: PrivateGit): Git {
  const env = plan.gitEnv;
  return gitIn(repository.root, { ...ASKED, env, signal: stops.hurry });
}

/** Returns git as `gitAsUser` does, for calls that may start hooks and the like: in the sandbox if checks run there. */
function gitWithPrograms(
  { plan, stops }: ClaimedRun,
  { repository }: PrivateGit,
  sandbox: Sandbox | null,
): Git {
  const { env, policy } = plan;
  const request = {
    ...{ ...ASKED, env, signal: stops.hurry, waitsFor: 'hooks' as const },
    timeoutMs: policy.iterationTimeoutMs,
  };
  if (sandbox?.rules.checksInside !== true) return gitIn(repository.root, request);
  return gitInside(repository.root, request, (each, temporary) =>
    sandbox.wrap(each, 'check', { writable: [], fixed: [], temporary }),
  );
}

/** Returns the hooks and settings that commits would use now. Every task stores them: a resume may add `--commit`. */
export function gitSetupNow(
  run: ClaimedRun,
  { git, settings }: TreeKeeper,
): Promise<GitSetup | null> {
  return readGitSetup(git.repository, gitAsUser(run, git), settings);
}

/** Brings the user's index up to date with commits of an earlier run that were made while the index was locked. */
export async function followEarlier({ git }: TreeKeeper): Promise<void> {
  await followLate(git).catch(() => null);
}

async function followLate(git: PrivateGit): Promise<void> {
  if (!hasLag(git)) return;
  const nothing = { changes: new Map(), committed: new Set<string>() };
  // `followCommit` uses file times from ralph's own index for commits. A failed commit may have left its files there.
  await stage(git, 'HEAD', []);
  await followCommit(git, nothing, createPatience());
}

/** Returns the functions with which the loop commits or undoes the changes of iterations. */
export function workTreeSettler(
  run: ClaimedRun,
  keeper: TreeKeeper | null,
  setup: GitSetup | null,
  sandbox: Sandbox | null,
): WorkTreeSettler {
  const { plan, warn } = run;
  const said = new Set<string>();
  /** The files that this run has left out of its commits, each with the newest reason. */
  const leftOut = new Map<TreePath, NotCommitted>();
  /** Warns about paths that are not in the commit, once for each path and reason. */
  const tellLeft = ({ left }: Committed): void => {
    const news = [...left].filter(([name, why]) => !said.has(`${why} ${name}`));
    for (const [name, why] of left) {
      said.add(`${why} ${name}`);
      leftOut.set(name, why);
    }
    for (const [why, names] of byReason(news)) warn(leftUncommitted(why, names));
  };

  let hasToldLag = false;
  /** The last commit that git refused. It is not tried again, because its hooks have run and would refuse it again. */
  let refused: { readonly iteration: number; readonly settlement: Settlement } | null = null;

  /** Resolves to what `commitIteration` needs, or to the reason why nothing can be committed. */
  const requestFor = async (tree: TreeToSettle): Promise<CommitRequest | string> => {
    if (keeper === null || !keeper.isWorking || !keeper.isHere()) return NO_SNAPSHOT;
    const timeline = await keeper.timeline();
    if (timeline.lost.length > 0) return lostSnapshots(timeline);
    if (setup === null) return NO_SETUP;
    return {
      ...{ git: keeper.git, store: keeper.store, timeline, tree, setup },
      taskId: plan.taskId,
      template: plan.settings.commitMessage,
      apart: listIn(keeper.git.repository.root, plan.policy.list),
      protect: plan.settings.protectBranch,
      asUser: gitAsUser(run, keeper.git),
      withPrograms: gitWithPrograms(run, keeper.git, sandbox),
      patience: createPatience(),
    };
  };

  const commit = async (tree: TreeToSettle): Promise<Settlement> => {
    const request = await requestFor(tree);
    if (typeof request === 'string') return notCommitted(request);
    const committed = await commitIteration(request);
    await keeper?.keepRewritten(tree.iteration, committed.rewritten);
    const { settlement, newBranch } = committed;
    refused = committed.isRefused ? { iteration: tree.iteration, settlement } : null;
    tellLeft(committed);
    if (newBranch !== null) warn(branchMade(newBranch));
    const isBehind = hasLag(request.git);
    if (isBehind && !hasToldLag) warn(indexBehind(lockText(indexLock(request.git))));
    hasToldLag = isBehind;
    return settlement;
  };

  const finish = async (left: TreeToSettle | null): ReturnType<WorkTreeSettler['finish']> => {
    const settlement = left === null ? null : await lastTry(left).catch(asNotCommitted);
    const isLeft = settlement?.kind === 'not-committed' || settlement?.kind === 'refused';
    const files = left === null || !isLeft ? 0 : await countLeft(left).catch(() => null);
    const failed = isLeft && files !== 0 ? { reason: settlement.why, files } : null;
    return {
      settlement,
      uncommitted: bothLeft(failed, await stillLeftOut()),
      indexBehind: keeper === null ? null : await stillBehind(keeper.git).catch(() => null),
    };
  };

  const lastTry = async (left: TreeToSettle): Promise<Settlement> => {
    if (run.resume?.announcesOnly === true) return notCommitted(ENDED_BEFORE);
    if (refused?.iteration === left.iteration) return refused.settlement;
    // A snapshot is taken first, so that later changes by others do not count as this iteration's.
    keeper?.disturb();
    await keeper?.before(left.iteration + 1);
    return commit(left);
  };

  const countLeft = async (left: TreeToSettle): Promise<number | null> => {
    const request = await requestFor(left);
    return typeof request === 'string' ? null : countUncommitted(request);
  };

  const stillLeftOut = async (): Promise<Uncommitted | null> => {
    if (keeper === null || leftOut.size === 0) return null;
    const names = [...leftOut.keys()];
    // If git cannot say which files are lacking, all are reported: a person may then look at one needlessly.
    const lacking = await stillLacking(keeper.git, names).catch(() => new Set(names));
    const left = [...leftOut].filter(([name]) => lacking.has(name));
    const reasons = [...byReason(left)].map(([why, paths]) => leftBecause(why, paths));
    return left.length === 0 ? null : { reason: reasons.join(', '), files: left.length };
  };

  const stillBehind = async (git: PrivateGit): Promise<IndexBehind | null> => {
    await followLate(git);
    const paths = [...readLag(git).keys()].map(asText).sort();
    if (paths.length === 0) return null;
    return { why: lockText(indexLock(git)), root: git.repository.root, paths };
  };

  const revert = async ({ iteration }: TreeToSettle): Promise<Settlement> => {
    if (keeper === null || !keeper.isWorking || !keeper.isHere()) return notReverted(NO_SNAPSHOT);
    const timeline = await keeper.timeline();
    if (timeline.lost.length > 0) return notReverted(lostSnapshots(timeline));
    await keeper.mendRefs();
    const denied = (sandbox?.rules.denyWrite ?? []).map(({ value }) => value);
    const { settlement, headStays, held } = await revertIteration({
      ...{ git: keeper.git, store: keeper.store, timeline, iteration },
      taskId: plan.taskId,
      order: keeper.nextOrder,
      at: systemClock.now(),
      places: { denied, start: keeper.start },
    });
    if (held.length > 0) warn(heldBack(held));
    if (headStays !== null) warn(headNotMoved(iteration, headStays));
    return settlement;
  };

  return {
    commit: (tree) => commit(tree).catch(asNotCommitted),
    revert: (tree) => revert(tree).catch((error) => notReverted(messageOf(error))),
    finish,
  };
}

/** Returns the path of the list from which the task was taken, relative to the work tree; null without a list. */
function listIn(root: string, list: string | undefined): string | null {
  return list === undefined ? null : path.relative(realPath(root), realPath(list));
}

function byReason(
  left: readonly (readonly [TreePath, NotCommitted])[],
): ReadonlyMap<NotCommitted, readonly string[]> {
  const reasons = new Map<NotCommitted, string[]>();
  for (const [name, why] of left) reasons.set(why, [...(reasons.get(why) ?? []), asText(name)]);
  return reasons;
}

function bothLeft(one: Uncommitted | null, other: Uncommitted | null): Uncommitted | null {
  if (one === null || other === null) return one ?? other;
  const files = one.files === null || other.files === null ? null : one.files + other.files;
  return { reason: `${one.reason}; ${other.reason}`, files };
}

const NO_SNAPSHOT = 'there is no snapshot that tells what the iteration changed';

const NO_SETUP = 'it is not known which hooks and settings git had when the task began';

const ENDED_BEFORE = 'ralph was ended before it could try once more';

function lostSnapshots({ lost }: Timeline): string {
  return `git has lost snapshots, or somebody has replaced them (${lost.join(', ')})`;
}

function notReverted(why: string): Settlement {
  return { kind: 'not-reverted', why };
}

function notCommitted(why: string): Settlement {
  return { kind: 'not-committed', why };
}

function asNotCommitted(error: unknown): Settlement {
  return notCommitted(messageOf(error));
}
