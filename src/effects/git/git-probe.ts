import { findGitAbove } from '../files/find-git-above.ts';
import { runGit } from './call/git-command.ts';

/** What git reports about a folder. */
export type GitProbe =
  | { readonly kind: 'work-tree' }
  | { readonly kind: 'no-work-tree' }
  /** There is a `.git`, but git does not open it, for example because another user owns it. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'no-git' };

const TIMEOUT_MS = 10_000;

export async function probeGit(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<GitProbe> {
  const ask = (...args: readonly string[]): Promise<string | null> =>
    runGit({ args, cwd, env, timeoutMs: TIMEOUT_MS, signal });
  if ((await ask('--version')) === null) return { kind: 'no-git' };
  const answer = await ask('rev-parse', '--is-inside-work-tree');
  if (answer?.trim() === 'true') return { kind: 'work-tree' };
  return { kind: answer === null && findGitAbove(cwd) !== null ? 'refused' : 'no-work-tree' };
}
