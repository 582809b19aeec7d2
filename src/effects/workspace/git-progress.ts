import path from 'node:path';
import { findGitAbove } from '../files/find-git-above.ts';
import { type Git, gitAt, gitIn } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { allBut } from '../git/pathspecs.ts';
import { changesBetween } from '../git/questions/diffs.ts';
import { emptyTree, rootOf } from '../git/repository.ts';
import { asText } from '../git/tree-path.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { changedFiles } from './dirty-files.ts';
import { readView, type View, type WorkTree } from './git-view.ts';
import {
  createInnerRepositories,
  type InnerRepositories,
  type InnerRequest,
} from './inner-repositories.ts';
import { countNewCommits } from './new-commits.ts';

/*
 * Detects progress in a git work tree. Compares every file that git reports as changed or untracked
 * with its fingerprint in the last snapshot, so that a file counts only if it has changed since then.
 *
 *   mark ──► iteration ──► since ──► iteration ──► since …     one snapshot per iteration
 *                            │
 *                            └──► --after ──► mark ──► …       after something else has run
 *
 * A snapshot needs two git processes in parallel: `status` for HEAD and files, `for-each-ref` for
 * branches. One more runs before them if the repository may have filters, and two more after them if
 * there are new commits. Then come those of the repositories inside.
 */

export interface GitProgressRequest extends InnerRequest {
  readonly cwd: string;
}

/** What has changed between two snapshots. */
export interface GitChange {
  /** Number of commits that no branch, tag or HEAD led to before, including amended and rebased ones. */
  readonly commits: number;
  /** Number of files whose content has changed, including new, deleted and committed files. */
  readonly filesChanged: number;
  /** Absolute path of the file, if only one has changed. */
  readonly onlyFile?: string;
  /** The paths of all changed files from the root of the work tree, if they are few; absent if they were not asked for. */
  readonly names?: readonly string[];
  /** Lines that changed in text files; absent if only whole files were compared. */
  readonly lines?: { readonly added: number; readonly removed: number };
}

export interface GitProgress {
  /** Whether there is no repository now; then no git process is started. */
  readonly isIdle: boolean;
  /**
   * Takes a snapshot. Call it before the first iteration, and after any program other than the agent has run. Resolves
   * to the id of HEAD; null without a commit, outside a work tree, or if git fails.
   */
  mark(): Promise<string | null>;
  /**
   * Takes a snapshot and resolves to what has changed since the last one; null if that is unknown.
   * If git fails, the last snapshot stays, so that no change is lost.
   */
  since(): Promise<GitChange | null>;
  /**
   * Resolves to what has changed since the task began at the commit `base`, including changes by `--after`; a `base` of
   * null means that there was no commit. If HEAD was elsewhere when this process first looked, all uncommitted changes
   * count. Null if git fails or takes too long, if `hurry` aborts, or if this cannot be told without a `base`.
   */
  inAll(
    base: string | null,
    hurry: AbortSignal,
    branches?: readonly string[],
  ): Promise<GitChange | null>;
}

const TIMEOUT_MS = 30_000;
/** Limit for the whole of `inAll`: a finished task must not wait long for its summary. */
const IN_ALL_TIMEOUT_MS = 10_000;
/** After this many timeouts in a row no more snapshots are taken, since each would run into the time limit again. */
const SLOW_LOOKS_AT_MOST = 2;

/** Detects progress in the work tree that contains `cwd`, if any, and in the repositories inside it. No method rejects. */
export function createGitProgress(
  request: GitProgressRequest,
  inner: InnerRepositories = createInnerRepositories(request),
): GitProgress {
  const { env, runId, signal, timeoutMs = TIMEOUT_MS } = request;
  let first: View | null = null;
  let mark: View | null = null;
  /** `place` is the folder with the `.git`. */
  let tree: (WorkTree & { readonly place: string }) | null = null;
  let slowLooks = 0;
  const seen = new Set<string>();

  const git = gitIn(request.cwd, { env, runId, timeoutMs, signal });

  const viewBy = async (ask: Git): Promise<View | null> => {
    const place = findGitAbove(request.cwd);
    if (place === null) return null;
    // The agent may have created or removed a repository.
    if (tree?.place !== place) {
      const root = await rootOf(ask);
      tree = root === null ? null : { place, root, pathspecs: allBut(request.excluded, root) };
    }
    return tree && readView(tree, mark?.dirty ?? null, gitAt(ask, tree.root));
  };
  const look = async (): Promise<View | null> => {
    if (slowLooks >= SLOW_LOOKS_AT_MOST) return null;
    const startedAtMs = monotonicMs();
    const view = await viewBy(git);
    const tookTooLong = view === null && monotonicMs() - startedAtMs >= timeoutMs;
    slowLooks = tookTooLong ? slowLooks + 1 : 0;
    return view;
  };
  const keep = (view: View): void => {
    mark = view;
    first ??= view;
    for (const tip of view.tips) seen.add(tip);
  };

  return {
    get isIdle() {
      return findGitAbove(request.cwd) === null;
    },
    async mark() {
      const view = await look();
      // Without this, changes that others have made since the older snapshot would count.
      mark = null;
      if (view === null) return null;
      keep(view);
      await inner.mark(view.root);
      return view.head;
    },
    async since() {
      const before = mark;
      const now = await look();
      if (now === null) return null;
      const { changed } = await inner.since(now.root);
      const change =
        before?.root === now.root ? await compare(before, now, seen, git, changed) : null;
      keep(now);
      return change;
    },
    async inAll(base, hurry) {
      if (base === null || first === null || slowLooks >= SLOW_LOOKS_AT_MOST) return null;
      const tooLate = AbortSignal.timeout(IN_ALL_TIMEOUT_MS);
      // A stop of the run aborts `signal`, but must not prevent the summary, so `hurry` is used here.
      const limits = { timeoutMs: IN_ALL_TIMEOUT_MS, signal: AbortSignal.any([hurry, tooLate]) };
      const inTime = gitIn(request.cwd, { env, runId, ...limits });
      const now = await viewBy(inTime);
      if (now === null || now.root !== first.root) return null;
      const before =
        first.head === base ? first : { ...first, head: base, tips: [base], dirty: new Map() };
      const here =
        before === first ? now : { ...now, branches: now.head === null ? [] : [now.head] };
      const inside = [...inner.changedInAll];
      const change = await compare(before, here, new Set(before.tips), inTime, inside);
      return tooLate.aborted ? null : change;
    },
  };
}

async function compare(
  before: View,
  now: View,
  seen: ReadonlySet<string>,
  ask: Git,
  inside: readonly string[],
): Promise<GitChange> {
  const git = gitAt(ask, now.root);
  const commits = await countNewCommits(now.branches, seen, git);
  const committed =
    commits > 0 && before.head !== now.head ? await filesBetween(before.head, now, git) : [];
  const changed = await changedFiles(now.root, before.dirty, now.dirty, committed);
  return { commits, ...countFiles(now.root, [...changed, ...inside]) };
}

/** Counts changed files, and returns the absolute path if there is only one. The names have one character per byte. */
export function countFiles(
  root: string,
  names: readonly string[],
): Pick<GitChange, 'filesChanged' | 'onlyFile'> {
  const [name, ...more] = new Set(names);
  const isOnly = name !== undefined && more.length === 0;
  return {
    filesChanged: name === undefined ? 0 : 1 + more.length,
    ...(isOnly ? { onlyFile: path.join(root, asText(name)) } : {}),
  };
}

async function filesBetween(
  before: string | null,
  { head, pathspecs }: View,
  git: Git,
): Promise<readonly string[]> {
  if (head === null) return [];
  const from = before ?? emptyTree({ hash: head.length === 64 ? 'sha256' : 'sha1' });
  const changes = await orNull(changesBetween(git, from, head, { isWhole: true, pathspecs }));
  return [...(changes?.keys() ?? [])];
}
