import { userInfo } from 'node:os';
import path from 'node:path';
import { ifPossible } from './if-possible.ts';

/**
 * Returns this user's home folder, from `HOME` or the system's list of users; null if neither has
 * it, as for some users of containers. Ignores a relative `HOME`, because it would mean another
 * folder at each start. Never throws.
 */
export function homeFolder(env: NodeJS.ProcessEnv): string | null {
  const { HOME: home = '' } = env;
  if (path.isAbsolute(home)) return home;
  const homedir = ifPossible(() => userInfo().homedir);
  return homedir !== null && path.isAbsolute(homedir) ? homedir : null;
}

/** Returns this user's name in the system's list of users; null if it is not there, as for some users of containers. */
export function systemUser(): string | null {
  return ifPossible(() => userInfo().username);
}
