import type { GitAnswer } from '../../git/call/git-command.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { Head } from '../../git/repository.ts';
import { asText } from '../../git/tree-path.ts';
import type { CommitRequest } from './commit-request.ts';

/** Returns the branch to commit to, and whether it was made for that. */
export async function branchFor(
  { git, taskId, protect }: CommitRequest,
  head: Head,
): Promise<{ readonly branch: string | null; readonly newBranch: string | null }> {
  const { branch } = head;
  if (
    branch !== null &&
    !(await protectedBranches(git.onRepository, protect)).has(shortName(branch))
  ) {
    return { branch, newBranch: null };
  }
  const made = await enterOwnBranch(git, taskId, head);
  return { branch: made, newBranch: made };
}

/** Runs git on the repository of a task, outside of its work tree. */
type AskRepository = (args: readonly string[]) => Promise<GitAnswer>;

/** Returns the branches that ralph commits nothing to: those named, or the usual ones. */
export async function protectedBranches(
  ask: AskRepository,
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  if (named.length > 0) return new Set(named);
  const format = '--format=%(symref:lstrip=3)';
  const heads = await ask(['for-each-ref', format, 'refs/remotes/*/HEAD']);
  const ofRemotes = asText(heads.output).split('\n');
  return new Set(['main', 'master', ...ofRemotes.filter((name) => name !== '')]);
}

/** How often a name that is taken is counted up. */
const MOST_NAMES = 1_000;

/**
 * Makes a branch of the task's own where HEAD is, and puts HEAD on it. Touches neither index nor work
 * tree. Resolves to its name; null if git refuses.
 */
async function enterOwnBranch(
  git: PrivateGit,
  taskId: string,
  { commit }: Head,
): Promise<string | null> {
  const name = await makeOwnBranch(git.onRepository, taskId, commit);
  if (name === null) return null;
  const args = ['symbolic-ref', '-m', `ralph: work on ${taskId}`, 'HEAD', refOf(name)];
  return (await git.onRepository(args)).exitCode === 0 ? name : null;
}

/** Makes a branch that is named after a task or a list. Resolves to its name; null if git refuses. */
export async function makeOwnBranch(
  ask: AskRepository,
  taskId: string,
  commit: string | null,
): Promise<string | null> {
  for (const start of ['ralph/', 'ralph-']) {
    for (const id of new Set([taskId, taskId.replaceAll('.', '%2E')])) {
      for (let number = 1; number <= MOST_NAMES; number += 1) {
        const name = `${start}${id}${number === 1 ? '' : `-${number}`}`;
        const made = await makeBranch(ask, name, commit);
        if (made === 'made') return name;
        if (made === 'refused') break;
      }
    }
  }
  return null;
}

/** Makes a branch that is not there yet. On an unborn HEAD the first commit makes it. */
async function makeBranch(
  ask: AskRepository,
  name: string,
  commit: string | null,
): Promise<'made' | 'taken' | 'refused'> {
  if ((await ask(['check-ref-format', refOf(name)])).exitCode !== 0) return 'refused';
  if (commit === null) {
    const isThere = async (ref: string): Promise<boolean> =>
      (await ask(['show-ref', '--verify', '--quiet', ref])).exitCode === 0;
    if (await isThere(refOf(name))) return 'taken';
    return name.startsWith('ralph/') && (await isThere(refOf('ralph'))) ? 'refused' : 'made';
  }
  const args = ['update-ref', '--create-reflog', '-m', 'ralph: branch for a task', refOf(name)];
  const { exitCode, complaint } = await ask([...args, commit, '']);
  if (exitCode === 0) return 'made';
  return /already exists/.test(complaint) ? 'taken' : 'refused';
}

function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

/** Returns the name of a branch without `refs/heads/`. */
export function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
