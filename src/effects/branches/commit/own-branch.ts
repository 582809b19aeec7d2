import type { Git } from '../../git/git.ts';
import { complaintOf, gitRefusal, orNull } from '../../git/git-error.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import { isRef, isRefName, listRefs, moveRef, putHeadOn } from '../../git/questions/refs.ts';
import { type Head, refOf } from '../../git/repository.ts';
import { asText } from '../../git/tree-path.ts';
import type { CommitRequest } from './commit-request.ts';

/** Returns the branch to commit to (null if git refuses to make one), as `newBranch`, too, if it was made just now. */
export async function branchFor(
  { git, taskId, protect }: CommitRequest,
  head: Head,
): Promise<{ readonly branch: string | null; readonly newBranch: string | null }> {
  const { branch } = head;
  if (branch !== null && !(await protectedBranches(git.users, protect)).has(shortName(branch))) {
    return { branch, newBranch: null };
  }
  const made = await enterOwnBranch(git, taskId, head);
  return { branch: made, newBranch: made };
}

/** Returns the branches that ralph does not commit to: `named`, or else `main`, `master` and the remotes' defaults. */
export async function protectedBranches(
  git: Git,
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  if (named.length > 0) return new Set(named);
  const remotes = (await orNull(listRefs(git, ['refs/remotes/*/HEAD']))) ?? [];
  const usual = remotes.map(({ symbolic }) => asText(symbolic).split('/').slice(3).join('/'));
  return new Set(['main', 'master', ...usual]);
}

/** The highest number that is added to a branch's name because the names before it are taken. */
const MOST_NAMES = 1_000;

/** Makes a branch for the task and puts HEAD on it; index and files stay. Resolves to its name; null if git refuses. */
async function enterOwnBranch(
  git: PrivateGit,
  taskId: string,
  { commit }: Head,
): Promise<string | null> {
  const name = await makeOwnBranch(git.users, taskId, commit);
  if (name === null) return null;
  const step = putHeadOn(git.users, refOf(name), `ralph: work on ${taskId}`);
  return (await gitRefusal(step)) === null ? name : null;
}

/** Makes a branch whose name comes from a task's or list's id. Resolves to its name; null if git refuses every name. */
export async function makeOwnBranch(
  git: Git,
  taskId: string,
  commit: string | null,
): Promise<string | null> {
  for (const start of ['ralph/', 'ralph-']) {
    for (const id of new Set([taskId, taskId.replaceAll('.', '%2E')])) {
      for (let number = 1; number <= MOST_NAMES; number += 1) {
        const name = `${start}${id}${number === 1 ? '' : `-${number}`}`;
        const made = await makeBranch(git, name, commit);
        if (made === 'made') return name;
        if (made === 'refused') break;
      }
    }
  }
  return null;
}

/** Makes a branch that does not exist yet. If HEAD has no commit, the first commit will make the branch. */
async function makeBranch(
  git: Git,
  name: string,
  commit: string | null,
): Promise<'made' | 'taken' | 'refused'> {
  if (!(await isRefName(git, refOf(name)))) return 'refused';
  if (commit === null) {
    if (await isRef(git, refOf(name))) return 'taken';
    return name.startsWith('ralph/') && (await isRef(git, refOf('ralph'))) ? 'refused' : 'made';
  }
  const move = { from: null, to: commit, reason: 'ralph: branch for a task', isLogged: true };
  const complaint = await complaintOf(moveRef(git, refOf(name), move));
  if (complaint === null) return 'made';
  return /already exists/.test(complaint) ? 'taken' : 'refused';
}

/** Returns the name of a branch without `refs/heads/`. */
export function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
