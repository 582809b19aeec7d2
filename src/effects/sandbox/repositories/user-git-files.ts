import path from 'node:path';
import { callGit } from '../../git/call/git-command.ts';
import { readSettings } from '../../git/listings.ts';
import { asText } from '../../git/tree-path.ts';

/** Settings of git that name a file or a folder which git reads, and nothing secret. */
const NAMES_A_PLACE =
  /^(?:core\.(?:excludesfile|attributesfile|hookspath)|commit\.template|init\.templatedir|blame\.ignorerevsfile|mailmap\.file|gpg\.ssh\.(?:allowedsignersfile|revocationfile)|include\.path|includeif\..+\.path)$/;

const FROM_FILE = 'file:';

/** Returns the files of the user's own settings of git, and what they name, which need not exist. */
export async function userGitFiles(
  cwd: string,
  home: string,
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> {
  const args = ['config', '--list', '--show-scope', '--show-origin', '--includes', '-z'];
  const { output } = await callGit({ args, cwd, env, timeoutMs: 10_000 });
  const found: string[] = [];
  for (const { columns, name, value } of readSettings(asText(output), 2)) {
    const [scope, origin = ''] = columns;
    if (scope !== 'global' || !origin.startsWith(FROM_FILE)) continue;
    const file = path.resolve(cwd, origin.slice(FROM_FILE.length));
    found.push(file);
    if (value === '' || !NAMES_A_PLACE.test(name)) continue;
    const place = value.startsWith('~/') ? path.join(home, value.slice(2)) : value;
    // Git takes an included file relative to the one that includes it.
    found.push(path.resolve(path.dirname(file), place));
  }
  return [...new Set(found)];
}
