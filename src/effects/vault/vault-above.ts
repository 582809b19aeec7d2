import { lstatSync } from 'node:fs';
import path from 'node:path';
import { findGitAbove } from '../files/find-git-above.ts';
import { realPath } from '../files/real-path.ts';
import { upward } from '../files/upward.ts';
import { openTaskIds } from '../state/task-folder.ts';
import { distrust } from '../trust/owner.ts';

const STATE_FOLDER = '.ralph_state';

/**
 * Returns the vault, a folder for tasks, if the user names none. In a git work tree, it is the nearest folder, from
 * `here` up to the root of the work tree, with a state folder of this user; if there is none, it is `here`. Outside of
 * git, it is always `here`: a run in `~/work/new` must not use `~/work`.
 */
export function vaultAbove(here: string): string {
  const root = findGitAbove(here);
  if (root === null || hasState(here)) return here;
  return above(here).find((folder) => isIn(folder, root) && hasState(folder)) ?? here;
}

/** Returns the nearest folder above a vault that has open tasks of this user; null if there is none. */
export function tasksAbove(vault: string): string | null {
  const hasTasks = (folder: string): boolean =>
    hasState(folder) && openTaskIds(path.join(folder, STATE_FOLDER)).length > 0;
  return above(vault).find(hasTasks) ?? null;
}

function above(folder: string): readonly string[] {
  return upward(realPath(folder)).slice(1);
}

function isIn(folder: string, root: string): boolean {
  return folder === root || folder.startsWith(`${root}${path.sep}`);
}

/** Whether a folder has a state folder that only this user can have written. */
function hasState(folder: string): boolean {
  const stats = lstatSync(path.join(folder, STATE_FOLDER), { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return false;
  return stats.uid === process.getuid?.() && distrust(stats) === null;
}
