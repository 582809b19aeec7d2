import type { GitAnswer, GitExtras } from './git-command.ts';

/** What one call adds to what git has in its place. */
export interface CallExtras extends GitExtras {
  /** Another limit than git's own. */
  readonly timeoutMs?: number;
  /** Another folder than git's own. */
  readonly cwd?: string;
  /** Where git finds its repository, index and objects. */
  readonly places?: Readonly<Record<`GIT_${string}`, string>>;
  /** Takes standard output piece by piece, however long it is; the answer then has none. */
  readonly onOutput?: (chunk: Buffer) => void;
}

type Call = (args: readonly string[], extras: CallExtras) => Promise<GitAnswer>;

const CALL = Symbol('call of git');

/**
 * Git in one place, with its environment and its limits. Everybody may hold it and hand it on; only the questions of
 * `effects/git` know what to say to it.
 */
export interface Git {
  readonly [CALL]: Call;
}

/** Returns git that is called in this way. */
export function makeGit(call: Call): Git {
  return { [CALL]: call };
}

/** Calls git. What the call adds wins over what git has already. */
export function askGit(
  git: Git,
  args: readonly string[],
  extras: CallExtras = {},
): Promise<GitAnswer> {
  return git[CALL](args, extras);
}
