import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { LineChanges } from '../../../core/task/line-changes.ts';
import { type RunGit, runGit } from '../../git/call/git-command.ts';
import { gitIn } from '../../git/git.ts';
import { readNumstat } from '../../git/listings.ts';
import { headSign, type Repository, readHead, timeOf } from '../../git/repository.ts';
import { asText } from '../../git/tree-path.ts';
import {
  countFiles,
  createGitProgress,
  type GitChange,
  type GitProgress,
  type GitProgressRequest,
} from '../../workspace/git-progress.ts';
import { REFS, tipsIn } from '../../workspace/git-view.ts';
import { createInnerRepositories } from '../../workspace/inner-repositories.ts';
import { countNewCommits } from '../../workspace/new-commits.ts';
import type { TreeKeeper } from './tree-keeper.ts';

/** For one call of git, in ms. */
const TIMEOUT_MS = 30_000;
/** A finished task must not wait long for its summary. */
const IN_ALL_TIMEOUT_MS = 10_000;

/**
 * Finds progress from the snapshots of a task, so that nothing is looked at twice, and in the repositories inside.
 * While no snapshot can be made, `git status` is asked instead.
 */
export function createTreeProgress(keeper: TreeKeeper, request: GitProgressRequest): GitProgress {
  const { env, runId, signal } = request;
  const { repository } = keeper.git;
  const inner = createInnerRepositories(request);
  const byStatus = createGitProgress(request, inner);
  const seen = new Set<string>();
  let sign: string | null = null;
  let usesStatus = false;
  const git: RunGit = (cwd, args, extras) =>
    runGit({ timeoutMs: TIMEOUT_MS, ...extras, cwd, args, env, runId, signal });
  const here = gitIn(repository.root, { timeoutMs: TIMEOUT_MS, env, runId, signal });
  const isBlind = (): boolean => !keeper.isWorking || !keeper.isHere();

  /** Adds the tips of all refs to those that were seen; resolves to the number of new commits and HEAD. */
  const lookAtCommits = async () => {
    const signNow = branchSign(repository);
    // A HEAD that git cannot read stops no task.
    const head = keeper.store.head ?? (await readHead(here).catch(() => null));
    const refs = (await git(repository.root, REFS)) ?? '';
    const { branches, tips } = tipsIn(refs, repository.root, head?.commit ?? null);
    const isFirst = sign === null;
    const commits = isFirst
      ? 0
      : await countNewCommits(branches, seen, (args, input) =>
          git(repository.root, args, input === undefined ? {} : { input }),
        );
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
      const ask = (args: readonly string[]): Promise<string | null> =>
        runGit({
          ...{ cwd: repository.root, args, env, runId },
          ...{ timeoutMs: IN_ALL_TIMEOUT_MS, signal: hurry },
        });
      const tips = ['HEAD', ...branches.map((name) => `refs/heads/${name}`)];
      // Somebody may have removed a branch.
      const range = base === null ? ['HEAD'] : [...tips, `^${base}`];
      const { store } = keeper;
      const isWhereItBegan =
        base !== null && branches.length === 0 && store.head?.commit === base && !store.hasMoved();
      const count = isWhereItBegan
        ? '0'
        : await ask(['rev-list', '--count', '--ignore-missing', ...range]);
      const isSame = ends.first === ends.newest;
      const counted = isSame ? '' : await ask([...NUMSTAT, ends.first, ends.newest]);
      if (count === null || counted === null) return null;
      const commits = Number.parseInt(count, 10);
      // The base is unknown, or the first commit was made since.
      if (base === null && commits > 0) return null;
      return { commits, ...addUp(counted, inner.changedInAll) };
    },
  };
}

/**
 * Returns a text that changes whenever HEAD or any branch may have moved, without starting git: the agent may commit
 * to another branch than it has checked out.
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
    // Git moves branches meanwhile.
    return [];
  }
}

const NUMSTAT = [
  ...['diff-tree', '-r', '-z', '--numstat', '--no-renames'],
  ...['--no-ext-diff', '--no-textconv'],
];

/** More files are only counted. */
const NAMED_AT_MOST = 5;

/** Adds up the files, with those in `further`, and the lines; a binary file has no lines. */
function addUp(output: string, further: Iterable<string>) {
  const counted = readNumstat(output);
  const sum = (side: keyof LineChanges): number =>
    [...counted.values()].reduce((total, lines) => total + (lines?.[side] ?? 0), 0);
  const names = new Set([...counted.keys(), ...further]);
  return {
    filesChanged: names.size,
    ...(names.size > 0 && names.size <= NAMED_AT_MOST ? { names: [...names].map(asText) } : {}),
    lines: { added: sum('added'), removed: sum('removed') },
  };
}
