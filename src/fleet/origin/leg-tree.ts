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
 * The work tree of a leg has a repository of its own, on the task's branch at the commit that was HEAD:
 *
 *   objects from the origin ──► repository ──► files ──► index
 *
 * Without a snapshot, the files are as git checks them out. With one, they are its files byte for byte, and the
 * index is as it was, so that the work is as uncommitted as the last leg left it.
 */

export interface LegTreeRequest {
  readonly mirror: Mirror;
  /** Absolute path of the leg's folder; the work tree is `tree` in it. */
  readonly folder: string;
  /**
   * The commit for HEAD: that of the checkpoint, or the one from which the task begins. '' for a branch without a
   * commit, which only a snapshot can have.
   */
  readonly head: string;
  /** The newest snapshot of the task; null before the first one. */
  readonly snapshot: { readonly commit: string; readonly ref: string } | null;
  /** Without `refs/heads/`. */
  readonly branch: string;
  /** What the agent sees as the URL of `origin`. */
  readonly url: string;
  /**
   * Whether the tree gets its own copy of all objects, which takes longer. Without it, it borrows those of the
   * mirror, which a sandbox hides from the agent.
   */
  readonly isSelfContained?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string;
  /** Kills git at once. */
  readonly signal: AbortSignal;
  /** For one call of git, in milliseconds. */
  readonly timeoutMs?: number;
}

export type LegTreeEnd =
  | {
      readonly kind: 'made';
      /** Absolute path of the work tree. */
      readonly folder: string;
      /** Files that a filter could not write: there is what git stores in their place. */
      readonly unfiltered: readonly TreePath[];
    }
  | FetchTrouble;

/** For git that writes a whole work tree. */
const TIMEOUT_MS = 20 * 60_000;

/**
 * Makes the work tree of a leg, in place of what a killed worker has left there. Submodules are not checked out,
 * and of the repository no program runs: filters only as the worker's user has configured them. Rejects with a
 * `GitError`, or the system's error.
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

/** Fetches what the tree needs, unless the mirror has it. Returns what went wrong, or null. */
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
 * Makes files older than the index. What was written in the same second as the index passes for unchanged only by its
 * filter, and ralph's own git runs none: it would take a file of LFS for changed.
 */
async function makeOlder(folder: string, names: readonly TreePath[], inTree: Git) {
  const before = new Date(Date.now() - OLDER_MS);
  for (const place of names.map((name) => treePlace(folder, name))) {
    // That of a submodule may be missing.
    if (existsSync(place)) utimesSync(place, before, before);
  }
  await refreshIndex(inTree);
}

const OLDER_MS = 2_000;

/**
 * Has the worker's own filters, such as that of LFS, write the files whose snapshot only names what git stores:
 * the snapshot has those as the index has them. A filter that only the repository configures cannot be meant, since
 * this repository is new.
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
    // A filter that fails ends git: then each file is tried by itself, and one bad file costs one.
    for (const name of wanted) if (!(await write([name]))) failed.push(name);
    // Git has removed them first.
    await must(writeSome(git.own, failed), 'git cannot write the files of the snapshot');
  }
  return { written: wanted.filter((name) => !failed.includes(name)), failed };
}

/** Returns those of the tracked files that a filter of the worker's user writes. */
async function filteredOf(names: readonly TreePath[], inTree: Git): Promise<readonly TreePath[]> {
  const defined = await definedFilters(inTree, 'smudge|process');
  return [...(await underFilters(inTree, names, defined)).keys()];
}
