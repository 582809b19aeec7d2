import { askGit, type Git } from '../call/git.ts';
import { outputOf } from '../git-error.ts';
import { type ReadPush, readPush, refusalIn } from './origin-answer.ts';

/*
 * Git and another repository: it fetches from there, lists what is there, and pushes. The other one is a URL or a folder.
 */

/** It takes nothing but what it is asked for, and leaves nothing else behind. */
const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
  '--no-recurse-submodules',
];

/** A commit by its whole id, or a ref there and here: `+refs/heads/*:refs/origin/heads/*`. */
export type Refspec = string;

/** Fetches commits and refs. Rejects with a `GitError`. */
export async function fetchFrom(
  git: Git,
  from: string,
  refspecs: readonly Refspec[],
  { prune = false }: { readonly prune?: boolean } = {},
): Promise<void> {
  const args = [...FETCH, ...(prune ? ['--prune'] : []), '--', from, ...refspecs];
  outputOf(await askGit(git, args));
}

/** What another repository has. */
export type ListedThere =
  | { readonly kind: 'listed'; readonly refs: ReadonlyMap<string, string> }
  | { readonly kind: 'failed'; readonly complaint: string };

/** Lists the refs there, and their ids: all below a name that ends with a slash, or the one of that name. */
export async function listThere(git: Git, there: string, name: string): Promise<ListedThere> {
  const isFolder = name.endsWith('/');
  const args = ['ls-remote', '--quiet', '--', there, isFolder ? `${name}*` : name];
  const { exitCode, output, complaint } = await askGit(git, args);
  if (exitCode !== 0) return { kind: 'failed', complaint };
  // Git matches a pattern at the end of longer names, too, and names what a tag leads to.
  const refs = [...output.matchAll(/^([0-9a-f]+)\t(.+)$/gm)].flatMap(([, id = '', ref = '']) =>
    (isFolder ? ref.startsWith(name) : ref === name) ? [[ref, id] as const] : [],
  );
  return { kind: 'listed', refs: new Map(refs) };
}

/** The worker's own settings must not add anything to a push. */
const PUSH = ['push', '--porcelain', '--no-verify', '--no-signed'];

/** Makes a ref there hold a commit, by compare and swap; with `expected` null it must not be there. */
export async function pushTo(
  git: Git,
  url: string,
  [commit, ref]: readonly [string, string],
  expected: string | null,
): Promise<ReadPush> {
  const how = ['--no-follow-tags', `--force-with-lease=${ref}:${expected ?? ''}`];
  const { output, complaint } = await askGit(git, [...PUSH, ...how, '--', url, `${commit}:${ref}`]);
  return readPush(output, complaint, url, ref);
}

/** Why refs there were not removed; `reason` is in the words of the other side, and null if it said none. */
export interface NotRemoved {
  readonly reason: string | null;
  readonly complaint: string;
}

/** Removes refs there. Resolves to null if all are gone. */
export async function removeThere(
  git: Git,
  url: string,
  names: readonly string[],
): Promise<NotRemoved | null> {
  const { exitCode, output, complaint } = await askGit(git, [
    ...PUSH,
    '--delete',
    '--',
    url,
    ...names,
  ]);
  return exitCode === 0 ? null : { reason: refusalIn(output), complaint };
}

/** Makes a bare repository, without any template. Rejects with a `GitError`. */
export async function makeBare(git: Git, folder: string, hash: 'sha1' | 'sha256'): Promise<void> {
  const how = ['--bare', '--quiet', '--template=', `--object-format=${hash}`];
  const made = await askGit(git, ['init', ...how, folder]);
  outputOf(made, `git cannot make ${folder}: ${made.complaint}`);
}

/** Whether git cannot read all that the refs of a repository lead to. */
export async function isDamaged(git: Git): Promise<boolean> {
  const how = ['--connectivity-only', '--no-dangling', '--no-progress'];
  const { exitCode } = await askGit(git, ['fsck', ...how]);
  return exitCode !== null && exitCode !== 0;
}
