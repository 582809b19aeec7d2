import { findGitAbove } from '../files/find-git-above.ts';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import { gitIn } from './git.ts';

/** Returns the version of git; null if git cannot be started. */
export async function gitVersion(git: Git): Promise<string | null> {
  const { output } = await askGit(git, ['--version']);
  return /\d+\.\d+(?:\.\d+)*/.exec(output)?.[0] ?? null;
}

const TIMEOUT_MS = 10_000;

/** Asks git about a folder. `refused`: git does not open the `.git` there, for example because another user owns it. */
export async function probeGit(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<'work-tree' | 'no-work-tree' | 'refused' | 'no-git'> {
  const git = gitIn(cwd, { env, timeoutMs: TIMEOUT_MS, signal });
  if ((await gitVersion(git)) === null) return 'no-git';
  const answer = outputOrNull(await askGit(git, ['rev-parse', '--is-inside-work-tree']));
  if (answer?.trim() === 'true') return 'work-tree';
  return answer === null && findGitAbove(cwd) !== null ? 'refused' : 'no-work-tree';
}
