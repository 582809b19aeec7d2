import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type DirtyFiles, isSameFile, markDirtyFiles } from './dirty-files.ts';
import { runGit } from './git-command.ts';

/*
 * Signs of progress in a git work tree: what git calls changed or untracked is compared, file by
 * file, with how it was at the mark, so that old dirt counts only where it has changed further.
 *
 *   mark ──► iteration ──► since ──► iteration ──► since …     one look an iteration
 *                            │
 *                            └──► --after ──► mark ──► …       where something else has run
 *
 * A look is two git processes side by side: `status` for HEAD and files, `for-each-ref` for
 * branches. Two more run only where there are commits that had not been seen.
 */

export interface GitProgressRequest {
  readonly cwd: string;
  /** Absolute folders in which nothing counts: the vault's own and the state folder. */
  readonly excluded: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** For one look. */
  readonly timeoutMs?: number;
  /** Ends a look at once. */
  readonly signal?: AbortSignal;
}

/** What has come about since the mark. */
interface GitChange {
  /** Commits that no branch, tag or HEAD had led to before. Amending and rebasing make such. */
  readonly commits: number;
  /** Files that hold something else than at the mark, new, deleted and committed ones included. */
  readonly filesChanged: number;
}

export interface GitProgress {
  /**
   * Notes how things stand, to be called before the first iteration and where something but the
   * agent has run. Resolves to the id of HEAD; null without a commit or outside a work tree.
   */
  mark(): Promise<string | null>;
  /**
   * What has changed since the mark; null where nothing can tell. What it finds is the next mark.
   * Where it cannot look the old mark stays, so that nothing is lost.
   */
  since(): Promise<GitChange | null>;
}

/** How things stood at one moment. */
interface View {
  readonly root: string;
  /** Null before the first commit. */
  readonly head: string | null;
  /** Where branches stand that this work tree may have moved. */
  readonly branches: readonly string[];
  /** All that could be seen: HEAD and every ref. */
  readonly tips: readonly string[];
  readonly dirty: DirtyFiles;
}

const TIMEOUT_MS = 30_000;
/** After so many looks in a row that took too long, no more are taken: each would cost as much. */
const SLOW_LOOKS_AT_MOST = 2;

/** Watches the work tree that `cwd` lies in, whenever there is one. Never rejects. */
export function createGitProgress(request: GitProgressRequest): GitProgress {
  const { env, signal, timeoutMs = TIMEOUT_MS } = request;
  let mark: View | null = null;
  let tree: WorkTree | null = null;
  let slowLooks = 0;
  const seen = new Set<string>();

  const git = (cwd: string, args: readonly string[], input?: string): Promise<string | null> =>
    runGit({ cwd, args, env, timeoutMs, signal, ...(input === undefined ? {} : { input }) });

  const look = async (): Promise<View | null> => {
    if (slowLooks >= SLOW_LOOKS_AT_MOST) return null;
    const startedAtMs = performance.now();
    const place = findGitAbove(request.cwd);
    if (place === null) return null;
    // The agent may have made a repository, or removed one.
    if (tree?.place !== place) tree = await findWorkTree(request, place, git);
    const view = tree === null ? null : await readView(tree, mark?.dirty ?? null, git);
    const tookTooLong = view === null && performance.now() - startedAtMs >= timeoutMs;
    slowLooks = tookTooLong ? slowLooks + 1 : 0;
    return view;
  };
  const keep = (view: View): void => {
    mark = view;
    for (const tip of view.tips) seen.add(tip);
  };

  return {
    async mark() {
      const view = await look();
      // An older mark would count what others have done since.
      mark = null;
      if (view !== null) keep(view);
      return view?.head ?? null;
    },
    async since() {
      const before = mark;
      const now = await look();
      if (now === null) return null;
      const change =
        before?.root === now.root
          ? await compare(before, now, seen, (...call) => git(now.root, ...call), tree)
          : null;
      keep(now);
      return change;
    },
  };
}

type Git = (args: readonly string[], input?: string) => Promise<string | null>;
type GitIn = (cwd: string, ...call: Parameters<Git>) => Promise<string | null>;

/** Where git works, and what it is told to leave out. */
interface WorkTree {
  /** The nearest folder upward that has a `.git`. */
  readonly place: string;
  readonly root: string;
  readonly pathspecs: readonly string[];
}

/** Where no folder upward has a `.git`, no process needs to be started to know that. */
function findGitAbove(cwd: string): string | null {
  let folder = realPath(cwd);
  while (!existsSync(path.join(folder, '.git'))) {
    const parent = path.dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return folder;
}

async function findWorkTree(
  { cwd, excluded }: GitProgressRequest,
  place: string,
  git: GitIn,
): Promise<WorkTree | null> {
  const output = await git(cwd, ['rev-parse', '--show-toplevel']);
  if (output === null) return null;
  const root = Buffer.from(output, 'latin1').toString().replace(/\n$/, '');
  const inside = excluded
    .flatMap((folder) => [
      // As git names it, and where it leads if it is a link.
      path.join(realPath(path.dirname(folder)), path.basename(folder)),
      realPath(folder),
    ])
    .filter((folder) => isInside(folder, root) && folder !== root)
    .map((folder) => `:(top,exclude,literal)${path.relative(root, folder)}`);
  return { place, root, pathspecs: inside.length === 0 ? [] : ['--', ...new Set(inside)] };
}

const STATUS = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-ahead-behind',
  '--no-renames',
  '--untracked-files=all',
  // Whether a submodule stands elsewhere, without a process in each of them.
  '--ignore-submodules=dirty',
];
const REFS = ['for-each-ref', '--format=%(objectname) %(refname) %(worktreepath)'];

async function readView(
  { root, pathspecs }: WorkTree,
  earlier: DirtyFiles | null,
  git: GitIn,
): Promise<View | null> {
  const [status, refs] = await Promise.all([git(root, [...STATUS, ...pathspecs]), git(root, REFS)]);
  if (status === null || refs === null) return null;
  const { head, names } = readStatus(status);
  const own = head === null ? [] : [head];
  const { branches, tips } = readRefs(refs, root);
  return {
    root,
    head,
    branches: [...own, ...branches],
    tips: [...own, ...tips],
    dirty: await markDirtyFiles(root, names, earlier),
  };
}

/** The path stands last: behind 7 fields, behind 9 where it is in conflict. */
const ENTRY = /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )([\s\S]+)$/;

function readStatus(output: string): { head: string | null; names: readonly string[] } {
  let head: string | null = null;
  const names: string[] = [];
  for (const entry of output.split('\0')) {
    const name = ENTRY.exec(entry)?.[1];
    if (name !== undefined) names.push(name);
    else head ??= /^# branch\.oid ([0-9a-f]{40,64})$/.exec(entry)?.[1] ?? null;
  }
  return { head, names };
}

/**
 * A branch that is checked out in a work tree elsewhere is the business of whoever works there:
 * loops in two work trees of one repository must not take each other's commits for their own.
 */
function readRefs(output: string, root: string): { branches: string[]; tips: string[] } {
  const branches: string[] = [];
  const tips: string[] = [];
  for (const line of output.split('\n')) {
    const [, tip, name = '', place = ''] = /^(\S+) (\S+) (.*)$/.exec(line) ?? [];
    if (tip === undefined) continue;
    tips.push(tip);
    const folder = Buffer.from(place, 'latin1').toString();
    if (name.startsWith('refs/heads/') && (folder === '' || isInside(folder, root))) {
      branches.push(tip);
    }
  }
  return { branches, tips };
}

async function compare(
  before: View,
  now: View,
  seen: ReadonlySet<string>,
  git: Git,
  tree: WorkTree | null,
): Promise<GitChange> {
  const fresh = now.branches.filter((tip) => !seen.has(tip));
  const commits = fresh.length === 0 ? 0 : await countCommits(fresh, seen, git);
  const committed =
    commits > 0 && before.head !== now.head
      ? await filesBetween(before.head, now.head, tree?.pathspecs ?? [], git)
      : [];
  const gone = [...before.dirty.keys()].filter((name) => !now.dirty.has(name));
  // What git no longer speaks of was committed, put back, deleted or is ignored now.
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
  git: Git,
): Promise<number> {
  // On standard input, since a repository may have more refs than a command line holds; what was
  // seen may be gone since.
  const input = [...fresh, ...[...seen].map((tip) => `^${tip}`)].join('\n');
  const output = await git(['rev-list', '--count', '--ignore-missing', '--stdin'], `${input}\n`);
  return output === null ? fresh.length : Number.parseInt(output, 10);
}

/** The tree without a file, which every repository knows; which one, its ids' length tells. */
const EMPTY_TREE: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

async function filesBetween(
  before: string | null,
  now: string | null,
  pathspecs: readonly string[],
  git: Git,
): Promise<readonly string[]> {
  const from = before ?? EMPTY_TREE[now?.length ?? 0];
  if (from === undefined || now === null) return [];
  const output = await git([
    'diff-tree',
    '-r',
    '-z',
    '--name-only',
    '--no-renames',
    '--ignore-submodules=dirty',
    from,
    now,
    ...pathspecs,
  ]);
  return (output ?? '').split('\0').filter((name) => name !== '');
}

function isInside(folder: string, root: string): boolean {
  const way = path.relative(root, folder);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Without links as far as the path exists. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPath(parent), path.basename(file));
  }
}
