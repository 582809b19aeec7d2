import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LandingRefusal } from '../../core/snapshots/landing.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { type Git, gitAt } from '../git/git.ts';
import { gitRefusal } from '../git/git-error.ts';
import type { Patience } from '../git/git-locks.ts';
import { moveRef, resolveCommit } from '../git/questions/refs.ts';
import { type Repository, refOf } from '../git/repository.ts';
import { underWayIn } from '../git/under-way.ts';
import { thisPlace } from '../lock/driver-identity.ts';
import { systemClock } from '../time/clock.ts';
import { gitDirOf, listTrees } from './checkout.ts';
import { fastForward } from './fast-forward.ts';
import { whoNeedsAlone } from './work-tree-claim.ts';

export interface BranchMove {
  readonly repository: Repository;
  readonly git: Git;
  /** Without `refs/heads/`. */
  readonly branch: string;
  /** The id of the branch's commit before the move; if the branch is at another one, it is not moved. */
  readonly from: string;
  /** The id of a later commit. */
  readonly to: string;
  readonly taskId: string;
  readonly patience: Patience;
}

/**
 * Moves a branch forward, and its checkout with it; resolves to null if it has moved. After a refusal nothing has
 * changed, unless its kind is `half-moved`. The last step is one git process, which goes on even if ralph is killed.
 */
export async function moveBranch(move: BranchMove): Promise<LandingRefusal | null> {
  const { repository, git, branch, from, to, taskId, patience } = move;
  const trees = (await listTrees(move)).filter((tree) => tree.branch === refOf(branch));
  const [checkout, ...others] = trees.filter((tree) => existsSync(tree.path));
  if (others.length > 0) {
    return { kind: 'failed', why: `${branch} is checked out in several work trees` };
  }
  if ((await commitOf(move)) !== from) return { kind: 'moved' };
  const rebase = checkout === undefined ? rebaseOf(repository, branch) : null;
  if (rebase !== null) return { kind: 'failed', why: `${branch} is being rebased (${rebase})` };
  if (checkout === undefined) {
    const there = gitAt(git, repository.commonDir);
    const reason = `ralph land ${taskId}`;
    const refusal = await gitRefusal(moveRef(there, refOf(branch), { from, to, reason }));
    if (refusal === null) return null;
    if ((await commitOf(move)) !== from) return { kind: 'moved' };
    return { kind: 'failed', why: refusal.message };
  }
  const gitDir = await gitDirOf({ repository, git, path: checkout.path });
  const [operation] = gitDir === null ? [] : underWayIn(gitDir);
  if (operation !== undefined) {
    const why = `a ${operation} is under way in ${checkout.path}, where ${branch} is checked out; finish it there`;
    return { kind: 'failed', why };
  }
  const user = gitDir === null ? null : whoNeedsAlone(gitDir, thisPlace(systemClock.now()));
  if (user !== null) {
    const who = `task '${user.taskId}' of the vault ${user.vault}`;
    // The task that works in this checkout might take back or commit what lands, as if it were its own work.
    return { kind: 'failed', why: `${who} works in ${checkout.path}; land when it has ended` };
  }
  if (gitDir === null) return { kind: 'failed', why: `git cannot open ${checkout.path}` };
  const forward = { repository, git, path: checkout.path, gitDir, branch, from, to, patience };
  const why = await fastForward(forward);
  if (why?.kind !== 'failed' || (await commitOf(move)) === from) return why;
  return { kind: 'moved' };
}

/** Returns the git folder of a work tree whose rebase moves the branch when it ends; null if there is none. */
function rebaseOf({ commonDir }: Repository, branch: string): string | null {
  const linked = path.join(commonDir, 'worktrees');
  const gitDirs = [commonDir, ...namesIn(linked).map((name) => path.join(linked, name))];
  const notes = ['rebase-merge/head-name', 'rebase-merge/update-refs', 'rebase-apply/head-name'];
  const moves = (file: string): boolean =>
    tryReadText(file, MB)?.split('\n').includes(refOf(branch)) === true;
  return gitDirs.find((dir) => notes.some((note) => moves(path.join(dir, note)))) ?? null;
}

function commitOf({ repository, git, branch }: BranchMove): Promise<string | null> {
  return resolveCommit(gitAt(git, repository.commonDir), refOf(branch));
}
