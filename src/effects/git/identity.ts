import { askGit, type Git } from './call/git.ts';
import type { GitSetting } from './call/git-program.ts';
import { type ListedSettings, settingOf } from './listed-settings.ts';

/** The variables by which git may be told who commits, and the settings that say the same. */
const VARIABLES = {
  GIT_AUTHOR_NAME: 'author.name',
  GIT_AUTHOR_EMAIL: 'author.email',
  GIT_COMMITTER_NAME: 'committer.name',
  GIT_COMMITTER_EMAIL: 'committer.email',
} as const;

/** Without this setting, git would make up an address from the names of the user and the machine. */
const AS_CONFIGURED: GitSetting = { name: 'user.useConfigOnly', value: 'true' };

/** Returns settings by which git commits as the user. They replace the variables above, which git does not get. */
export function gitIdentity(env: NodeJS.ProcessEnv): readonly GitSetting[] {
  const named = Object.entries(VARIABLES).flatMap(([variable, name]) => {
    const value = env[variable];
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
  return [AS_CONFIGURED, ...named];
}

/** The author of commits that people never see. */
export const RALPH: readonly GitSetting[] = [
  { name: 'user.name', value: 'ralph' },
  { name: 'user.email', value: 'ralph@localhost' },
];

/** Says that nothing can be committed in the user's name; `who` is the command or setting that asks for the commit. */
export function unknownAuthor(who: string): string {
  return `${who} commits in your name, and git knows none: git config --global user.name "NAME" and git config --global user.email ADDRESS set it.`;
}

/** Whether settings hold the user's name and address, and no other author or committer; if so, `isKnown` is true. */
export function namesUser(settings: ListedSettings): boolean {
  if (Object.values(VARIABLES).some((name) => settingOf(settings, name) !== null)) return false;
  return ['user.name', 'user.email'].every((name) => settingOf(settings, name)?.trim());
}

/** Whether git knows both author and committer, and makes neither up. `git` must be the one that will commit. */
export async function isKnown(git: Git): Promise<boolean> {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { exitCode } = await askGit(git, ['-c', 'user.useConfigOnly=true', 'var', who]);
    if (exitCode !== 0) return false;
  }
  return true;
}
