import { findGitAbove } from '../files/find-git-above.ts';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import { gitIn } from './git.ts';

/** What git reports about a folder. */
export type GitProbe =
  | { readonly kind: 'work-tree' }
  | { readonly kind: 'no-work-tree' }
  /** There is a `.git`, but git does not open it, for example because another user owns it. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'no-git' };

/** Returns the version of git; null if git cannot be started. */
export async function gitVersion(git: Git): Promise<string | null> {
  const { output } = await askGit(git, ['--version']);
  return /\d+\.\d+(?:\.\d+)*/.exec(output)?.[0] ?? null;
}

const TIMEOUT_MS = 10_000;

export async function probeGit(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<GitProbe> {
  const git = gitIn(cwd, { env, timeoutMs: TIMEOUT_MS, signal });
  if (outputOrNull(await askGit(git, ['--version'])) === null) return { kind: 'no-git' };
  const answer = outputOrNull(await askGit(git, ['rev-parse', '--is-inside-work-tree']));
  if (answer?.trim() === 'true') return { kind: 'work-tree' };
  return { kind: answer === null && findGitAbove(cwd) !== null ? 'refused' : 'no-work-tree' };
}
