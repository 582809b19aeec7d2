import { ask, type CallExtras, type Git, makeGit } from './call/git.ts';
import { type AskGit, callGit, type GitCommand } from './call/git-command.ts';
import type { GitSetting } from './call/git-program.ts';

export type { Git } from './call/git.ts';
export type { GitSetting } from './call/git-program.ts';

/** How git is called in a place. */
export type GitRequest = Omit<GitCommand, 'args' | 'cwd' | 'onOutput' | keyof CallExtras>;

/** Returns git in a folder. */
export function gitIn(folder: string, request: GitRequest): Git {
  return makeGit((args, extras) => callGit({ ...request, cwd: folder, ...extras, args }));
}

/** Returns the same git in another folder. */
export function gitAt(git: Git, folder: string): Git {
  return makeGit((args, extras) => ask(git, args, { cwd: folder, ...extras }));
}

/** Returns the same git with further settings, which override all others. */
export function withSettings(git: Git, settings: readonly GitSetting[]): Git {
  return makeGit((args, extras) =>
    ask(git, args, { ...extras, settings: [...settings, ...(extras.settings ?? [])] }),
  );
}

/** Returns git that asks in this way, in a folder. */
export function gitOf(call: AskGit, folder: string): Git {
  return makeGit((args, { cwd = folder, ...extras }) => call(cwd, args, extras));
}
