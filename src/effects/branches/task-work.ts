import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LandingRefusal, StaysReason } from '../../core/snapshots/landing.ts';
import { looksSecret } from '../../core/snapshots/secret-names.ts';
import type { OwnWorkTree } from '../../core/task/task-state.ts';
import { openPrivateGit, type PrivateGit } from '../snapshots/private-git.ts';
import { findRepository, type Repository } from '../snapshots/repository.ts';
import { SnapshotError } from '../snapshots/snapshot-error.ts';
import { createSnapshotStore } from '../snapshots/snapshot-store.ts';
import type { TreePath } from '../snapshots/tree-changes.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { newestSnapshot } from './bring-back.ts';
import { type AskGit, gitDirOf, refOf, runGitOf } from './checkout.ts';

/** What a task did: its commits, and what it left uncommitted. */
export interface TaskWork {
  /** The newest commit of the task's branch. */
  readonly tip: string;
  /** The tree that it left, byte for byte; null if nothing but its commits is known. */
  readonly left: string | null;
  /** Files of the work tree that are not in that tree. */
  readonly leftOut: ReadonlyMap<TreePath, StaysReason>;
}

export interface TaskWorkRequest {
  readonly repository: Repository;
  readonly ask: AskGit;
  /** The task's branch, without `refs/heads/`. */
  readonly branch: string;
  /** The work tree that ralph made for the task; null if it worked in the user's own. */
  readonly tree: OwnWorkTree | null;
  /** How the refs of its snapshots begin; null if it has none. */
  readonly refs: string | null;
  /** A folder for ralph's own git files, the same as for the landing; it is created. */
  readonly gitFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The largest untracked file that lands, in bytes. */
  readonly maxBytes: number;
  /** Patterns of files that do not land unless they are committed, relative to the work tree. */
  readonly excludedGlobs: readonly string[];
}

/** For one call of git that reads a whole work tree. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Finds what a task did. Takes a snapshot of its work tree, or its newest one if the work tree is gone. Rejects
 * with a `SnapshotError`, or the system's error.
 */
export async function findTaskWork(request: TaskWorkRequest): Promise<TaskWork | LandingRefusal> {
  const { repository, ask, branch, tree } = request;
  const git = runGitOf(ask);
  const tip = await git(repository.commonDir, ['rev-parse', '-q', '--verify', refOf(branch)]);
  if (tip === null) return { kind: 'failed', why: `its branch ${branch} is gone` };
  const committed: TaskWork = { tip: tip.trim(), left: null, leftOut: new Map() };
  if (tree === null) return committed;
  const gitDir = await gitDirOf({ repository, ask, path: tree.path });
  if (gitDir === null) return { ...committed, ...(await newestTree(request, committed.tip)) };
  const what = unfinishedIn(gitDir);
  if (what !== null) return { kind: 'unfinished', folder: tree.path, what };
  const head = (await git(tree.path, ['symbolic-ref', '-q', 'HEAD']))?.trim() ?? null;
  if (head !== refOf(branch)) {
    const name = head?.replace(/^refs\/heads\//, '') ?? null;
    return { kind: 'other-branch', folder: tree.path, head: name };
  }
  return { ...committed, ...(await keepTree(request, tree.path)) };
}

/**
 * The tree of the newest snapshot. Where it was taken before the branch's newest commit, it cannot be told
 * what of it is meant to stay: then what the branch does not have is named.
 */
async function newestTree(
  request: TaskWorkRequest,
  tip: string,
): Promise<Pick<TaskWork, 'left' | 'leftOut'>> {
  const { repository, refs } = request;
  const nothing = { left: null, leftOut: new Map() };
  if (refs === null) return nothing;
  const git = openGit(request, repository);
  const newest = await newestSnapshot(git, refs);
  if (newest === null) return nothing;
  if (newest.head === tip) return { ...nothing, left: newest.tree };
  if (newest.head === null) return nothing;
  const left = await compareTrees(git, newest.head, newest.tree);
  const apart = await compareTrees(git, newest.tree, tip);
  if (left === null || apart === null) throw new SnapshotError('a part of the snapshot is missing');
  const leftOut = [...left].flatMap(([name, { from }]): [TreePath, StaysReason][] =>
    apart.has(name) ? [[name, from === null && looksSecret(name) ? 'secret' : 'branch-moved']] : [],
  );
  return { left: null, leftOut: new Map(leftOut) };
}

async function keepTree(
  request: TaskWorkRequest,
  folder: string,
): Promise<Pick<TaskWork, 'left' | 'leftOut'>> {
  const { ask, maxBytes, excludedGlobs } = request;
  const repository = await findRepository(folder, runGitOf(ask));
  if (repository === null) throw new Error(`git cannot open ${folder}`);
  const globs = excludedGlobs.map((glob) => `:(top,exclude,glob)${glob}`);
  const store = createSnapshotStore({
    git: openGit(request, repository),
    refs: '',
    newest: null,
    maxBytes,
    pathspecs: globs.length === 0 ? [] : ['--', ...globs],
  });
  const { tree, leftOut } = await store.keepTree();
  const reasons = [...leftOut].map(([name, why]): [TreePath, StaysReason] => [
    name,
    why === 'too-large' || why === 'unreadable' ? why : 'repository',
  ]);
  return { left: tree, leftOut: new Map(reasons) };
}

function openGit({ gitFolder, env }: TaskWorkRequest, repository: Repository): PrivateGit {
  return openPrivateGit({ folder: gitFolder, repository, env, timeoutMs: TIMEOUT_MS });
}

const UNFINISHED = {
  MERGE_HEAD: 'a merge',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisect',
} as const;

/** What is under way in a work tree: its files then belong to no single commit. */
function unfinishedIn(gitDir: string): string | null {
  const found = Object.entries(UNFINISHED).find(([name]) => existsSync(path.join(gitDir, name)));
  return found?.[1] ?? null;
}
