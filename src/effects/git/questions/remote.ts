import { askGit, type Git } from '../call/git.ts';
import { outputOf } from '../git-error.ts';
import { type ReadPush, readPush, refusalIn } from './origin-answer.ts';

/*
 * Fetches from another repository, lists its refs, and pushes to it. A URL or a folder names that repository, which is
 * called `there` below.
 */

/** Fetches nothing except for what was asked for, and leaves nothing else behind. */
const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
  '--no-recurse-submodules',
];

/** What to fetch: a commit by its full id, or a ref there and its name here: `+refs/heads/*:refs/origin/heads/*`. */
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

/** The refs of another repository with their ids, or git's complaint. */
export type ListedThere =
  | { readonly kind: 'listed'; readonly refs: ReadonlyMap<string, string> }
  | { readonly kind: 'failed'; readonly complaint: string };

/** Lists refs of another repository with their ids: all below `name` if `name` ends with a slash, else only `name`. */
export async function listThere(git: Git, there: string, name: string): Promise<ListedThere> {
  const isFolder = name.endsWith('/');
  const args = ['ls-remote', '--quiet', '--', there, isFolder ? `${name}*` : name];
  const { exitCode, output, complaint } = await askGit(git, args);
  if (exitCode !== 0) return { kind: 'failed', complaint };
  // Git also lists longer names that end like this one, and what a tag leads to.
  const refs = [...output.matchAll(/^([0-9a-f]+)\t(.+)$/gm)].flatMap(([, id = '', ref = '']) =>
    (isFolder ? ref.startsWith(name) : ref === name) ? [[ref, id] as const] : [],
  );
  return { kind: 'listed', refs: new Map(refs) };
}

/** These options keep the git settings of this machine from adding anything to a push. */
const PUSH = ['push', '--porcelain', '--no-verify', '--no-signed'];

/** Sets a ref there to a commit, if the ref holds the expected commit; `expected` null means that it must not exist. */
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

/** Why refs there were not removed; `reason` is what the other repository said, or null if it gave none. */
export interface NotRemoved {
  readonly reason: string | null;
  readonly complaint: string;
}

/** Removes refs there. Resolves to null if all are gone, and else to why not. */
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

/** Makes a bare repository without files from a template. Rejects with a `GitError`. */
export async function makeBare(git: Git, folder: string, hash: 'sha1' | 'sha256'): Promise<void> {
  const how = ['--bare', '--quiet', '--template=', `--object-format=${hash}`];
  const made = await askGit(git, ['init', ...how, folder]);
  outputOf(made, `git cannot make ${folder}: ${made.complaint}`);
}

/** Whether an object to which the refs of a repository lead is missing or unreadable; false if git did not answer. */
export async function isDamaged(git: Git): Promise<boolean> {
  const how = ['--connectivity-only', '--no-dangling', '--no-progress'];
  const { exitCode } = await askGit(git, ['fsck', ...how]);
  return exitCode !== null && exitCode !== 0;
}
