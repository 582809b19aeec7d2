import { maskSecrets } from '../../core/secrets/secrets.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { findGitAbove } from '../files/find-git-above.ts';
import { askGit, type Git } from './call/git.ts';
import type { GitAnswer } from './call/git-command.ts';
import { gitIn } from './git.ts';
import { findPlaces, findRepository, type Places, type Repository } from './repository.ts';
import { asText } from './tree-path.ts';

export type Opened<Found = Repository> =
  | { readonly kind: 'repository'; readonly repository: Found }
  /** `why` is a clause: `there is none at /w or above it`. */
  | { readonly kind: 'none'; readonly why: string };

/** Limit for one git process. Writing the files of a large work tree takes long. */
const TIMEOUT_MS = 10 * 60_000;

/** Returns git in this environment, whose folder is still to be chosen. Aborting `signal` kills git at once. */
export function gitWith(env: NodeJS.ProcessEnv, runId?: string, signal?: AbortSignal): Git {
  return gitIn('/', { env, runId, signal, timeoutMs: TIMEOUT_MS });
}

/** Finds the repository whose work tree contains a folder, or says why there is none to work with. */
export function openRepository(cwd: string, git: Git): Promise<Opened> {
  return open(cwd, git, findRepository);
}

/** Finds only where the parts of the repository are, without its settings, or says why there is none to work with. */
export function openPlaces(cwd: string, git: Git): Promise<Opened<Places>> {
  return open(cwd, git, findPlaces);
}

async function open<Found>(
  cwd: string,
  git: Git,
  find: (cwd: string, git: Git) => Promise<Found | null>,
): Promise<Opened<Found>> {
  const place = findGitAbove(cwd);
  if (place === null) return { kind: 'none', why: `there is none at ${cwd} or above it` };
  const repository = await find(cwd, git);
  if (repository !== null) return { kind: 'repository', repository };
  const answer = await askGit(git, ['rev-parse', '--show-toplevel'], { cwd });
  return { kind: 'none', why: `git does not open the one at ${place}${reasonOf(answer)}` };
}

/** Returns git's reason in brackets, with the command that makes git trust the folder if git names one; '' for none. */
function reasonOf({ exitCode, complaint }: GitAnswer): string {
  if (exitCode === null) return ' (git was not found, or could not be started)';
  const said = asText(complaint);
  const line = /^fatal: (.+)$/m.exec(said)?.[1];
  if (line === undefined) return '';
  const remedy = /^\s*(git config --global --add safe\.directory .+)$/m.exec(said)?.[1];
  const reason = oneLine(maskSecrets(line), 300);
  return ` (${reason}${remedy === undefined ? '' : `; ${oneLine(remedy, 500)} allows it`})`;
}
