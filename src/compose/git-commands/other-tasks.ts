import { findGitAbove } from '../../effects/files/find-git-above.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';
import { listTasks } from '../../effects/state/task-list.ts';
import { startFolderOf } from './task-repository.ts';
import type { NamedTask } from './task-snapshots.ts';

/** How many of the most recently ended tasks are looked at. */
const ENDED_AT_MOST = 50;

/** Returns the ids of other tasks in a work tree since an instant: snapshots cannot tell their changes apart. */
export function otherTasksInTree(
  { state, paths }: NamedTask,
  root: string,
  since: string,
): readonly string[] {
  try {
    const { open, ended } = listTasks(paths.stateDir, ENDED_AT_MOST);
    return [...open, ...ended].flatMap(({ found, folder }) => {
      if (found.kind !== 'task') return [];
      const { task_id, updated_at, git, iterations } = found.state;
      if (task_id === state.task_id || updated_at < since || iterations.length === 0) return [];
      const stored = readStoredRun(folder);
      if (stored === null) return [];
      const cwd = git.work_tree?.path ?? startFolderOf(stored);
      return findGitAbove(cwd) === root ? [task_id] : [];
    });
  } catch {
    return [];
  }
}
