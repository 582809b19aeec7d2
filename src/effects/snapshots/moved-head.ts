import type { Timeline } from '../../core/snapshots/timeline.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { areAllOfTask, isAncestor } from '../git/questions/history.ts';
import type { Head } from '../git/repository.ts';
import type { HeadMove } from './move-head.ts';
import { readSnapshot } from './read-snapshot.ts';

/**
 * Whether somebody else may have moved HEAD, or the branch that it is to go back to, since the task's first snapshot.
 * Moves within an iteration count as the agent's. Between iterations, only commits that name the task count as the
 * task's. Rejects with a `GitError`.
 */
export async function isMovedByOthers(
  git: PrivateGit,
  { snapshots }: Timeline,
  taskId: string,
  { to, now, tip }: HeadMove,
): Promise<boolean> {
  let earlier: Head | null = null;
  for (const { commit, branch, what } of snapshots) {
    const head: Head = { commit: (await readSnapshot(git, commit)).head, branch };
    const isAgents = what.kind === 'end';
    if (earlier !== null && !isAgents && !(await isOwnStep(git, taskId, earlier, head)))
      return true;
    earlier = head;
  }
  if (earlier === null || !(await isOwnStep(git, taskId, earlier, now))) return true;
  // The branch to go back to may have got commits while HEAD was on another one.
  const back: Head = { commit: tip, branch: to.branch };
  return (
    to.branch !== null && to.branch !== now.branch && !(await isOwnStep(git, taskId, to, back))
  );
}

/** Whether HEAD got from one place to the other only by commits of the task. */
async function isOwnStep(git: PrivateGit, taskId: string, from: Head, to: Head): Promise<boolean> {
  const isOwnBranch = /^refs\/heads\/ralph[/-]/.test(to.branch ?? '');
  if (from.branch !== to.branch && !isOwnBranch) return false;
  if (from.commit === to.commit) return true;
  if (to.commit === null) return false;
  if (from.commit !== null && !(await isAncestor(git.users, from.commit, to.commit))) {
    return false;
  }
  return areAllOfTask(git.users, taskId, { from: from.commit, to: to.commit });
}
