import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { LineChanges } from '../../../core/task/line-changes.ts';
import { gitIn } from '../../git/git.ts';
import { orNull } from '../../git/git-error.ts';
import { countLines } from '../../git/questions/diffs.ts';
import { countCommits } from '../../git/questions/history.ts';
import { listRefs } from '../../git/questions/refs.ts';
import { headSign, type Repository, readHead, refOf, timeOf } from '../../git/repository.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import {
  countFiles,
  createGitProgress,
  type GitChange,
  type GitProgress,
  type GitProgressRequest,
} from '../../workspace/git-progress.ts';
import { tipsIn } from '../../workspace/git-view.ts';
import { createInnerRepositories } from '../../workspace/inner-repositories.ts';
import { countNewCommits } from '../../workspace/new-commits.ts';
import type { TreeKeeper } from './tree-keeper.ts';

/** The limit for one call of git, in ms. */
const TIMEOUT_MS = 30_000;
/** The limit for counting all changes, in ms: a finished task must not wait long for its summary. */
const IN_ALL_TIMEOUT_MS = 10_000;

/**
 * Finds a task's progress from its snapshots, which saves a second look at the files, and looks into inner
 * repositories. While no snapshot can be made, asks `git status` instead.
 */
export function createTreeProgress(keeper: TreeKeeper, request: GitProgressRequest): GitProgress {
  const { env, runId, signal } = request;
  const { repository } = keeper.git;
  const inner = createInnerRepositories(request);
  const byStatus = createGitProgress(request, inner);
  const seen = new Set<string>();
  let sign: string | null = null;
  let usesStatus = false;
  const git = gitIn(repository.root, { env, runId, timeoutMs: TIMEOUT_MS, signal });
  const isBlind = (): boolean => !keeper.isWorking || !keeper.isHere();

  /** Adds the tips of all refs to `seen`; resolves to the number of new commits, and HEAD. */
  const lookAtCommits = async () => {
    const signNow = branchSign(repository);
    // The task goes on even if git cannot read HEAD.
    const head = keeper.store.head ?? (await readHead(git).catch(() => null));
    const refs = (await orNull(listRefs(git))) ?? [];
    const { branches, tips } = tipsIn(refs, repository.root, head?.commit ?? null);
    const isFirst = sign === null;
    const commits = isFirst ? 0 : await countNewCommits(branches, seen, git);
    for (const tip of tips) seen.add(tip);
    sign = signNow;
    return { commits, head: head?.commit ?? null };
  };

  return {
    get isIdle() {
      return byStatus.isIdle;
    },
    async mark() {
      usesStatus = isBlind();
      if (usesStatus) return byStatus.mark();
      keeper.tellInner((await inner.mark(repository.root)).repositories);
      return (await lookAtCommits()).head;
    },
    async since(): Promise<GitChange | null> {
      usesStatus ||= isBlind();
      if (usesStatus) return byStatus.since();
      const names = keeper.filesTouched();
      if (names === null) return null;
      const inside = await inner.since(repository.root);
      keeper.tellInner(inside.repositories);
      const isSame = sign !== null && branchSign(repository) === sign;
      return {
        commits: isSame ? 0 : (await lookAtCommits()).commits,
        ...countFiles(repository.root, [...names, ...inside.changed]),
      };
    },
    async inAll(base, hurry, branches = []) {
      const ends = keeper.ends();
      if (isBlind() || ends === null) return byStatus.inAll(base, hurry, branches);
      const limits = { timeoutMs: IN_ALL_TIMEOUT_MS, signal: hurry };
      const inTime = gitIn(repository.root, { env, runId, ...limits });
      const tips = base === null ? ['HEAD'] : ['HEAD', ...branches.map(refOf)];
      const { store } = keeper;
      const isWhereItBegan =
        base !== null && branches.length === 0 && store.head?.commit === base && !store.hasMoved();
      const commits = isWhereItBegan
        ? 0
        : await countCommits(inTime, tips, base === null ? [] : [base]);
      const { first: from, newest: to } = ends;
      const counted =
        from === to ? NOTHING : await countLines(inTime, { from, to }).catch(() => null);
      if (commits === null || counted === null) return null;
      // Without a base, commits that existed before the task would count, too.
      if (base === null && commits > 0) return null;
      return { commits, ...addUp(counted, inner.changedInAll) };
    },
  };
}

/**
 * Returns a text that changes if HEAD or any branch may have moved. An agent may commit to a branch that is not checked
 * out.
 */
function branchSign(repository: Repository): string {
  const { commonDir } = repository;
  const branches = filesBelow(path.join(commonDir, 'refs/heads'));
  const times = ['packed-refs', ...branches.map((name) => path.join('refs/heads', name))];
  return [
    headSign(repository),
    ...times.map((name) => `${name} ${timeOf(path.join(commonDir, name))}`),
  ].join('\n');
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // Git may be moving branches at this moment.
    return [];
  }
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
