import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { LineChanges } from '../../../core/task/line-changes.ts';
import { findGitAbove } from '../../files/find-git-above.ts';
import { ifPossible } from '../../files/if-possible.ts';
import { isStillAt } from '../../git/configured-repository.ts';
import { type Git, gitAt, gitIn } from '../../git/git.ts';
import { orNull } from '../../git/git-error.ts';
import { allBut, type Pathspecs } from '../../git/pathspecs.ts';
import { changesBetween, countLines } from '../../git/questions/diffs.ts';
import { countCommits } from '../../git/questions/history.ts';
import { listRefs } from '../../git/questions/refs.ts';
import {
  emptyTree,
  findPlaces,
  headSign,
  type Places,
  readHead,
  refOf,
  timeOf,
} from '../../git/repository.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import { monotonicMs } from '../../time/monotonic.ts';
import { changedFiles, type DirtyFiles } from '../../workspace/dirty-files.ts';
import type { GitChange, GitProgress, GitProgressRequest } from '../../workspace/git-progress.ts';
import { readFiles, tipsIn } from '../../workspace/git-view.ts';
import { createInnerRepositories } from '../../workspace/inner-repositories.ts';
import type { TreeKeeper } from './tree-keeper.ts';

/*
 * Detects progress in a work tree: new commits, and files that have changed since the last look, even in repositories
 * inside.
 *
 *   mark ──► iteration ──► since ──► iteration ──► since …     one look per iteration
 *                            │
 *                            └──► --after ──► mark ──► …       after something else has run
 *
 * Snapshots tell the changed files. Where none can be made, `git status` names the files that differ from HEAD, and
 * each is compared with its fingerprint at the last look.
 */

/** The limit for one call of git, in ms. */
const TIMEOUT_MS = 30_000;
/** The limit for counting all changes, in ms: a finished task must not wait long for its summary. */
const IN_ALL_TIMEOUT_MS = 10_000;
/** After this many timeouts in a row `git status` is not asked again, since each would run into the time limit again. */
const SLOW_LOOKS_AT_MOST = 2;

/** A work tree at one instant. */
interface Look {
  readonly places: Places;
  /** Id of the commit at HEAD; null before the first commit. */
  readonly head: string | null;
  /** What `git status` told; null if snapshots tell the changed files. */
  readonly dirty: DirtyFiles | null;
}

/** Detects progress in the work tree around `cwd`, if any. `keeper` makes the snapshots, if any. No method rejects. */
export function createGitProgress(
  request: GitProgressRequest,
  keeper: TreeKeeper | null = null,
): GitProgress {
  const { cwd, excluded, env, runId, signal, timeoutMs = TIMEOUT_MS } = request;
  const inner = createInnerRepositories(request);
  const git = gitIn(cwd, { env, runId, timeoutMs, signal });
  /** The commits to which HEAD and the refs led at any look. */
  const seen = new Set<string>();
  let sign: string | null = null;
  let places: Places | null = null;
  let slowLooks = 0;
  /** The last look; null if it failed. */
  let before: Look | null = null;
  /** The `keeper` while its snapshots show what has changed; otherwise null. */
  let kept: TreeKeeper | null = null;
  const seeing = (): TreeKeeper | null =>
    keeper?.isWorking === true && keeper.isHere() ? keeper : null;

  const lookByStatus = async (): Promise<Look | null> => {
    const place = findGitAbove(cwd);
    if (place === null || slowLooks >= SLOW_LOOKS_AT_MOST) return null;
    const startedAtMs = monotonicMs();
    // The agent may have created or removed a repository.
    if (places === null || !isStillAt(places, place)) places = await findPlaces(cwd, git);
    const { root = '' } = places ?? {};
    const tree = { root, pathspecs: allBut(excluded, root) };
    const files = places && (await readFiles(tree, before?.dirty ?? null, gitAt(git, root)));
    const tookTooLong = files === null && monotonicMs() - startedAtMs >= timeoutMs;
    slowLooks = tookTooLong ? slowLooks + 1 : 0;
    return places && files && { places, ...files };
  };

  const look = async (): Promise<Look | null> => {
    if (kept === null) return lookByStatus();
    const { store, git: own } = kept;
    // The task goes on even if git cannot read HEAD.
    const head = store.head ?? (await readHead(gitAt(git, own.repository.root)).catch(() => null));
    return { places: own.repository, head: head?.commit ?? null, dirty: null };
  };

  /** Counts the commits that are new since the last look. */
  const newCommits = async ({ places: at, head }: Look): Promise<number> => {
    const signNow = branchSign(at);
    if (signNow === sign) return 0;
    const here = gitAt(git, at.root);
    const refs = (await orNull(listRefs(here))) ?? [];
    const { branches, tips } = tipsIn(refs, at.root, head);
    const fresh = sign === null ? [] : branches.filter((tip) => !seen.has(tip));
    // If git fails, each new tip counts as one.
    const count = fresh.length === 0 ? 0 : await countCommits(here, fresh, seen);
    for (const tip of tips) seen.add(tip);
    sign = signNow;
    return count ?? fresh.length;
  };

  /** Returns the files in which two looks by `git status` differ; null if either failed, or was at another root. */
  const changedSince = async (
    then: Look | null,
    now: Look,
    hasCommits: boolean,
  ): Promise<readonly TreePath[] | null> => {
    const { root } = now.places;
    if (!then?.dirty || now.dirty === null || then.places.root !== root) return null;
    const range = hasCommits && then.head !== now.head ? { from: then.head, to: now.head } : null;
    const committed =
      range === null ? [] : await filesBetween(gitAt(git, root), range, allBut(excluded, root));
    return changedFiles(root, then.dirty, now.dirty, committed);
  };

  return {
    get isIdle() {
      return findGitAbove(cwd) === null;
    },
    async mark() {
      kept = seeing();
      const now = await look();
      // Without this, changes that others have made since the older look would count.
      before = null;
      if (now === null) return null;
      const { repositories } = await inner.mark(now.places.root);
      kept?.tellInner(repositories);
      await newCommits(now);
      before = now;
      return now.head;
    },
    async since(): Promise<GitChange | null> {
      kept &&= seeing();
      const touched = kept?.filesTouched() ?? null;
      const now = await look();
      if (now === null) return null;
      const { repositories, changed } = await inner.since(now.places.root);
      kept?.tellInner(repositories);
      const commits = await newCommits(now);
      const names = kept === null ? await changedSince(before, now, commits > 0) : touched;
      before = now;
      return names && { commits, ...countFiles(now.places.root, [...names, ...changed]) };
    },
    async inAll(base, hurry, branches = []) {
      const { store, git: own, ends } = seeing() ?? {};
      const trees = ends?.() ?? null;
      if (store === undefined || own === undefined || trees === null) return null;
      const limits = { timeoutMs: IN_ALL_TIMEOUT_MS, signal: hurry };
      const inTime = gitIn(own.repository.root, { env, runId, ...limits });
      const tips = base === null ? ['HEAD'] : ['HEAD', ...branches.map(refOf)];
      const isWhereItBegan =
        base !== null && branches.length === 0 && store.head?.commit === base && !store.hasMoved();
      const commits = isWhereItBegan
        ? 0
        : await countCommits(inTime, tips, base === null ? [] : [base]);
      const { first: from, newest: to } = trees;
      const counted =
        from === to ? NOTHING : await countLines(inTime, { from, to }).catch(() => null);
      if (commits === null || counted === null) return null;
      // Without a base, commits that existed before the task would count, too.
      if (base === null && commits > 0) return null;
      return { commits, ...addUp(counted, inner.changedInAll) };
    },
  };
}

/** Returns the files in which two commits differ; none if git fails. */
async function filesBetween(
  git: Git,
  { from, to }: { readonly from: string | null; readonly to: string | null },
  pathspecs: Pathspecs,
): Promise<readonly TreePath[]> {
  if (to === null) return [];
  const start = from ?? emptyTree({ hash: to.length === 64 ? 'sha256' : 'sha1' });
  const changes = await orNull(changesBetween(git, start, to, { pathspecs }));
  return [...(changes?.keys() ?? [])];
}

/** Counts changed files, and returns the absolute path if there is only one. */
function countFiles(
  root: string,
  names: readonly TreePath[],
): Pick<GitChange, 'filesChanged' | 'onlyFile'> {
  const [name, ...more] = new Set(names);
  const isOnly = name !== undefined && more.length === 0;
  return {
    filesChanged: name === undefined ? 0 : 1 + more.length,
    ...(isOnly ? { onlyFile: path.join(root, asText(name)) } : {}),
  };
}

/** Returns a text that changes if HEAD or any branch may have moved, even one that is not checked out. */
function branchSign(places: Places): string {
  const { commonDir } = places;
  const heads = path.join(commonDir, 'refs/heads');
  // Git may be moving branches at this moment.
  const branches =
    ifPossible(() => readdirSync(heads, { recursive: true, encoding: 'utf8' })) ?? [];
  const times = ['packed-refs', ...branches.map((name) => path.join('refs/heads', name))];
  return [
    headSign(places),
    ...times.map((name) => `${name} ${timeOf(path.join(commonDir, name))}`),
  ].join('\n');
}

/** If more files have changed, they are only counted, and not named. */
const NAMED_AT_MOST = 5;

type Counted = Awaited<ReturnType<typeof countLines>>;

/** The difference of a tree from itself. */
const NOTHING: Counted = new Map();

/** Counts the files, including those in `further`, and adds up the lines; a binary file has no lines. */
function addUp(counted: Counted, further: Iterable<TreePath>) {
  const sum = (side: keyof LineChanges): number =>
    [...counted.values()].reduce((total, lines) => total + (lines?.[side] ?? 0), 0);
  const names = new Set([...counted.keys(), ...further]);
  return {
    filesChanged: names.size,
    ...(names.size > 0 && names.size <= NAMED_AT_MOST ? { names: [...names].map(asText) } : {}),
    lines: { added: sum('added'), removed: sum('removed') },
  };
}
