import { setTimeout as sleep } from 'node:timers/promises';
import { realPath } from '../../files/real-path.ts';
import { askGit, type Git } from '../call/git.ts';
import type { GitAnswer } from '../call/git-command.ts';
import { outputOf, reasonOf } from '../git-error.ts';
import { lockIn } from '../git-locks.ts';
import { only } from '../pathspecs.ts';
import { asText, type TreePath } from '../tree-path.ts';

/** Writes the files of HEAD to the index and the work tree, and overwrites changes. Rejects with a `GitError`. */
export async function checkOutHead(git: Git): Promise<void> {
  outputOf(await askGit(git, ['reset', '--hard', '--quiet']));
}

/** Checks a submodule out at the commit that the index names, without network. Ignores a failure of git. */
export async function checkOutSubmodule(git: Git, name: TreePath): Promise<void> {
  const how = ['--quiet', 'update', '--no-fetch', '--checkout', '--recursive'];
  await askGit(git, ['submodule', ...how, ...only([asText(name)])]);
}

/** Ends a rebase, a merge or the like, and leaves all files as they are. Rejects with a `GitError`. */
export async function quit(git: Git, operation: string): Promise<void> {
  outputOf(await askGit(git, [operation, '--quit']));
}

/** Makes files and index those of a commit. Removes all other files, even ignored ones. Rejects with a `GitError`. */
export async function becomeCommit(git: Git, commit: string): Promise<void> {
  outputOf(await askGit(git, ['reset', '--hard', '--quiet', commit]));
  outputOf(await askGit(git, ['clean', '-ffdxq']));
}

/** Overrides settings. Git is quiet, since it would die in the middle if it printed anything after ralph was killed. */
const MERGE = [
  ...['merge', '--quiet', '--no-edit', '--no-stat', '--no-autostash'],
  ...['--no-gpg-sign', '--no-verify-signatures'],
];

/** Merges a commit into the work tree and the index, but commits nothing. Resolves to null, or to why git did not. */
export async function mergeFiles(git: Git, other: string): Promise<string | null> {
  const how = ['--no-ff', '--no-commit', '--no-rerere-autoupdate'];
  const answer = await askGit(git, [...MERGE, ...how, other]);
  return answer.exitCode === 0 ? null : reasonOf(answer);
}

/** Why a branch did not move forward. */
export interface NotForwarded {
  /** What git said, as a clause. */
  readonly why: string;
  /** The files that git would have written over. */
  readonly inTheWay: readonly string[];
  /** Whether the index was locked, so that git did not begin. */
  readonly isLocked: boolean;
}

/** Moves the checked-out branch and its files forward to a later commit. Resolves to null, or to why git did not. */
export async function forwardTo(git: Git, commit: string): Promise<NotForwarded | null> {
  const how = ['--ff-only', '--no-overwrite-ignore', '--no-squash'];
  const answer = await askGit(git, [...MERGE, ...how, commit]);
  if (answer.exitCode === 0) return null;
  const named = asText(answer.complaint).matchAll(/^\t(.+)$/gm);
  return {
    why: reasonOf(answer),
    inTheWay: [...named].map(([, name = '']) => name),
    isLocked: lockIn(answer.complaint)?.includes('index.lock ') === true,
  };
}

/** One entry of `git worktree list`. */
export interface ListedTree {
  /** Absolute path, with symbolic links resolved. It need not exist. */
  readonly path: string;
  /** The full name of the branch; null if HEAD is detached. */
  readonly branch: string | null;
}

/** Lists the work trees of a repository, even those whose folders are gone. Rejects with a `GitError`. */
export async function workTrees(git: Git): Promise<readonly ListedTree[]> {
  const list = ['worktree', 'list', '--porcelain'];
  const answer = await askPastOthers(git, [...list, '-z']);
  // Git before 2.36 knows no `-z`; a path with a line break is then cut.
  const plain = answer.exitCode === 0 ? answer : await askPastOthers(git, list);
  const end = plain === answer ? '\0' : '\n';
  return asText(outputOf(plain))
    .split(end + end)
    .flatMap((entry) => {
      const lines = entry.split(end);
      const fieldOf = (name: string): string | null =>
        lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? null;
      const found = fieldOf('worktree');
      return found === null ? [] : [{ path: realPath(found), branch: fieldOf('branch') }];
    });
}

/** Adds a work tree with only a `.git` in its folder, on a branch or at a commit. Rejects with a `GitError`. */
export async function addWorkTree(
  git: Git,
  place: string,
  at: { readonly branch: string } | { readonly commit: string },
): Promise<void> {
  const target = 'branch' in at ? [place, at.branch] : ['--detach', place, at.commit];
  const add = ['worktree', 'add', '--quiet', '--no-checkout', ...target];
  outputOf(await askPastOthers(git, add));
}

/** Removes a work tree with all that is in it, even if its folder is already gone. Rejects with a `GitError`. */
export async function removeWorkTree(git: Git, place: string): Promise<void> {
  // Given twice, `--force` also removes submodules, and an entry that a killed git left locked.
  outputOf(await askPastOthers(git, ['worktree', 'remove', '--force', '--force', place]));
}

/** Returns the root of the repository that has this one as a submodule; null if this one is not a submodule. */
export async function rootAround(git: Git): Promise<string | null> {
  const { output } = await askGit(git, ['rev-parse', '--show-superproject-working-tree']);
  return output === '' ? null : asText(output).replace(/\n$/, '');
}

/** On a busy machine, another git may take seconds to add or remove a work tree. These tries take about 10 s in all. */
const MOST_TRIES = 20;
const BETWEEN_TRIES_MS = 50;

/** Asks git, and asks again as long as it fails because another work tree is half added or half removed. */
async function askPastOthers(git: Git, args: readonly string[]): Promise<GitAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await askGit(git, args);
    const isOfAnother = answer.exitCode !== 0 && /worktrees\/.*commondir/.test(answer.complaint);
    if (!isOfAnother || tries === MOST_TRIES) return answer;
    await sleep(BETWEEN_TRIES_MS * tries);
  }
}
