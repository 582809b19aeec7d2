import { askGit, type CallExtras, type Git, makeGit } from './call/git.ts';
import { callGit, type GitCommand } from './call/git-command.ts';
import type { GitSetting } from './call/git-program.ts';
import { subcommandOf } from './call/watched-calls.ts';

export type { Git } from './call/git.ts';
export type { GitSetting } from './call/git-program.ts';

/** What all calls of one `Git` have in common. */
export type GitRequest = Omit<
  GitCommand,
  'args' | 'cwd' | 'onOutput' | Exclude<keyof CallExtras, 'timeoutMs'>
>;

/** Returns git in a folder. */
export function gitIn(folder: string, request: GitRequest): Git {
  return makeGit((args, extras) => callGit({ ...request, cwd: folder, ...extras, args }));
}

/** Returns the same git in another folder. */
export function gitAt(git: Git, folder: string): Git {
  return makeGit((args, extras) => askGit(git, args, { cwd: folder, ...extras }));
}

/** Returns the same git with further settings, which override all others. */
export function withGitSettings(git: Git, settings: readonly GitSetting[]): Git {
  return makeGit((args, extras) =>
    askGit(git, args, { ...extras, settings: [...settings, ...(extras.settings ?? [])] }),
  );
}

/** Returns the same git with other places for its repository, index or objects, by git's environment variables. */
export function withPlaces(git: Git, places: Readonly<Record<`GIT_${string}`, string>>): Git {
  return makeGit((args, extras) =>
    askGit(git, args, { ...extras, places: { ...places, ...extras.places } }),
  );
}

/** Returns the same git with another index. */
export function withIndex(git: Git, index: string): Git {
  return withPlaces(git, { GIT_INDEX_FILE: index });
}

/** Returns the same git with another work tree. */
export function withTree(git: Git, folder: string): Git {
  return withPlaces(git, { GIT_WORK_TREE: folder });
}

/** Returns the same git, which also calls `unanswered` with each subcommand that took too long or seemed to hang. */
export function hearing(git: Git, unanswered: (command: string) => void): Git {
  return makeGit(async (args, extras) => {
    const answer = await askGit(git, args, extras);
    if (answer.isUnanswered === true) unanswered(subcommandOf(args));
    return answer;
  });
}

/** Returns the same git with another time limit. */
export function withTimeout(git: Git, timeoutMs: number): Git {
  return makeGit((args, extras) => askGit(git, args, { timeoutMs, ...extras }));
}

/** Returns the same git, which uses the repository `gitDir` without a search. `workTree` overrides `core.worktree`. */
export function onlyIn(git: Git, gitDir: string, workTree?: string): Git {
  const places = [
    `--git-dir=${gitDir}`,
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ];
  return makeGit((args, extras) => askGit(git, [...places, ...args], extras));
}
