import type { TaskState } from '../../core/task/task-state.ts';
import { isBranch } from '../../effects/branches/checkout.ts';
import { shortName } from '../../effects/branches/commit/own-branch.ts';
import { type Git, gitAt } from '../../effects/git/git.ts';
import { commitsOfTask } from '../../effects/git/questions/history.ts';
import { refNames } from '../../effects/git/questions/refs.ts';
import { type Repository, refOf } from '../../effects/git/repository.ts';
import { UsageError } from '../../errors.ts';
import { firstRepository, startFolderOf } from './task-repository.ts';
import type { TaskToLand } from './task-to-land.ts';

/** The branch of a task, and the branch to which its work is brought ("lands"). */
export interface LandPlace {
  readonly repository: Repository;
  readonly branch: string;
  readonly onto: string;
}

/** Finds the repository, the task's branch and the one onto which it lands. Rejects with a `UsageError`. */
export async function placeOf(task: TaskToLand, git: Git): Promise<LandPlace> {
  const { state, stored } = task;
  const { task_id: taskId } = state;
  const tree = state.git.work_tree;
  const folders = tree === null ? [startFolderOf(stored)] : [tree.origin, tree.path];
  const opened = await firstRepository(folders, git);
  if (opened.kind === 'none') {
    throw new UsageError([
      `ralph land expects a task that worked in a git repository; found none in ${folders[0]}.`,
    ]);
  }
  const { repository } = opened;
  const branch = tree?.branch ?? (await ownBranch(state, repository, git));
  if (branch === null) {
    throw new UsageError([
      `ralph land expects a task with a branch of its own; ${taskId} worked in your own work tree and its changes are there: commit them yourself, or start the next task with --worktree.`,
    ]);
  }
  const onto = task.onto ?? tree?.onto ?? null;
  if (onto === null) {
    throw new UsageError([
      `ralph land expects --onto BRANCH, since ${taskId} did not begin at a branch.`,
    ]);
  }
  if (onto === branch) {
    throw new UsageError([`--onto expects another branch than ${branch}, the task's own.`]);
  }
  if (!(await isBranch({ repository, git }, onto))) {
    throw new UsageError([
      task.onto === null
        ? `ralph land expects --onto BRANCH, since ${onto}, the branch at which ${taskId} began, is gone.`
        : `--onto expects a branch; there is none called '${onto}'.`,
    ]);
  }
  return { repository, branch, onto };
}

/**
 * Returns the branch that `--commit` made for a task without its own work tree; null if there is none. An earlier task
 * of the same id may have left a branch, too, so the returned one has commits since this task began.
 */
async function ownBranch(
  { task_id, git_base, started_at }: TaskState,
  repository: Repository,
  git: Git,
): Promise<string | null> {
  const ids = new Set([task_id, task_id.replaceAll('.', '%2E')]);
  const patterns = ['ralph/', 'ralph-'].flatMap((start) =>
    [...ids].flatMap((id) => [refOf(`${start}${id}`), refOf(`${start}${id}-*`)]),
  );
  const here = gitAt(git, repository.commonDir);
  const since = Math.floor(Date.parse(started_at) / 1000);
  const others = git_base === null ? [] : [git_base];
  for (const ref of await refNames(here, patterns)) {
    const commits = await commitsOfTask(here, task_id, ref, { others, since });
    if (commits.length > 0) return shortName(ref);
  }
  return null;
}
