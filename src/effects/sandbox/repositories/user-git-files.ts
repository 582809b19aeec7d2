import path from 'node:path';
import { callGit } from '../../git/git-command.ts';
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
  const parts = asText(output).split('\0');
  const found: string[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope, origin = '', setting = ''] = parts.slice(at, at + 3);
    if (scope !== 'global' || !origin.startsWith(FROM_FILE)) continue;
    const file = path.resolve(cwd, origin.slice(FROM_FILE.length));
    found.push(file);
    const end = setting.indexOf('\n');
    const value = setting.slice(end + 1);
    if (end === -1 || value === '' || !NAMES_A_PLACE.test(setting.slice(0, end))) continue;
    const place = value.startsWith('~/') ? path.join(home, value.slice(2)) : value;
    // Git takes an included file relative to the one that includes it.
    found.push(path.resolve(path.dirname(file), place));
  }
  return [...new Set(found)];
}
