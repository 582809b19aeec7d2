import { userInfo } from 'node:os';
import path from 'node:path';

/**
 * The home folder of this user, by `HOME` or else by the system's list of users. Null where neither tells
 * it: a container may run as a user that is on no list. A `HOME` that is not absolute would be another
 * folder at each start, and means nothing. Never throws.
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
