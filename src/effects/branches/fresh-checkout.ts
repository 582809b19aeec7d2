import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRepository, type TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { tryReadText } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { removeTree } from '../files/remove-tree.ts';
import type { AskGit, GitAnswer } from '../git/git-command.ts';
import { GitError, reasonOf } from '../git/git-error.ts';
import { heldBy, indexInfo, readSettings, readStaged } from '../git/listings.ts';
import { type GitCall, type PrivateGit, quoted } from '../git/private-git.ts';
import type { Repository } from '../git/repository.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import { restoreFiltered } from '../snapshots/filtered-restore.ts';
import { idOf, requireTree } from '../snapshots/tree-files.ts';
import { requireObjects } from '../snapshots/verified.ts';

/*
 * A fresh checkout is a small repository of its own, beside the user's. It borrows the user's objects and
 * has copies of the user's refs, so that checks find the history; but nothing that is done in it, and no
 * kill, changes anything in the user's repository, not even `git worktree list`:
 *
 *   sign ──► repository ──► files of the tree, byte for byte ──► index of HEAD
 *
 * The sign says whose checkout it is. It comes first and goes last, so that what a killed ralph left can
 * be told from a folder of the user.
 */

export interface FreshCheckoutRequest {
  /** The git that keeps the task's snapshots: it knows the tree. */
  readonly git: PrivateGit;
  readonly ask: AskGit;
  /** Absolute path of the checkout. If it is another's, `-2` is added. */
  readonly folder: string;
  /** The commit for its HEAD; null before the first one. */
  readonly head: string | null;
  readonly tree: string;
  /** What is put on top of the tree; null removes a path. */
  readonly changes?: ReadonlyMap<TreePath, TreeEntry>;
}

export interface FreshCheckout {
  readonly folder: string;
  /** A folder for temporary files, empty. */
  readonly temporary: string;
  /** Removes all of it. Throws the system's error. */
  remove(): void;
}

/** Relative to the checkout. */
const SIGN = path.join('.git', 'ralph-checkout');
const SIGN_MAX_BYTES = 64 * 1024;
const MOST_NAMES = 100;

/**
 * Makes a checkout of exactly a tree, and removes what an earlier one of the same task left there. Rejects
 * with a `GitError` or the system's error; then nothing of it remains.
 */
export async function makeFreshCheckout(request: FreshCheckoutRequest): Promise<FreshCheckout> {
  const folder = freeFolder(request);
  const temporary = path.join(tmpdir(), `${TEMPORARY}${randomUUID()}`);
  const remove = (): void => {
    removeTree(temporary);
    removeWhole(folder);
  };
  try {
    mkdirSync(path.dirname(folder), { recursive: true });
    // Others may not read what they could not read in the work tree.
    mkdirSync(path.join(folder, '.git'), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(folder, SIGN), signOf(request.git, temporary), { mode: 0o600 });
    mkdirSync(temporary, { mode: 0o700 });
    await makeRepository(folder, request);
    await writeFiles(folder, request);
    if (request.head !== null) {
      await must(request.ask(folder, ['read-tree', 'HEAD']));
      // It complains of every file that is not as in HEAD.
      await request.ask(folder, ['update-index', '-q', '--refresh']);
    }
    return { folder, temporary, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Removes the checkouts of a task that are in or beside this folder. */
export function removeFreshCheckouts(git: PrivateGit, folder: string): void {
  for (const place of foldersLike(folder)) {
    if (whoseFolder(git, place) === 'own') removeWhole(place);
  }
}

function foldersLike(folder: string): readonly string[] {
  return Array.from({ length: MOST_NAMES }, (_, at) => (at === 0 ? folder : `${folder}-${at + 1}`));
}

/** Returns the first folder that is no one else's, with nothing in it. */
function freeFolder({ git, folder }: FreshCheckoutRequest): string {
  removeFreshCheckouts(git, folder);
  const free = foldersLike(folder).find((place) => whoseFolder(git, place) === 'nobody');
  if (free === undefined) throw new GitError(`${folder} and all its like are taken`);
  return free;
}

function whoseFolder(git: PrivateGit, folder: string): 'own' | 'nobody' | "another's" {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return 'nobody';
  const sign = tryReadText(path.join(folder, SIGN), SIGN_MAX_BYTES);
  if (sign !== null) return sign.startsWith(ownerOf(git)) ? 'own' : "another's";
  // Ralph was killed before it had written the sign, or after it had removed it.
  const isBare = isEmpty(folder, ['.git']) && isEmpty(path.join(folder, '.git'), []);
  return isBare ? 'nobody' : "another's";
}

/** The folder of a task is nobody else's, whatever the task is called. */
function ownerOf({ folder }: PrivateGit): string {
  return `${JSON.stringify(folder)}\n`;
}

function signOf(git: PrivateGit, temporary: string): string {
  return `${ownerOf(git)}${JSON.stringify(temporary)}\n`;
}

/** Whether a folder is missing, or is one that has nothing but these names. */
function isEmpty(folder: string, but: readonly string[]): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  return stats.isDirectory() && readdirSync(folder).every((name) => but.includes(name));
}

const TEMPORARY = 'ralph-check-';

/** The sign goes last: until then the next call finds out whose it is. */
function removeWhole(folder: string): void {
  const sign = path.join(folder, SIGN);
  const noted = tryReadText(sign, SIGN_MAX_BYTES)?.split('\n')[1];
  const temporary = noted === undefined ? '' : noted.slice(1, -1);
  if (path.dirname(temporary) === tmpdir() && path.basename(temporary).startsWith(TEMPORARY)) {
    removeTree(temporary);
  }
  for (const name of namesIn(folder)) if (name !== '.git') removeTree(path.join(folder, name));
  const gitDir = path.join(folder, '.git');
  for (const name of namesIn(gitDir)) {
    if (name !== path.basename(SIGN)) removeTree(path.join(gitDir, name));
  }
  rmSync(sign, { force: true });
  removeTree(folder);
  try {
    rmdirSync(path.dirname(folder));
  } catch {
    // The work trees of tasks are in it.
  }
}

/** Writes the files of a repository without any git: no template, no hook, no configuration but this. */
async function makeRepository(
  folder: string,
  { git: { repository }, ask, head }: FreshCheckoutRequest,
): Promise<void> {
  const gitDir = path.join(folder, '.git');
  const put = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(gitDir, name)), { recursive: true });
    writeFileSync(path.join(gitDir, name), content);
  };
  mkdirSync(path.join(gitDir, 'refs'));
  put('objects/info/alternates', `${alternate(repository.objects)}\n`);
  const isSha256 = repository.hash === 'sha256';
  const remotes = await remotesOf(repository, ask);
  put(
    'config',
    Buffer.from(
      [
        `[core]\nrepositoryformatversion = ${isSha256 ? 1 : 0}\nbare = false\n`,
        isSha256 ? '[extensions]\nobjectFormat = sha256\n' : '',
        ...remotes.map(({ name, url }) => `[remote ${quoted(name)}]\nurl = ${quoted(url)}\n`),
      ].join(''),
      'latin1',
    ),
  );
  put('HEAD', head === null ? 'ref: refs/heads/main\n' : `${head}\n`);
  const refs = await ask(repository.root, ['for-each-ref', '--format=%(objectname) %(refname)']);
  await must(Promise.resolve(refs));
  const shown = refs.output.split('\n').filter((line) => !/ refs\/(?:ralph\/|stash$)/.test(line));
  put('packed-refs', Buffer.from(shown.join('\n'), 'latin1'));
  for (const name of ['shallow', 'info/exclude', 'info/attributes']) {
    try {
      mkdirSync(path.dirname(path.join(gitDir, name)), { recursive: true });
      copyFileSync(path.join(repository.commonDir, name), path.join(gitDir, name));
    } catch {
      // Most repositories have none of them.
    }
  }
}

/**
 * Returns the remotes, so that tools that ask for a URL find it. Git resolves the relative URL of a submodule by that of
 * `origin`, or without one by where the repository is: it leads where it leads there.
 */
async function remotesOf({ root, commonDir }: Repository, ask: AskGit) {
  const place = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : root;
  const listed = await ask(root, [
    ...['config', '--local', '-z', '--get-regexp', '^remote\\..*\\.url$'],
  ]);
  const remotes = readSettings(listed.output).flatMap(({ name: key, value: url }) => {
    const [, name] = /^remote\.([\s\S]*)\.url$/.exec(key) ?? [];
    return name === undefined ? [] : [{ name, url: urlFrom(place, url) }];
  });
  const hasOrigin = remotes.some(({ name }) => name === 'origin');
  return hasOrigin ? remotes : [...remotes, { name: 'origin', url: asLatin1(place) }];
}

/** Returns a URL as it reads from elsewhere: a relative path becomes absolute. */
function urlFrom(place: string, url: string): string {
  const isRelative = !path.isAbsolute(url) && !/^[^/]*:/.test(url);
  return isRelative ? path.resolve(asLatin1(place), url) : url;
}

function asLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/**
 * Returns a line for `objects/info/alternates`. Git takes a path that begins with a quotation mark for one in C's
 * writing, and `#` for a comment.
 */
export function alternate(objects: string): string {
  return /["\\\n]/.test(objects) ? quoted(objects) : objects;
}

/** Has git write the tree's files, without any conversion but that of the user's own filters. */
async function writeFiles(
  folder: string,
  { git, tree, changes = new Map() }: FreshCheckoutRequest,
): Promise<void> {
  const index = path.join(git.folder, 'index-of-checkout');
  const run = (args: readonly string[], call: GitCall = {}): Promise<GitAnswer> =>
    must(git.run(args, { index, ...call }));
  await requireTree(git, tree);
  const added = [...changes.values()].flatMap((entry) =>
    entry === null || isRepository(entry) ? [] : [idOf(entry)],
  );
  await requireObjects(git, added);
  for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
  try {
    await run(['read-tree', tree]);
    const input = indexInfo(changes, git.repository);
    if (changes.size > 0) await run(['update-index', '-z', '--index-info'], { input });
    await run(['checkout-index', '--all', '--force', '--quiet'], {
      env: { GIT_WORK_TREE: folder },
    });
    const { output } = await run(['ls-files', '-s', '-z']);
    const wanted = [...heldBy(readStaged(output))].map(([name, entry]) => ({ name, entry }));
    const filtered = await restoreFiltered(git, folder, wanted);
    const failed = [...filtered].filter(([, isDone]) => !isDone).map(([name]) => name);
    if (failed[0] !== undefined) {
      const name = asText(failed[0]);
      throw new GitError(`the filter of ${name} did not write it`);
    }
  } finally {
    rmSync(index, { force: true });
  }
}

async function must(asked: Promise<GitAnswer>): Promise<GitAnswer> {
  const answer = await asked;
  if (answer.exitCode !== 0) throw new GitError(reasonOf(answer));
  return answer;
}
