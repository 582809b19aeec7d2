import { askGit, type Git } from '../call/git.ts';
import type { GitAnswer } from '../call/git-command.ts';
import { asText } from '../tree-path.ts';

/*
 * Commits as the user would make them, with hooks and a signature. The git is the user's.
 */

/** What became of a step in which programs of the user's may run. */
export interface UsersStep {
  /** Null if it was not started, was killed, or took too long. */
  readonly exitCode: number | null;
  /** All that git and these programs said, for people. */
  readonly said: string;
}

/** Commits an index as it is. */
export async function commitIndex(git: Git, message: string): Promise<UsersStep> {
  const commit = () =>
    askGit(git, ['commit', '--quiet', '--cleanup=whitespace', '--file=-'], { input: message });
  const first = await commit();
  // A `git gc` has just removed the empty folder in which git wanted to write: that passes.
  const isGone = /unable to create temporary file: No such file/.test(first.complaint);
  return stepOf(isGone ? await commit() : first);
}

/** Makes and signs a commit to which no ref leads. */
export async function trySigning(git: Git, tree: string): Promise<UsersStep> {
  return stepOf(await askGit(git, ['commit-tree', '-S', '-m', 'Can ralph sign?', tree]));
}

/** Whether git can run a hook by itself (since 2.36). */
export async function runsHooks(git: Git): Promise<boolean> {
  return (await askGit(git, ['hook', 'run', '--ignore-missing', 'ralph-asks'])).exitCode === 0;
}

/** Runs the hook for the message of a commit on a file. */
export async function checkMessage(git: Git, file: string): Promise<UsersStep> {
  return stepOf(await askGit(git, ['hook', 'run', '--ignore-missing', 'commit-msg', '--', file]));
}

function stepOf({ exitCode, output, complaint }: GitAnswer): UsersStep {
  return { exitCode, said: asText(`${output}${complaint}`).trim() };
}
