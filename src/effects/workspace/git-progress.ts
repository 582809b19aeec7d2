import { monotonicMs } from '../time/monotonic.ts';
import { isSameFile, markDirtyFiles } from './dirty-files.ts';
import { type RunGit, runGit } from './git-command.ts';
import { findGitAbove, findWorkTree, readView, type View, type WorkTree } from './git-view.ts';

/*
 * Signs of progress in a git work tree: every file that git calls changed or untracked is compared
 * with its state at the mark, so that earlier changes count only if the file has changed further.
 *
 *   mark ──► iteration ──► since ──► iteration ──► since …     one look per iteration
 *                            │
 *                            └──► --after ──► mark ──► …       after something else has run
 *
 * A look runs two git processes in parallel: `status` for HEAD and files, `for-each-ref` for
 * branches. Two more run only for commits not seen before, and one before them if the repository
 * may have filters.
 */

export interface GitProgressRequest {
  readonly cwd: string;
  /** Absolute folders that do not count: the vault's own and the state folder. */
  readonly excluded: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The run this is for; marks the processes that git starts. */
  readonly runId?: string;
  /** For one look. */
  readonly timeoutMs?: number;
  /** Ends a look at once. */
  readonly signal?: AbortSignal;
}

/** What has changed since the mark. */
interface GitChange {
  /** Commits that no branch, tag or HEAD led to before, including amended and rebased ones. */
  readonly commits: number;
  /** Files whose content differs from the mark; new, deleted and committed ones included. */
  readonly filesChanged: number;
}

export interface GitProgress {
  /** Whether there is no repository now; a look then runs nothing. */
  readonly isIdle: boolean;
  /**
   * Records the current state. Call it before the first iteration, and after anything but the agent
   * has run. Resolves to the id of HEAD; null without a commit or outside a work tree.
   */
  mark(): Promise<string | null>;
  /**
   * Returns what has changed since the mark, and sets the next mark; null if unknown. If the look
   * fails, the old mark stays, so that nothing is lost.
   */
  since(): Promise<GitChange | null>;
  /**
   * Returns what has changed since the task began at this commit, including by `--after`. If
   * another process began the task, everything uncommitted counts. Null if that takes too long.
   */
  inAll(base: string, hurry: AbortSignal): Promise<GitChange | null>;
}

const TIMEOUT_MS = 30_000;
/** Limit for the whole of `inAll`: a finished task must not wait for its summary. */
const IN_ALL_TIMEOUT_MS = 2_000;
/** After this many timeouts in a row no more looks are made, since each would take as long. */
const SLOW_LOOKS_AT_MOST = 2;

/** Watches the work tree around `cwd`, whenever there is one. Never rejects. */
export function createGitProgress(request: GitProgressRequest): GitProgress {
  const { env, runId, signal, timeoutMs = TIMEOUT_MS } = request;
  let first: View | null = null;
  let mark: View | null = null;
  let tree: WorkTree | null = null;
  let slowLooks = 0;
  const seen = new Set<string>();

  const git: RunGit = (cwd, args, extras) =>
    runGit({ ...extras, cwd, args, env, runId, timeoutMs, signal });

  const viewBy = async (askGit: RunGit): Promise<View | null> => {
    const place = findGitAbove(request.cwd);
    if (place === null) return null;
    // The agent may have created or removed a repository.
    if (tree?.place !== place) tree = await findWorkTree(request, place, askGit);
    return tree === null ? null : readView(tree, mark?.dirty ?? null, askGit);
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
      // An older mark would count changes that others have made since.
      mark = null;
      if (view !== null) keep(view);
      return view?.head ?? null;
    },
    async since() {
      const before = mark;
      const now = await look();
      if (now === null) return null;
      const change = before?.root === now.root ? await compare(before, now, seen, git) : null;
      keep(now);
      return change;
    },
    async inAll(base, hurry) {
      if (first === null || slowLooks >= SLOW_LOOKS_AT_MOST) return null;
      const deadlineMs = monotonicMs() + IN_ALL_TIMEOUT_MS;
      // A request to stop must not prevent the summary, so the other signal is used here.
      const ask: RunGit = (cwd, args, extras) => {
        const timeLeftMs = Math.max(1, deadlineMs - monotonicMs());
        return runGit({ ...extras, cwd, args, env, runId, timeoutMs: timeLeftMs, signal: hurry });
      };
      const now = await viewBy(ask);
      if (now === null || now.root !== first.root) return null;
      const before =
        first.head === base ? first : { ...first, head: base, tips: [base], dirty: new Map() };
      const here =
        before === first ? now : { ...now, branches: now.head === null ? [] : [now.head] };
      const change = await compare(before, here, new Set(before.tips), ask);
      return monotonicMs() > deadlineMs ? null : change;
    },
  };
}

/** Runs git in the work tree. */
type GitHere = (args: readonly string[], input?: string) => Promise<string | null>;

async function compare(
  before: View,
  now: View,
  seen: ReadonlySet<string>,
  gitIn: RunGit,
): Promise<GitChange> {
  const git: GitHere = (args, input) => gitIn(now.root, args, input === undefined ? {} : { input });
  const fresh = now.branches.filter((tip) => !seen.has(tip));
  const commits = fresh.length === 0 ? 0 : await countCommits(fresh, seen, git);
  const committed =
    commits > 0 && before.head !== now.head
      ? await filesBetween(before.head, now.head, now.pathspecs, git)
      : [];
  const gone = [...before.dirty.keys()].filter((name) => !now.dirty.has(name));
  // Files that git no longer lists were committed, reverted, deleted, or are ignored now.
  const clean = await markDirtyFiles(now.root, gone, before.dirty);
  let filesChanged = 0;
  for (const name of new Set([...now.dirty.keys(), ...gone, ...committed])) {
    const then = before.dirty.get(name);
    const since = now.dirty.get(name) ?? clean.get(name);
    if (then === undefined || since === undefined || !isSameFile(then, since)) filesChanged += 1;
  }
  return { commits, filesChanged };
}

async function countCommits(
  fresh: readonly string[],
  seen: ReadonlySet<string>,
  git: GitHere,
): Promise<number> {
  // On standard input, since there may be more refs than a command line can hold; some seen commits
  // may no longer exist.
  const input = [...fresh, ...[...seen].map((tip) => `^${tip}`)].join('\n');
  const output = await git(['rev-list', '--count', '--ignore-missing', '--stdin'], `${input}\n`);
  return output === null ? fresh.length : Number.parseInt(output, 10);
}

/** The empty tree, which every repository knows; the length of an id tells which hash is in use. */
const EMPTY_TREE: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

async function filesBetween(
  before: string | null,
  now: string | null,
  pathspecs: readonly string[],
  git: GitHere,
): Promise<readonly string[]> {
  const from = before ?? EMPTY_TREE[now?.length ?? 0];
  if (from === undefined || now === null) return [];
  const output = await git([
    'diff-tree',
    '-r',
    '-z',
    '--name-only',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--ignore-submodules=dirty',
    from,
    now,
    ...pathspecs,
  ]);
  return (output ?? '').split('\0').filter((name) => name !== '');
}
