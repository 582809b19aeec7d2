import path from 'node:path';
import type { Settlement } from '../../../core/snapshots/settlement.ts';
import { firstFew, oneLine } from '../../../core/text/untrusted-text.ts';
import { withIndex, withTimeout } from '../../git/git.ts';
import { isKnown, namesUser } from '../../git/identity.ts';
import { type ListedSettings, listSettings, settingOf } from '../../git/listed-settings.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import {
  checkMessage,
  runsHooks,
  trySigning,
  type UsersStep,
} from '../../git/questions/commits.ts';
import { writeTree } from '../../git/questions/index-files.ts';
import { settingNow } from '../../git/questions/settings.ts';
import { underWayIn } from '../../git/under-way.ts';
import type { CommitRequest } from './commit-request.ts';
import { changedSetup, readGitSetup } from './git-setup.ts';

/** Lists git's settings as they apply to the commit; null if git cannot list them. */
export function settingsOfCommit({ asUser }: CommitRequest): Promise<ListedSettings | null> {
  return listSettings(asUser);
}

/** Returns why nothing may be committed, as a clause; null if there is no reason. */
export async function whyNotCommitted(
  { git, setup, asUser }: CommitRequest,
  settings: ListedSettings | null,
): Promise<string | null> {
  const [operation] = underWayIn(git.repository.gitDir);
  if (operation !== undefined) return `a ${operation} is under way`;
  const now = settings === null ? null : await readGitSetup(git.repository, asUser, settings);
  if (now === null) return 'git cannot tell its configuration';
  const changed = changedSetup(setup, now);
  if (changed.length === 0) return null;
  return `the task began with another state of ${firstFew(changed, (name) => oneLine(name, 200))}`;
}

/** Returns a refusal if no author is configured, since git would make one up from the names of user and machine. */
export async function identityProblem(
  { asUser }: CommitRequest,
  settings: ListedSettings | null,
): Promise<Settlement | null> {
  if ((settings !== null && namesUser(settings)) || (await isKnown(asUser))) return null;
  return { kind: 'not-committed', why: 'git knows no author (user.name and user.email)' };
}

/** How long signing may take, in ms. Nobody may be at the terminal to type a passphrase. */
const SIGNING_MS = 30_000;

/** Returns a refusal if git has to sign and cannot. A trial commit shows this before any hook runs. */
export async function signingProblem(
  { git, asUser, withPrograms }: CommitRequest,
  index: string,
  settings: ListedSettings | null,
): Promise<Settlement | null> {
  if (settings !== null && settingOf(settings, 'commit.gpgsign') === null) return null;
  if ((await settingNow(asUser, 'commit.gpgSign', 'bool')) !== 'true') return null;
  const tree = await writeTree(withIndex(git.users, index), { why: 'git cannot write a tree' });
  const { exitCode, said } = await trySigning(withTimeout(withPrograms, SIGNING_MS), tree);
  if (exitCode === 0) return null;
  const why =
    exitCode === null
      ? 'it took more than 30 s'
      : oneLine(said, 300) || `git ended with ${exitCode}`;
  return { kind: 'not-committed', why: `the commit cannot be signed: ${why}` };
}

/** Returns the file to which git writes the message before it runs the hooks that check the message. */
export function messageFile({ repository }: PrivateGit): string {
  return path.join(repository.gitDir, 'COMMIT_EDITMSG');
}

/**
 * Returns a refusal if the `commit-msg` hook rejects the message; null if something else stopped the commit, or git
 * (before 2.36) cannot tell. The message is not the agent's, so the agent could help only by changing the hook.
 */
export async function subjectRefused(
  { git, asUser, withPrograms }: CommitRequest,
  answer: UsersStep,
  message: string,
  index: string,
): Promise<Settlement | null> {
  if (answer.exitCode === null) return null;
  if (!(await runsHooks(asUser))) return null;
  const { exitCode } = await checkMessage(withIndex(withPrograms, index), messageFile(git));
  if (exitCode === 0 || exitCode === null) return null;
  const [subject = ''] = message.split('\n');
  const said = oneLine(answer.said, 300);
  const why = `the commit-msg hook refuses the subject "${oneLine(subject, 200)}"${said === '' ? '' : ` (${said})`}; --commit-message "chore: {task} {iteration}" gives another one`;
  return { kind: 'not-committed', why };
}

/** Returns the outcome of a commit that git did not make. */
export function refused({ exitCode, said }: UsersStep): Settlement {
  const why =
    exitCode === null
      ? 'git commit was killed or took too long'
      : `git commit ended with ${exitCode}${said === '' ? '' : `: ${oneLine(said, 300)}`}`;
  return { kind: 'refused', why, output: said };
}
