import { onlyOfTask } from '../../../core/snapshots/commit-message.ts';
import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { GitError, outputOf } from '../git-error.ts';
import { readNames } from '../listings.ts';
import type { TreePath } from '../tree-path.ts';

/** Whether a commit is the commit `of`, or one of its ancestors. */
export async function isAncestor(git: Git, commit: string, of: string): Promise<boolean> {
  return (await askGit(git, ['merge-base', '--is-ancestor', commit, of])).exitCode === 0;
}

/** Counts the commits in the history of `tips` but not of `without`. Ignores missing tips. Null if git fails. */
export async function countCommits(
  git: Git,
  tips: Iterable<string>,
  without: Iterable<string>,
): Promise<number | null> {
  // A command line can be too short for all refs.
  const input = [...tips, ...[...without].map((tip) => `^${tip}`), ''].join('\n');
  const args = ['rev-list', '--count', '--ignore-missing', '--stdin'];
  const output = outputOrNull(await askGit(git, args, { input }));
  return output === null ? null : Number.parseInt(output, 10);
}

/** The two ends of a part of the history; a `from` of null is the time before the first commit. */
export interface CommitRange {
  readonly from: string | null;
  readonly to: string;
}

/** Whether the messages of all commits after `from`, up to `to`, name the task. Rejects with a `GitError`. */
export async function areAllOfTask(
  git: Git,
  taskId: string,
  { from, to }: CommitRange,
): Promise<boolean> {
  // Unlike git log, git rev-list checks no signatures, for which it would start a program of the configuration.
  const others = ['rev-list', '-n', '1', '--invert-grep', ...onlyOfTask(taskId), to];
  const listed = await askGit(git, [...others, ...(from === null ? [] : ['--not', from]), '--']);
  return outputOf(listed, 'git cannot list the commits since the task began') === '';
}

/** Whether two commits have the same files and the same parents, and both name this task. Their times may differ. */
export async function isSameWork(
  git: Git,
  taskId: string,
  [one, other]: readonly [string, string],
): Promise<boolean> {
  const format = '--format=%T %P%n%(trailers:key=Ralph-Task,valueonly)';
  const args = ['log', '--no-walk=unsorted', '-z', format, one, other];
  const { exitCode, output } = await askGit(git, args);
  const [ours, theirs] = output.split('\0').map((text) => text.trim());
  return exitCode === 0 && ours === theirs && ours?.split('\n')[1] === taskId;
}

/** Returns a newest common ancestor of two commits; null if there is none, or git fails. */
export async function mergeBase(git: Git, one: string, other: string): Promise<string | null> {
  return outputOrNull(await askGit(git, ['merge-base', one, other]))?.trim() ?? null;
}

/** Whether two commits have no history in common, as far as this repository has it. */
export async function areUnrelated(git: Git, one: string, other: string): Promise<boolean> {
  return (await askGit(git, ['merge-base', one, other])).exitCode === 1;
}

/** Whether the repository lacks a part of its history. Rejects with a `GitError`. */
export async function isShallow(git: Git): Promise<boolean> {
  return outputOf(await askGit(git, ['rev-parse', '--is-shallow-repository'])) === 'true';
}

/** Lists the task's commits that `branch` has and `others` do not, made since a time (in s); none if git fails. */
export async function commitsOfTask(
  git: Git,
  taskId: string,
  branch: string,
  { others, since }: { readonly others: readonly string[]; readonly since?: number },
): Promise<readonly string[]> {
  const recent = since === undefined ? [] : [`--since=${since}`];
  const args = ['rev-list', ...recent, ...onlyOfTask(taskId), branch, '--not', ...others, '--'];
  return outputOrNull(await askGit(git, args))?.match(/^.+$/gm) ?? [];
}

/** Returns a task's newest commit on the line of first parents after `from`; null if there is none, or git fails. */
export async function newestOfTask(
  git: Git,
  taskId: string,
  { from, to }: CommitRange,
): Promise<string | null> {
  const format = '--format=%H %(trailers:key=Ralph-Task,valueonly,separator=%x20)';
  const ends = [to, ...(from === null ? [] : ['--not', from]), '--'];
  const listed = outputOrNull(await askGit(git, ['log', '--first-parent', format, ...ends]));
  const lines = listed?.split('\n').map((line) => line.split(' '));
  return lines?.find(([, ...ids]) => ids.includes(taskId))?.[0] ?? null;
}

/** Returns the paths that the commits of a task between two others changed. Rejects with a `GitError`. */
export async function pathsOfTask(
  git: Git,
  taskId: string,
  { from, to }: CommitRange,
): Promise<readonly TreePath[]> {
  const how = ['log', '-z', '--format=', '--name-only', '--no-renames', ...onlyOfTask(taskId)];
  const listed = outputOrNull(await askGit(git, [...how, `${from}..${to}`, '--']));
  if (listed === null) throw new GitError('git cannot list what was committed since');
  return readNames(listed);
}

/** Arguments that select the commits lost with a folder: a ref before `--not` leads to them, but no ref after it. */
const UNKEPT = {
  /** For a repository that is removed with all its refs. */
  repository: ['--all', '--not', '--remotes'],
  /** For a submodule that is removed with all its refs, and whose HEAD may be detached. */
  submodule: ['HEAD', '--all', '--not', '--remotes'],
  /** For a linked work tree: its HEAD is removed, and the refs of the repository stay. */
  'work tree': ['HEAD', '--not', '--branches', '--tags', '--remotes'],
} as const;

/** Counts the commits that would be lost with a repository or work tree; null if git cannot say. */
export async function countUnkept(git: Git, what: keyof typeof UNKEPT): Promise<number | null> {
  const output = outputOrNull(await askGit(git, ['rev-list', '--count', ...UNKEPT[what]]));
  return output === null ? null : Number.parseInt(output, 10);
}
