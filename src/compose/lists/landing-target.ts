import { isBranch } from '../../effects/branches/checkout.ts';
import { makeOwnBranch, protectedBranches } from '../../effects/branches/commit/own-branch.ts';
import { gitAt, withGitSettings } from '../../effects/git/git.ts';
import { gitIdentity, isKnown, unknownAuthor } from '../../effects/git/identity.ts';
import { gitWith, openRepository } from '../../effects/git/open-repository.ts';
import { readHead } from '../../effects/git/repository.ts';
import { asText } from '../../effects/git/tree-path.ts';
import { UsageError } from '../../errors.ts';

interface TargetRequest {
  /** The folder in which the list is worked on. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly list: string;
  /** The branches that `--protect-branch` names. */
  readonly protect: readonly string[];
  /** The branch that an earlier run made for this list; undefined if there is none. */
  readonly known: string | undefined;
}

/** The branch to which the work of a list's items is brought (on which they "land"). */
export interface LandingTarget {
  /** The name of the branch, without `refs/heads/`. */
  readonly branch: string;
  /** Whether ralph made the branch for the list, now or earlier. */
  readonly isOwn: boolean;
  readonly sentence: string;
}

/** Finds the branch on which items land: the current one, or else one of the list. Rejects with a `UsageError`. */
export async function landingTarget(request: TargetRequest): Promise<LandingTarget> {
  const { cwd, env, list, protect, known } = request;
  const anywhere = gitWith(env);
  const opened = await openRepository(cwd, anywhere);
  if (opened.kind === 'none') {
    throw new UsageError([`--worktree needs a git work tree, and ${opened.why}.`]);
  }
  const { repository } = opened;
  const git = gitAt(anywhere, repository.commonDir);
  if (!(await isKnown(withGitSettings(git, gitIdentity(env))))) {
    throw new UsageError([unknownAuthor('ralph work --worktree')]);
  }
  const head = await readHead(gitAt(git, repository.root));
  const current = head.branch === null ? null : asText(head.branch).replace(/^refs\/heads\//, '');
  if (current !== null && !(await protectedBranches(git, protect)).has(current)) {
    return { branch: current, isOwn: false, sentence: `items land on the branch ${current}` };
  }
  const why = current === null ? 'HEAD is on no branch' : `${current} is protected`;
  if (known !== undefined && (await isBranch({ repository, git }, known))) {
    return { branch: known, isOwn: true, sentence: `${why}, so items land on ${known}` };
  }
  const branch = await makeOwnBranch(git, list, head.commit);
  if (branch === null) {
    throw new UsageError([
      `${why}, and git makes no branch ralph/${list} for the items to land on.`,
    ]);
  }
  return { branch, isOwn: true, sentence: `${why}, so items land on the new branch ${branch}` };
}
