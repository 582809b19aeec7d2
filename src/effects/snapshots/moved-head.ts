import type { Timeline } from '../../core/snapshots/timeline.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { areAllOfTask, isAncestor } from '../git/questions/history.ts';
import type { Head } from '../git/repository.ts';
import type { HeadMove } from './move-head.ts';
import { readSnapshot } from './read-snapshot.ts';

/**
 * Whether HEAD, or the branch that it is to go back to, may have been moved by somebody else since the task's first
 * snapshot. What moved within an iteration is the agent's; between iterations only commits that name the task are its
 * own. Rejects with a `GitError`.
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

/** Whether a task has got from one place of HEAD to another one by its own commits alone. */
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
