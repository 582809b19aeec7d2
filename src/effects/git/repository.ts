import { lstatSync, type PathLike } from 'node:fs';
import path from 'node:path';
import { KB, MB, readTextWithin, tryReadText } from '../files/bounded-read.ts';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import { GitError, reasonOf } from './git-error.ts';
import { asText } from './tree-path.ts';

/** Where a work tree's repository keeps its parts; all paths are absolute. */
export interface Places {
  readonly root: string;
  readonly gitDir: string;
  /** Shared by all linked work trees: it holds the refs and the objects. */
  readonly commonDir: string;
  readonly objects: string;
  /** The user's index. It may not exist yet. */
  readonly index: string;
  readonly exclude: string;
  readonly hash: 'sha1' | 'sha256';
}

/** A repository, and what its configuration says. */
export interface Repository extends Places {
  /** The file of ignore patterns that the configuration names; null for git's default. */
  readonly excludesFile: string | null;
}

const PLACES = [
  '--show-toplevel',
  '--absolute-git-dir',
  '--git-common-dir',
  ...['objects', 'index', 'info/exclude'].flatMap((name) => ['--git-path', name]),
  '--show-object-format',
];

/** Returns where the repository around a folder is; null if there is none, or git refuses to open it. */
export async function findPlaces(cwd: string, git: Git): Promise<Places | null> {
  const answer = outputOrNull(await askGit(git, ['rev-parse', ...PLACES], { cwd }));
  if (answer === null) return null;
  const lines = asText(answer).split('\n');
  const [root, gitDir, common, objects, index, exclude, hash] = lines;
  if (root === undefined || gitDir === undefined || hash === undefined) return null;
  const at = (place: string | undefined): string => path.resolve(cwd, place ?? '');
  return {
    root,
    gitDir,
    commonDir: at(common),
    objects: at(objects),
    index: at(index),
    exclude: at(exclude),
    hash: hash === 'sha256' ? 'sha256' : 'sha1',
  };
}

/** Returns the repository around a folder; null if there is none, or git refuses to open it. */
export async function findRepository(cwd: string, git: Git): Promise<Repository | null> {
  const places = await findPlaces(cwd, git);
  return places && { ...places, excludesFile: await askForExcludesFile(cwd, git) };
}

/** Asks git for the file of ignore patterns that the configuration names; null if it names none. */
export async function askForExcludesFile(cwd: string, git: Git): Promise<string | null> {
  const question = ['config', '--type=path', '--get', 'core.excludesFile'];
  const named = outputOrNull(await askGit(git, question, { cwd }));
  return named === null ? null : asText(named).replace(/\n$/, '');
}

/** Asks git for the root of the work tree in which it runs; null if there is none, or git refuses to open it. */
export async function rootOf(git: Git): Promise<string | null> {
  const output = outputOrNull(await askGit(git, ['rev-parse', '--show-toplevel']));
  return output === null ? null : asText(output).replace(/\n$/, '');
}

/** Returns the full name of a branch such as `main`. */
export function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

/** The commit of HEAD and the branch it is on. */
export interface Head {
  /** Null before the first commit. */
  readonly commit: string | null;
  /** The full name of the ref, or null if HEAD is detached. */
  readonly branch: string | null;
}

/** Asks git for HEAD. The commit is null only for a branch without commits. Rejects with a `GitError` if git fails. */
export async function readHead(git: Git): Promise<Head> {
  const both = await askGit(git, ['rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD']);
  const [commit, name] = both.exitCode === 0 ? both.output.trimEnd().split('\n') : [];
  // If git finds the name ambiguous, it leaves the name out.
  if (commit !== undefined && name !== undefined) {
    return { commit, branch: name === 'HEAD' ? null : name };
  }
  const named = await askGit(git, ['symbolic-ref', '-q', 'HEAD']);
  // `HEAD^{commit}` would not do: for a lost object, git would answer as if there were no commit.
  const found = await askGit(git, ['rev-parse', '-q', '--verify', 'HEAD']);
  const branch = named.exitCode === 0 ? named.output.trim() : null;
  const isUnborn = found.exitCode === 1 && branch !== null;
  if (found.exitCode === 0 || isUnborn) {
    return { commit: isUnborn ? null : found.output.trim(), branch };
  }
  const failed = named.exitCode === 1 ? found : named;
  throw new GitError(`git cannot read HEAD: ${reasonOf(failed)}`);
}

/** Returns the id of the tree without files, which every repository knows. */
export function emptyTree({ hash }: Pick<Repository, 'hash'>): string {
  return hash === 'sha256'
    ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
    : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
}

/** Whether two readings of HEAD name the same branch, and the same commit. */
export function isSameHead(one: Head, other: Head): boolean {
  return one.branch === other.branch && one.commit === other.commit;
}

/**
 * Returns a text that changes whenever HEAD or its branch may have moved, without starting git. The same text means the
 * same HEAD; if the text differs, HEAD itself has to be read and compared, since `git gc` and other writes of refs
 * change the text, too.
 */
export function headSign({ gitDir, commonDir }: Places): string {
  const signs = [contentOf(path.join(gitDir, 'HEAD'))];
  // A branch may be a symbolic ref, which stands for another branch.
  while (signs.length <= MOST_LINKS) {
    const name = /^ref: (.+)/.exec(signs.at(-1) ?? '')?.[1];
    if (name === undefined) break;
    signs.push(contentOf(path.join(commonDir, name)));
  }
  if (signs.at(-1) === MISSING) signs.push(timeOf(path.join(commonDir, 'packed-refs')));
  const tables = [commonDir, gitDir].map((dir) => timeOf(path.join(dir, 'reftable/tables.list')));
  return [...signs, ...tables].join('\n');
}

/** Git itself follows no more symbolic refs than this. */
const MOST_LINKS = 5;

/** Returns a text that changes whenever a file was written. */
export function timeOf(file: PathLike): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = lstatSync(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return MISSING;
  }
}

/** What stands for the time of a file that is missing or cannot be looked at. */
const MISSING = 'none';

function contentOf(file: string): string {
  try {
    return readTextWithin(file, 64 * KB);
  } catch {
    return timeOf(file);
  }
}

/** Returns the content of a file, or '' if it cannot be read. */
export function textOrNone(file: string): string {
  return tryReadText(file, 16 * MB) ?? '';
}
