import type { IndexBehind, Uncommitted } from '../core/snapshots/settlement.ts';
import type { TaskGit } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { shellQuote } from '../printed-command.ts';
import { plural } from './format.ts';

/** Says what `--commit` could not commit, and why. */
export function uncommittedText({ reason, files }: Uncommitted): string {
  const what = files === null ? 'what the task changed last' : plural(files, 'file');
  return `${what} not committed: ${oneLine(reason, 500)}`;
}

/** Says that git's index lacks commits of the task, and which command updates it once its lock is gone. */
export function indexBehindText({ why, root, paths }: IndexBehind): string {
  // Git must not read a file name as a pattern.
  const literally = paths.some((name) => /^:|[*?[\\]/.test(name)) ? ['--literal-pathspecs'] : [];
  const words = ['git', '-C', shellQuote(root), ...literally, 'reset', '-q', '--'];
  const command = [...words, ...paths.map(shellQuote)].join(' ');
  return `locked, so git status shows commits of this task as taken back: ${why}; then ${command} brings it up to date`;
}

/** Names the branches with a task's commits; null for none, and for one unless the task has another one of its own. */
export function branchesText({ branches = [], work_tree }: TaskGit): string | null {
  const [first = ''] = branches;
  const isElsewhere = work_tree !== null && first !== '' && first !== work_tree.branch;
  if (branches.length < 2 && !isElsewhere) return null;
  return `on ${branches.map((name) => oneLine(name, 200)).join(', ')}`;
}
