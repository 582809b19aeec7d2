import { askGit, type Git } from '../call/git.ts';
import type { GitAnswer } from '../call/git-command.ts';
import { asText } from '../tree-path.ts';

/*
 * Commits as the user would make them, with hooks and a signature. The `Git` has to call git as the user would.
 */

/** The outcome of a step in which git may run programs of the user's. */
export interface UsersStep {
  /** Null if git was not started, was killed, or took too long. */
  readonly exitCode: number | null;
  /** All that git and these programs said, for people. */
  readonly said: string;
}

/** Commits an index as it is. */
export async function commitIndex(git: Git, message: string): Promise<UsersStep> {
  const commit = () =>
    askGit(git, ['commit', '--quiet', '--cleanup=whitespace', '--file=-'], { input: message });
  const first = await commit();
  // A `git gc` has just removed the empty folder in which git wanted to write. A second try makes the folder
  // again.
  const isGone = /unable to create temporary file: No such file/.test(first.complaint);
  return stepOf(isGone ? await commit() : first);
}

/** Makes and signs a commit to which no ref leads. */
export async function trySigning(git: Git, tree: string): Promise<UsersStep> {
  return stepOf(await askGit(git, ['commit-tree', '-S', '-m', 'Can ralph sign?', tree]));
}

/** Whether git has a command that runs a hook (since 2.36). */
export async function runsHooks(git: Git): Promise<boolean> {
  return (await askGit(git, ['hook', 'run', '--ignore-missing', 'ralph-asks'])).exitCode === 0;
}

/** Runs the `commit-msg` hook on a file that holds a message. */
export async function checkMessage(git: Git, file: string): Promise<UsersStep> {
  return stepOf(await askGit(git, ['hook', 'run', '--ignore-missing', 'commit-msg', '--', file]));
}

function stepOf({ exitCode, output, complaint }: GitAnswer): UsersStep {
  return { exitCode, said: asText(`${output}${complaint}`).trim() };
}
