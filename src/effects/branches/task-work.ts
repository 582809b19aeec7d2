import type { LandingRefusal, StaysReason } from '../../core/snapshots/landing.ts';
import { looksSecret } from '../../core/snapshots/secret-names.ts';
import type { OwnWorkTree } from '../../core/task/task-state.ts';
import { type Git, gitAt } from '../git/git.ts';
import { gitWithoutOwnFilters } from '../git/git-filters.ts';
import { allBut } from '../git/pathspecs.ts';
import { openPrivateGit, type PrivateGit } from '../git/private-git.ts';
import { pathsOfTask } from '../git/questions/history.ts';
import { branchOfHead, resolveName } from '../git/questions/refs.ts';
import { readStatus } from '../git/questions/status.ts';
import { findRepository, type Repository, refOf } from '../git/repository.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { NO_SNAPSHOT_IDS, type SnapshotId } from '../snapshots/snapshot-ids.ts';
import { createSnapshotStore } from '../snapshots/snapshot-store.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { createInnerRepositories } from '../workspace/inner-repositories.ts';
import { newestSnapshot } from './bring-back.ts';
import { gitDirOf } from './checkout.ts';

/** What a task did, and what of it can land (come to a branch of the user's): its commits, and what is uncommitted. */
export interface TaskWork {
  /** The newest commit of the task's branch. */
  readonly tip: string;
  /** The newest tree of the task, byte for byte; null if only its commits are known. */
  readonly kept: string | null;
  /** Whether the changes of `kept` that the branch lacks are to be committed when the task lands. */
  readonly isOpen: boolean;
  /** Paths that do not land, or only in part, each with the reason. */
  readonly leftOut: ReadonlyMap<TreePath, StaysReason>;
}

export interface TaskWorkRequest {
  readonly repository: Repository;
  readonly git: Git;
  readonly taskId: string;
  /** The task's branch, without `refs/heads/`. */
  readonly branch: string;
  /** The work tree that ralph made for the task; null if it worked in the user's own. */
  readonly tree: OwnWorkTree | null;
  readonly ids: readonly SnapshotId[];
  /** A folder for ralph's own git files, the same as for the landing; it is created. */
  readonly gitFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The largest untracked file that lands, in bytes. */
  readonly maxBytes: number;
  /** Patterns (`--snapshot-exclude`) of files that land only if they are committed, relative to the work tree. */
  readonly excludedGlobs: readonly string[];
}

/** The limit for one call of git that reads a whole work tree, in ms. */
const TIMEOUT_MS = 10 * 60_000;

/** Finds what a task did, from its work tree, or else its newest snapshot. Rejects with a `GitError`, or the system's error. */
export async function findTaskWork(request: TaskWorkRequest): Promise<TaskWork | LandingRefusal> {
  const { repository, git, branch, tree } = request;
  const tip = await resolveName(gitAt(git, repository.commonDir), refOf(branch));
  const gone: LandingRefusal = { kind: 'branch-gone', branch };
  if (tree === null) return tip === null ? gone : { tip, ...NOTHING_KEPT };
  const gitDir = await gitDirOf({ repository, git, path: tree.path });
  if (gitDir === null) {
    const work = await newestTree(request, tip ?? tree.base);
    // A branch without commits of its own is removed with its work tree. If it had commits, somebody else
    // removed it.
    if (tip === null && !work.isOpen) return gone;
    return { tip: tip ?? tree.base, ...work };
  }
  const [operation] = underWayIn(gitDir);
  if (operation !== undefined)
    return { kind: 'unfinished', folder: tree.path, what: `a ${operation}` };
  const head = await branchOfHead(gitAt(git, tree.path));
  if (tip === null || head !== refOf(branch)) {
    const name = head === refOf(branch) ? null : asText(head ?? '').replace(refOf(''), '') || null;
    return { kind: 'other-branch', folder: tree.path, head: name };
  }
  return { tip, ...(await keepTree(request, tree.path)) };
}

type KeptWork = Omit<TaskWork, 'tip'>;

const NOTHING_KEPT: KeptWork = { kept: null, isOpen: false, leftOut: new Map() };

/**
 * Returns the tree of the newest snapshot. If the branch has moved since then, nobody knows which uncommitted changes
 * are still wanted, so they do not land and are only named. Paths in the task's later commits are not named: their
 * changes are committed, as hooks and filters made them.
 */
async function newestTree(request: TaskWorkRequest, tip: string): Promise<KeptWork> {
  const privately = openGit(request, request.repository);
  const newest = await newestSnapshot(privately, request.ids);
  if (newest === null || newest.head === null) return NOTHING_KEPT;
  if (newest.head === tip) return { kept: newest.tree, isOpen: true, leftOut: new Map() };
  const left = await compareTrees(privately, newest.head, newest.tree);
  const apart = await compareTrees(privately, newest.tree, tip);
  const { git, repository, taskId } = request;
  const here = gitAt(git, repository.commonDir);
  const range = { from: newest.head, to: tip };
  const committed = new Set(await pathsOfTask(here, taskId, range));
  const leftOut = [...left].flatMap(([name, { from }]): [TreePath, StaysReason][] =>
    !apart.has(name) || committed.has(name)
      ? []
      : [[name, from === null && looksSecret(name) ? 'secret' : 'branch-moved']],
  );
  return { kept: newest.tree, isOpen: false, leftOut: new Map(leftOut) };
}

async function keepTree(request: TaskWorkRequest, folder: string): Promise<KeptWork> {
  const { git, env, maxBytes, excludedGlobs } = request;
  const repository = await findRepository(folder, git);
  if (repository === null) throw new Error(`git cannot open ${folder}`);
  const store = createSnapshotStore({
    git: openGit(request, repository),
    ids: NO_SNAPSHOT_IDS,
    newest: null,
    maxBytes,
    pathspecs: allBut([], folder, excludedGlobs),
  });
  const { tree, leftOut, nested } = await store.keepTree();
  const inside =
    nested.size === 0
      ? []
      : (await createInnerRepositories({ excluded: [], env }).mark(folder)).repositories;
  const dirty = inside.flatMap(({ path, isDirty }) =>
    isDirty && nested.has(path) && !leftOut.has(path) ? [path] : [],
  );
  const excluded = excludedGlobs.length === 0 ? [] : await changedIn(folder, excludedGlobs, git);
  const stays: readonly (readonly [TreePath, StaysReason])[] = [
    ...excluded.map((name) => [name, 'excluded'] as const),
    ...dirty.map((name) => [name, 'uncommitted-inside'] as const),
    ...[...leftOut].map(
      ([name, why]) =>
        [name, why === 'too-large' || why === 'unreadable' ? why : 'repository'] as const,
    ),
  ];
  return { kept: tree, isOpen: true, leftOut: new Map(stays) };
}

/** Returns the paths of a work tree that match some of the patterns and are not committed. */
async function changedIn(
  folder: string,
  globs: readonly string[],
  git: Git,
): Promise<readonly TreePath[]> {
  const why = 'git cannot list what --snapshot-exclude names';
  const patterns = globs.map((glob) => `:(top,glob)${glob}`);
  const here = await gitWithoutOwnFilters(git, folder);
  return (await readStatus(here, ['--', ...patterns], { looksInside: true, why })).names;
}

function openGit({ gitFolder, env }: TaskWorkRequest, repository: Repository): PrivateGit {
  return openPrivateGit({ folder: gitFolder, repository, env, timeoutMs: TIMEOUT_MS });
}
