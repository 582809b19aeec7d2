import type { GitAnswer, GitExtras } from './git-command.ts';

/** What one call adds to its `Git`, or replaces in it. */
export interface CallExtras extends GitExtras {
  /** Replaces the time limit of the `Git`. */
  readonly timeoutMs?: number;
  /** Replaces the folder of the `Git`. */
  readonly cwd?: string;
  /** Where git finds its repository, index and objects. */
  readonly places?: Readonly<Record<`GIT_${string}`, string>>;
  /** Receives standard output piece by piece, however long it is; the answer then has none. */
  readonly onOutput?: (chunk: Buffer) => void;
}

type Call = (args: readonly string[], extras: CallExtras) => Promise<GitAnswer>;

const CALL = Symbol('call of git');

/** Git in one folder, with its environment and limits. Any code may hold it; only code in `effects/git` calls it. */
export interface Git {
  readonly [CALL]: Call;
}

/** Returns a `Git` whose calls are made by this function. */
export function makeGit(call: Call): Git {
  return { [CALL]: call };
}

/** Calls git. The extras override what the `Git` already has. */
export function askGit(
  git: Git,
  args: readonly string[],
  extras: CallExtras = {},
): Promise<GitAnswer> {
  return git[CALL](args, extras);
}
