import { userInfo } from 'node:os';
import path from 'node:path';

/**
 * Returns this user's home folder, from `HOME` or the system's list of users; null if neither has
 * it, as for some users of containers. Ignores a relative `HOME`, because it would mean another
 * folder at each start. Never throws.
 */
export function homeFolder(env: NodeJS.ProcessEnv): string | null {
  const { HOME: home = '' } = env;
  if (path.isAbsolute(home)) return home;
  try {
    const { homedir } = userInfo();
    return path.isAbsolute(homedir) ? homedir : null;
  } catch {
    return null;
  }
}

/**
 * Returns this user's name in the system's list of users; null if the user has no entry there, as some users of
 * containers.
 */
export function systemUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
