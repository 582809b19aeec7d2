import { existsSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { removeTree } from '../../effects/files/remove-tree.ts';
import { type Git, gitIn } from '../../effects/git/git.ts';
import { complaintOf, GitError, must } from '../../effects/git/git-error.ts';
import { definedFilters, underFilters } from '../../effects/git/git-filters.ts';
import { openPrivateGit, type PrivateGit } from '../../effects/git/private-git.ts';
import { checkOutHead } from '../../effects/git/questions/checkouts.ts';
import {
  listIndex,
  readIntoIndex,
  refreshIndex,
  writeFiles,
  writeSome,
} from '../../effects/git/questions/index-files.ts';
import { type FetchTrouble, shownUrl } from '../../effects/git/questions/origin-answer.ts';
import { findRepository } from '../../effects/git/repository.ts';
import { type TreePath, treePlace } from '../../effects/git/tree-path.ts';
import { readSnapshot } from '../../effects/snapshots/read-snapshot.ts';
import { makeLegRepository } from './leg-repository.ts';
import type { Mirror } from './mirror.ts';
import type { GitBase } from './mirror-folder.ts';

/*
 * Each worker's run of a task (leg) has a work tree with its own repository, on the task's branch at the last HEAD:
 *
 *   objects from the origin ──► repository ──► files ──► index
 *
 * Without a snapshot, git checks the files out. With one, the files are the snapshot's, byte for byte, and the index
 * is as it was: what the last leg left uncommitted is still uncommitted.
 */

export interface LegTreeRequest {
  readonly mirror: Mirror;
  /** Absolute path of the leg's folder; the work tree is `tree` in it. */
  readonly folder: string;
  /**
   * The commit for HEAD: that of the task's stored state, or where the task begins. '' for a branch without a commit,
   * which only a snapshot can have.
   */
  readonly head: string;
  /** The newest snapshot of the task; null before the first one. */
  readonly snapshot: { readonly commit: string; readonly ref: string } | null;
  /** The name of the task's branch, without `refs/heads/`. */
  readonly branch: string;
  /** The URL of `origin` that the agent sees. */
  readonly url: string;
  /**
   * Whether the tree gets its own copy of all objects, which takes longer. Otherwise it uses those of the mirror (the
   * worker's copy of the origin), which a sandbox would hide from the agent.
   */
  readonly isSelfContained?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export type LegTreeEnd =
  | {
      readonly kind: 'made';
      /** Absolute path of the work tree. */
      readonly folder: string;
      /** Files whose git filter failed: in their place is the content that git stores. */
      readonly unfiltered: readonly TreePath[];
    }
  | FetchTrouble;

/** The time limit for one call of git, which may write a whole work tree. */
const TIMEOUT_MS = 20 * 60_000;

/**
 * Makes the work tree for one worker's run of a task (a leg), in place of one that a killed worker left. Submodules are
 * not checked out. No program of the repository runs: only filters that the worker's user has configured. Rejects with
 * a `GitError`, or the system's error.
 */
export async function makeLegTree(request: LegTreeRequest): Promise<LegTreeEnd> {
  const { mirror, snapshot, branch, url, env, runId, signal } = request;
  const head = request.head === '' ? null : request.head;
  const folder = path.join(request.folder, 'tree');
  const git: GitBase = { env, runId, signal, timeoutMs: request.timeoutMs ?? TIMEOUT_MS };
  removeTree(folder);
  const trouble = await findCommits(mirror, head, snapshot);
  if (trouble !== null) return trouble;
  const isSelfContained = request.isSelfContained === true;
  const needs = [head, snapshot?.commit ?? null].filter((id) => id !== null);
  await makeLegRepository({
    ...{ mirror, folder, head, branch, url, needs, isSelfContained, git },
  });
  const inTree = gitIn(folder, git);
  let unfiltered: readonly TreePath[] = [];
  if (snapshot === null) {
    await must(checkOutHead(inTree), 'git cannot check the commit out');
    const listed = [...(await listIndex(inTree)).keys()];
    const filtered = await filteredOf(listed, inTree);
    if (filtered.length > 0) await makeOlder(folder, filtered, inTree);
  } else {
    const own = path.join(request.folder, 'laying');
    try {
      unfiltered = await laySnapshot(
        snapshot.commit,
        await openGit(folder, own, git),
        folder,
        inTree,
      );
    } finally {
      removeTree(own);
    }
  }
  return { kind: 'made', folder, unfiltered };
}

/** Fetches the commits that the tree needs, unless the mirror has them. Resolves to what went wrong, or null. */
async function findCommits(
  mirror: Mirror,
  head: string | null,
  snapshot: LegTreeRequest['snapshot'],
): Promise<FetchTrouble | null> {
  if (snapshot !== null && !(await mirror.has(snapshot.commit))) {
    const fetched = await mirror.fetch([snapshot.ref]);
    if (fetched.kind !== 'fetched') return fetched;
    if (fetched.commits.get(snapshot.ref) !== snapshot.commit) {
      const why = `${snapshot.ref} of ${shownUrl(mirror.url)} is no longer ${snapshot.commit}.`;
      return { kind: 'no-ref', why };
    }
  }
  if (head === null) return null;
  const found = await mirror.resolve(head);
  return found.kind === 'found' ? null : found;
}

async function openGit(folder: string, own: string, git: GitBase): Promise<PrivateGit> {
  const repository = await findRepository(folder, gitIn(folder, git));
  if (repository === null) throw new GitError(`git cannot open ${folder}`);
  removeTree(own);
  return openPrivateGit({ ...git, folder: own, repository });
}

/**
 * Writes the files of a snapshot into the empty work tree, and the index as it was. Resolves to the files that a filter
 * could not write.
 */
async function laySnapshot(
  commit: string,
  git: PrivateGit,
  folder: string,
  inTree: Git,
): Promise<readonly TreePath[]> {
  const { head, index } = await readSnapshot(git, commit);
  await must(readIntoIndex(git.own, commit), 'git cannot read the snapshot');
  await must(writeFiles(git.own), 'git cannot write the files of the snapshot');
  await must(readIntoIndex(inTree, index ?? head), 'git cannot write the index');
  const { written: filtered, failed } = await smudge(git, inTree);
  await makeOlder(folder, filtered, inTree);
  return failed;
}

/**
 * Makes files older than the index. If a file is as new as the index, git compares its content through the filter; but
 * ralph's own git runs no filters, and would call a file of LFS changed.
 */
async function makeOlder(folder: string, names: readonly TreePath[], inTree: Git) {
  const before = new Date(Date.now() - OLDER_MS);
  for (const place of names.map((name) => treePlace(folder, name))) {
    // The file of a submodule may be missing.
    if (existsSync(place)) utimesSync(place, before, before);
  }
  await refreshIndex(inTree);
}

const OLDER_MS = 2_000;

/**
 * Writes files through the filters of the worker's user, such as that of LFS: for these files, the snapshot has only
 * what git stores, as the index does. No filter of a repository's configuration runs: this repository is new.
 */
async function smudge(git: PrivateGit, inTree: Git) {
  const then = await listIndex(git.own);
  const now = await listIndex(inTree);
  const same = [...now].flatMap(([name, entry]) => (then.get(name) === entry ? [name] : []));
  const wanted = await filteredOf(same, inTree);
  const write = async (names: readonly TreePath[]): Promise<boolean> =>
    (await complaintOf(writeSome(inTree, names, { notesTimes: true }))) === null;
  const failed: TreePath[] = [];
  if (wanted.length > 0 && !(await write(wanted))) {
    // A failing filter makes git fail. Then each file is written by itself, so that only the bad ones stay unfiltered.
    for (const name of wanted) if (!(await write([name]))) failed.push(name);
    // Git removed these files before their filter failed, so they get the content that git stores.
    await must(writeSome(git.own, failed), 'git cannot write the files of the snapshot');
  }
  return { written: wanted.filter((name) => !failed.includes(name)), failed };
}

/** Returns the tracked files that a filter of the worker's user writes. */
async function filteredOf(names: readonly TreePath[], inTree: Git): Promise<readonly TreePath[]> {
  const defined = await definedFilters(inTree, 'smudge|process');
  return [...(await underFilters(inTree, names, defined)).keys()];
}
