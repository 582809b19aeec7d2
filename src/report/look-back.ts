import type { TaskGit } from '../core/task/task-state.ts';
import { type TaskPlace, taskCommand } from './resume-command.ts';

/** The shell commands for a task's changes. */
export interface LookBack {
  readonly diff: string;
  readonly undo: string;
}

/** A branch of a task's own, and the shell command that lands it. */
export interface OwnBranch {
  readonly branch: string;
  readonly land: string;
  /** The branch on which it lands; null if a person has to name one. */
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

/** Says on one line what the commands do; `code` marks a command. */
export function lookBackText({ diff, undo }: LookBack, code = asIs): string {
  return `${code(diff)}; ${code(undo)} takes back the last iteration`;
}

/** Says on one line how the branch is landed; `code` marks a command or a name. */
export function ownBranchText({ branch, land, onto }: OwnBranch, code = asIs): string {
  return `${code(branch)}; ${code(land)} lands it${onto === null ? '' : ` on ${code(onto)}`}`;
}

function asIs(text: string): string {
  return text;
}
