import path from 'node:path';
import { realPath } from '../../effects/files/real-path.ts';
import { callGit } from '../../effects/workspace/git-command.ts';

export interface TickToCommit {
  /** Absolute path of the list. */
  readonly file: string;
  /** Its name, which the branch has where none may be committed to. */
  readonly list: string;
  readonly message: string;
  /** The branches that `--protect-branch` names. */
  readonly protect: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const COMMIT_MS = 60_000;

/**
 * Commits the list alone. Runs no hook: the commits of the item have run them, and an agent may have written new
 * ones since. Resolves to why it was not committed, or to null.
 */
export async function commitTick(tick: TickToCommit): Promise<string | null> {
  const { file, list, message, protect, env, signal } = tick;
  const cwd = realPath(path.dirname(file));
  const git = (...args: readonly string[]) =>
    callGit({
      args: ['-c', 'core.hooksPath=/dev/null', ...args],
      ...{ cwd, env, signal, timeoutMs: COMMIT_MS, asUser: true },
    });
  const head = await git('symbolic-ref', '--quiet', '--short', 'HEAD');
  const branch = head.exitCode === 0 ? head.output.trim() : null;
  const isProtected = (protect.length > 0 ? protect : ['main', 'master']).includes(branch ?? '');
  if (branch === null || isProtected) {
    const made = await git('checkout', '--quiet', '-b', `ralph/${list}`);
    if (made.exitCode !== 0) return `git makes no branch ralph/${list}: ${lastLine(made)}`;
  }
  const name = path.basename(file);
  const answer = await git('commit', '--quiet', '--only', '-m', message, '--', name);
  return answer.exitCode === 0 ? null : lastLine(answer);
}

function lastLine({ complaint }: { readonly complaint: string }): string {
  return complaint.trim().split('\n').at(-1) ?? 'git gives no reason';
}
