import { existsSync } from 'node:fs';
import path from 'node:path';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import type { Git } from '../../effects/git/git.ts';
import { type Opened, openRepository } from '../../effects/git/open-repository.ts';
import { readStoredRun } from '../../effects/plan/stored-settings.ts';

/** Returns the absolute path of the folder in which the task was started, or that `--cwd` named. */
export function startFolderOf({
  startDir,
  settings,
}: Pick<StoredRun, 'startDir' | 'settings'>): string {
  return path.resolve(startDir, settings.cwd ?? '.');
}

/** Returns the folders in which the repository of a task may be found, its own work tree first. */
export function foldersOfTask({ git }: TaskState, folder: string): readonly string[] {
  const tree = git.work_tree;
  if (tree !== null) return [tree.path, tree.origin].filter((place) => existsSync(place));
  const stored = readStoredRun(folder);
  return stored === null ? [] : [startFolderOf(stored)];
}

/** Opens the first repository that is found in one of the folders, or says why there is none. */
export async function firstRepository(folders: readonly string[], git: Git): Promise<Opened> {
  let opened: Opened = { kind: 'none', why: 'its folder is gone' };
  for (const folder of folders) {
    opened = await openRepository(folder, git);
    if (opened.kind === 'repository') return opened;
  }
  return opened;
}
