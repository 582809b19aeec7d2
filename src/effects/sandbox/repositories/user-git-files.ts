import path from 'node:path';
import { gitIn } from '../../git/git.ts';
import { usersSettings } from '../../git/questions/settings.ts';

/** Settings of git that name a file or folder that git reads and that holds no secret. */
const NAMES_A_PLACE =
  /^(?:core\.(?:excludesfile|attributesfile|hookspath)|commit\.template|init\.templatedir|blame\.ignorerevsfile|mailmap\.file|gpg\.ssh\.(?:allowedsignersfile|revocationfile)|include\.path|includeif\..+\.path)$/;

const FROM_FILE = 'file:';

/** Returns the user's own files of settings for git and the files that these name, which may be missing. */
export async function userGitFiles(
  cwd: string,
  home: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { origin, name, value } of await usersSettings(
    gitIn(cwd, { env, timeoutMs: 10_000 }),
  )) {
    if (!origin.startsWith(FROM_FILE)) continue;
    const file = path.resolve(cwd, origin.slice(FROM_FILE.length));
    found.push(file);
    if (value === '' || !NAMES_A_PLACE.test(name)) continue;
    const place = value.startsWith('~/') ? path.join(home, value.slice(2)) : value;
    // Git resolves the path of an included file relative to the file that includes it.
    found.push(path.resolve(path.dirname(file), place));
  }
  return [...new Set(found)];
}
