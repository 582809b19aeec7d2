import { type CommitFacts, commitMessage } from '../../core/snapshots/commit-message.ts';
import { isRepository } from '../../core/snapshots/undo-plan.ts';
import { removeTree } from '../../effects/files/remove-tree.ts';
import { type GitSetting, withGitSettings } from '../../effects/git/git.ts';
import { must } from '../../effects/git/git-error.ts';
import { gitIdentity, isKnown, RALPH } from '../../effects/git/identity.ts';
import { openPrivateGit, type PrivateGit } from '../../effects/git/private-git.ts';
import {
  addPaths,
  dropPaths,
  readIntoIndex,
  writeTree,
} from '../../effects/git/questions/index-files.ts';
import { writeCommit } from '../../effects/git/questions/objects.ts';
import { submodulesIn } from '../../effects/git/questions/settings.ts';
import { treesOf } from '../../effects/git/questions/verified.ts';
import { emptyTree } from '../../effects/git/repository.ts';
import type { TreePath } from '../../effects/git/tree-path.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';
import { compareTrees } from '../../effects/snapshots/trees.ts';
import type { KeptLegTree } from './leg-snapshots.ts';
import type { GitBase } from './mirror-folder.ts';

/*
 * The result of a task is the agent's HEAD, with one commit on top for the files that it left uncommitted. The snapshot
 * tells which files these are. Their content is converted by git's rules for line ends and encodings, as by a person's
 * `git add`, but with a git folder of ralph's own, so that nothing that the agent has configured runs.
 */

export interface ResultRequest {
  readonly keeper: TreeKeeper;
  readonly kept: KeptLegTree;
  readonly base: string;
  /** Absolute path of a folder for ralph's own git files; it is made, and removed again. */
  readonly folder: string;
  readonly facts: CommitFacts;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string;
  readonly signal: AbortSignal;
}

export interface Result {
  readonly commit: string;
  /** Whether ralph made the commit, on top of the agent's HEAD. */
  readonly isNew: boolean;
  /** Files that the agent left and that are not in the commit: secrets, repositories, and what git cannot take. */
  readonly left: readonly TreePath[];
}

/** The time limit of one call of git, in milliseconds. */
const TIMEOUT_MS = 10 * 60_000;

/** Makes the commit of a task's result, to which no ref leads yet. Rejects with a `GitError`, or the system's error. */
export async function makeResult(request: ResultRequest): Promise<Result> {
  const { keeper, kept, base, folder, facts, env, runId, signal } = request;
  const git: GitBase = { env, runId, signal, timeoutMs: TIMEOUT_MS };
  const { repository } = keeper.git;
  removeTree(folder);
  try {
    const own = openPrivateGit({ ...git, folder, repository, attributes: WITHOUT_FILTERS });
    const { head } = kept;
    const { tree, left: paths } = await writeWork(own, kept);
    const left = [...new Set([...paths, ...(await committedRepositories(own, base, tree))])];
    if (head !== null && tree === (await treesOf(own.own, [head]))[0]) {
      return { commit: head, isNew: false, left };
    }
    const settings = [...(await identityOf(own, env)), UTF8];
    const made = writeCommit(withGitSettings(own.own, settings), {
      ...{ tree, message: commitMessage(facts, null), parents: head === null ? [] : [head] },
    });
    return { commit: await must(made, 'git cannot write the commit'), isNew: true, left };
  } finally {
    removeTree(folder);
  }
}

/** No filters: the files that LFS stores, for example, would have to be uploaded in addition to the commit. */
const WITHOUT_FILTERS = '* -filter\n';

const UTF8: GitSetting = { name: 'i18n.commitEncoding', value: 'UTF-8' };

/** Writes HEAD with the agent's changes as a tree. Resolves to it, and to the files that are left out. */
async function writeWork(git: PrivateGit, { head, tree, secrets, leftOut }: KeptLegTree) {
  await must(readIntoIndex(git.own, head), 'git cannot read HEAD');
  const difference = await compareTrees(git, head ?? emptyTree(git.repository), tree);
  const [removed, changed]: [TreePath[], TreePath[]] = [[], []];
  // A file that the snapshot could not hold is missing in it, but was not removed by the agent.
  const left = [...secrets, ...leftOut];
  for (const [name, { from, to }] of difference) {
    if (leftOut.has(name)) continue;
    if (to === null) removed.push(name);
    // A repository inside the tree is left out: its commit exists only on this machine.
    else if (to.startsWith('160000') && from === null) left.push(name);
    else changed.push(name);
  }
  // Removals come first, since a new folder may have the name of a removed file.
  await dropPaths(git.own, removed);
  const refused = await addPaths(git.own, changed);
  const written = await must(writeTree(git.own, git.repository), 'git cannot write the tree');
  return { tree: written, left: [...left, ...refused] };
}

/**
 * Returns the repositories inside the tree that were committed since `base` and are no submodules: the commit has only
 * their ids, and not their content.
 */
async function committedRepositories(
  git: PrivateGit,
  base: string,
  tree: string,
): Promise<readonly TreePath[]> {
  // If the base cannot be read, there is nothing to compare with.
  const difference = await compareTrees(git, base, tree).catch(() => null);
  const added = [...(difference ?? [])].flatMap(([name, { from, to }]) =>
    isRepository(to) && !isRepository(from) ? [name] : [],
  );
  if (added.length === 0) return [];
  const submodules = await submodulesIn(git.own, tree);
  return added.filter((name) => !submodules.has(name));
}

/** Returns the committer: the worker's user as git knows them, or else ralph. The agent's settings are not read. */
async function identityOf(git: PrivateGit, env: NodeJS.ProcessEnv): Promise<readonly GitSetting[]> {
  const identity = gitIdentity(env);
  const known = await isKnown(withGitSettings(git.own, identity));
  return known ? identity : RALPH;
}
