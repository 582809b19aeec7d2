import type { TaskGit } from '../core/task/task-state.ts';
import { type TaskPlace, taskCommand } from '../printed-command.ts';

/** The shell commands that show and undo a task's changes. */
export interface LookBack {
  readonly diff: string;
  readonly undo: string;
}

/** A task's own branch, and the shell command that merges ("lands") it into another. */
export interface OwnBranch {
  readonly branch: string;
  readonly land: string;
  /** The branch into which the task's branch is merged; null if a person has to name one. */
  readonly onto: string | null;
}

/** Returns the commands that show a task's changes and take them back; null without snapshots. */
export function lookBackOf({ snapshots }: TaskGit, place: TaskPlace): LookBack | null {
  if (snapshots === null) return null;
  return { diff: taskCommand('diff', place), undo: taskCommand('undo', place) };
}

/** Returns the branch of a task's own work tree; null if it has none, or if all commits went to other branches. */
export function ownBranchOf(
  { work_tree: tree, branches = [] }: TaskGit,
  place: TaskPlace,
): OwnBranch | null {
  if (tree === null) return null;
  if (branches.length > 0 && !branches.includes(tree.branch)) return null;
  const { branch, onto } = tree;
  const words = onto === null ? ['--onto', 'BRANCH'] : [];
  return { branch, onto, land: taskCommand('land', place, words) };
}

/** Names the task's own branch, and the branch on which it lands if that is known. */
export function ownBranchText({ branch, onto }: OwnBranch): string {
  return onto === null ? branch : `${branch}, which lands on ${onto}`;
}
