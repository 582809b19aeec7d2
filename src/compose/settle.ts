import type { Settlement, TreeToSettle } from '../core/snapshots/settlement.ts';
import { type Committed, commitIteration } from '../effects/branches/commit/commit-iteration.ts';
import type { AsUser, NotCommitted } from '../effects/branches/commit/commit-request.ts';
import {
  type GitSetup,
  readGitSetup,
  storedGitSetup,
} from '../effects/branches/commit/git-setup.ts';
import { revertIteration } from '../effects/branches/revert-iteration.ts';
import type { Sandbox } from '../effects/sandbox/sandbox.ts';
import type { PrivateGit } from '../effects/snapshots/private-git.ts';
import type { TreeKeeper } from '../effects/snapshots/tree-keeper.ts';
import { systemClock } from '../effects/time/clock.ts';
import { callGit } from '../effects/workspace/git-command.ts';
import { messageOf } from '../errors.ts';
import type { WorkTreeSettler } from '../loop/ports.ts';
import { branchMade, headNotMoved, indexBehind, leftUncommitted } from '../report/notices.ts';
import type { ClaimedRun } from './held-run.ts';
import { callGitInside } from './sandbox/git-inside.ts';

/** For a question to git that runs no program. */
const QUESTION_MS = 60_000;

/**
 * Runs git as the user would, and in the sandbox if there is one and git starts programs. A second request to
 * stop ends it.
 */
function gitAsUser(
  { plan, stops }: ClaimedRun,
  { repository }: PrivateGit,
  sandbox: Sandbox | null,
): AsUser {
  return async (args, { index, timeoutMs = QUESTION_MS, startsPrograms = false, ...call } = {}) => {
    const command = {
      ...{ ...call, args, timeoutMs, cwd: repository.root },
      env: startsPrograms ? plan.env : plan.gitEnv,
      ...{ signal: stops.hurry, asUser: true },
    };
    if (startsPrograms && sandbox?.rules.checksInside === true) {
      return callGitInside(sandbox, command, index);
    }
    return callGit({
      ...command,
      ...(index === undefined ? {} : { places: { GIT_INDEX_FILE: index } }),
    });
  };
}

/**
 * Returns what a commit runs, as it was when the task began; null without snapshots, or if that is lost.
 * It is kept for every task, since `--commit` may come with a resume.
 */
export async function gitSetupOf(
  run: ClaimedRun,
  keeper: TreeKeeper | null,
  isBeginning: boolean,
): Promise<GitSetup | null> {
  if (!isBeginning) return storedGitSetup(run.paths.folder);
  if (keeper === null) return null;
  const asUser = gitAsUser(run, keeper.git, null);
  return readGitSetup(keeper.git.repository, async (args) => {
    const { exitCode, output } = await asUser(args);
    return exitCode === 0 ? output : null;
  });
}

/** Creates the port that commits what iterations change, and takes it back. */
export function workTreeSettler(
  run: ClaimedRun,
  keeper: TreeKeeper | null,
  setup: GitSetup | null,
  sandbox: Sandbox | null,
): WorkTreeSettler {
  const { plan, warn } = run;
  const said = new Set<string>();
  /** Tells a person, once for each path, what is not in the commit. */
  const tellLeft = ({ left }: Committed): void => {
    const news = new Map<NotCommitted, string[]>();
    for (const [name, why] of left) {
      if (said.has(`${why} ${name}`)) continue;
      said.add(`${why} ${name}`);
      news.set(why, [...(news.get(why) ?? []), Buffer.from(name, 'latin1').toString()]);
    }
    for (const [why, names] of news) warn(leftUncommitted(why, names));
  };

  const commit = async (tree: TreeToSettle): Promise<Settlement> => {
    if (keeper === null || !keeper.isWorking || !keeper.isHere()) return notCommitted(NO_SNAPSHOT);
    const timeline = await keeper.timeline();
    if (timeline === null) return notCommitted('git cannot list the snapshots');
    if (setup === null) return notCommitted(NO_SETUP);
    const committed = await commitIteration({
      ...{ git: keeper.git, store: keeper.store, timeline, tree, setup },
      taskId: plan.taskId,
      template: plan.settings.commitMessage,
      protect: plan.settings.protectBranch,
      asUser: gitAsUser(run, keeper.git, sandbox),
      timeoutMs: plan.policy.iterationTimeoutMs,
    });
    tellLeft(committed);
    if (committed.newBranch !== null) warn(branchMade(committed.newBranch));
    if (committed.isIndexBehind) warn(indexBehind());
    return committed.settlement;
  };

  const revert = async ({ iteration }: TreeToSettle): Promise<Settlement> => {
    if (keeper === null || !keeper.isWorking || !keeper.isHere()) return notReverted(NO_SNAPSHOT);
    const timeline = await keeper.timeline();
    if (timeline === null) return notReverted('git cannot list the snapshots');
    const { settlement, headStays } = await revertIteration({
      ...{ git: keeper.git, store: keeper.store, timeline, iteration },
      taskId: plan.taskId,
      order: keeper.nextOrder,
      at: systemClock.now(),
    });
    if (headStays !== null) warn(headNotMoved(iteration, headStays));
    return settlement;
  };

  return {
    commit: (tree) => commit(tree).catch((error) => notCommitted(messageOf(error))),
    revert: (tree) => revert(tree).catch((error) => notReverted(messageOf(error))),
  };
}

const NO_SNAPSHOT = 'there is no snapshot that tells what the iteration changed';

const NO_SETUP = 'it is not known which hooks and settings git had when the task began';

function notReverted(why: string): Settlement {
  return { kind: 'not-reverted', why };
}

function notCommitted(why: string): Settlement {
  return { kind: 'not-committed', why };
}
