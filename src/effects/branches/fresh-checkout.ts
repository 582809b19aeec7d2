import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isRepository, type TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { MB, readWithin } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { removeTree } from '../files/remove-tree.ts';
import { type Git, gitAt } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { type PrivateGit, quoted } from '../git/private-git.ts';
import { readIntoIndex, refreshIndex } from '../git/questions/index-files.ts';
import { listRefs } from '../git/questions/refs.ts';
import { remoteUrls } from '../git/questions/settings.ts';
import { requireObjects } from '../git/questions/verified.ts';
import type { Repository } from '../git/repository.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { layOut } from '../snapshots/filtered-restore.ts';
import { idOf, listTree } from '../snapshots/tree-files.ts';
import { treesBeside } from './own-tree.ts';

/*
 * A fresh checkout is a small repository of its own, beside the user's. It borrows the user's objects and has copies of
 * the user's refs, so that checks find the history. Nothing that happens in it changes the user's repository, even if
 * ralph is killed. These are the steps that make it:
 *
 *   repository ──► files of the tree, byte for byte ──► index of HEAD
 */

export interface FreshCheckoutRequest {
  /** Git for the store of the task's snapshots, which contains `tree`. */
  readonly git: PrivateGit;
  /** The path that `checkoutFolder` returns. Whatever is at this path is removed. */
  readonly folder: string;
  /** The commit for HEAD in the checkout; null before the first commit. */
  readonly head: string | null;
  readonly tree: string;
  /** Entries that replace those of the tree; null removes a path. */
  readonly changes?: ReadonlyMap<TreePath, TreeEntry>;
}

export interface FreshCheckout {
  readonly folder: string;
  /** An empty folder for temporary files. */
  readonly temporary: string;
  /** Removes both folders. Throws the system's error. */
  remove(): void;
}

/** Makes a checkout of exactly a tree. Rejects with a `GitError` or the system's error, and then leaves nothing. */
export async function makeFreshCheckout(request: FreshCheckoutRequest): Promise<FreshCheckout> {
  const { git, folder, head } = request;
  const remove = (): void => removeFreshCheckout(folder);
  remove();
  try {
    mkdirSync(path.dirname(folder), { recursive: true });
    // Other users must not read in the checkout what they could not read in the work tree.
    mkdirSync(path.join(folder, '.git'), { recursive: true, mode: 0o700 });
    const temporary = mkdtempSync(path.join(tmpdir(), temporaryName(folder)));
    await makeRepository(folder, request);
    await writeFiles(folder, request);
    if (head !== null) {
      const inside = gitAt(git.anywhere, folder);
      await readIntoIndex(inside, 'HEAD');
      await refreshIndex(inside);
    }
    return { folder, temporary, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Removes a checkout with its temporary folder. Throws the system's error. */
export function removeFreshCheckout(folder: string): void {
  removeTree(folder);
  for (const name of namesIn(tmpdir())) {
    if (!name.startsWith(temporaryName(folder))) continue;
    try {
      removeTree(path.join(tmpdir(), name));
    } catch {
      // Another user may have made a folder of this name, which must not stop a check.
    }
  }
  try {
    rmdirSync(path.dirname(folder));
  } catch {
    // The folder is not empty: it may also hold the work trees of tasks.
  }
}

/** Returns how the temporary folder's name begins: short, since paths of sockets in it must not be long. */
function temporaryName(folder: string): string {
  return `ralph-check-${markOf(folder)}-`;
}

/**
 * Returns the place for a checkout of a task, such as `fix-login.exam-3f9a1c04d2e1`, in the folder beside the
 * repository. The last part is a hash of the task's own folder, so that no other checkout gets this name.
 */
export async function checkoutFolder(git: PrivateGit, name: string): Promise<string> {
  const trees = await treesBeside(git.repository, git.anywhere);
  return path.join(trees, `${name}-${markOf(git.folder)}`);
}

function markOf(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 12);
}

/** Far more than git's lists of ignored files, attributes and shallow commits have. */
const LARGEST_BYTES = 64 * MB;

/** Writes a git folder without calling git, so it gets no templates, hooks or settings except for these. */
async function makeRepository(
  folder: string,
  { git: { repository, anywhere }, head }: FreshCheckoutRequest,
): Promise<void> {
  const gitDir = path.join(folder, '.git');
  const put = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(gitDir, name)), { recursive: true });
    writeFileSync(path.join(gitDir, name), content);
  };
  mkdirSync(path.join(gitDir, 'refs'));
  put('objects/info/alternates', `${alternate(repository.objects)}\n`);
  const isSha256 = repository.hash === 'sha256';
  const remotes = await remotesOf(repository, anywhere);
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
  const refs = await listRefs(gitAt(anywhere, repository.root));
  const shown = refs.filter(({ name }) => !/^refs\/(?:ralph\/|stash$)/.test(name));
  put(
    'packed-refs',
    Buffer.from(shown.map(({ name, id }) => `${id} ${name}\n`).join(''), 'latin1'),
  );
  for (const name of ['shallow', 'info/exclude', 'info/attributes']) {
    try {
      put(name, readWithin(path.join(repository.commonDir, name), LARGEST_BYTES));
    } catch {
      // Most repositories lack some of these files. To open a pipe in the place of one would never end.
    }
  }
}

/**
 * Returns the remotes, for tools that ask for a URL. Git resolves a submodule's relative URL by the URL of `origin`, or
 * by the repository's own path if there is no `origin`. So the checkout always gets an `origin` with that URL or path.
 */
async function remotesOf({ root, commonDir }: Repository, git: Git) {
  const place = path.basename(commonDir) === '.git' ? path.dirname(commonDir) : root;
  const listed = await remoteUrls(gitAt(git, root));
  const remotes = listed.map(({ name, url }) => ({ name, url: urlFrom(place, url) }));
  const hasOrigin = remotes.some(({ name }) => name === 'origin');
  return hasOrigin ? remotes : [...remotes, { name: 'origin', url: asTreePath(place) }];
}

/** Returns a URL that also works from another folder: a relative path becomes absolute. */
function urlFrom(place: string, url: string): string {
  const isRelative = !path.isAbsolute(url) && !/^[^/]*:/.test(url);
  return isRelative ? path.resolve(asTreePath(place), url) : url;
}

/** Returns a line for `objects/info/alternates`, in which a leading quotation mark or `#` has a meaning of its own. */
export function alternate(objects: string): string {
  return /["\\\n]/.test(objects) ? quoted(objects) : objects;
}

/** Writes the tree's files, unconverted except by filters of the user's own configuration. */
async function writeFiles(
  folder: string,
  { git, tree, changes = new Map() }: FreshCheckoutRequest,
): Promise<void> {
  const entries = new Map<TreePath, TreeEntry>([...(await listTree(git, tree)), ...changes]);
  const wanted = [...entries].flatMap(([name, entry]) => (entry === null ? [] : [{ name, entry }]));
  const files = wanted.filter(({ entry }) => !isRepository(entry));
  await requireObjects(
    git.own,
    files.map(({ entry }) => idOf(entry)),
  );
  const failed = [...(await layOut(git, folder, wanted))].find(([, isDone]) => !isDone);
  if (failed !== undefined) {
    throw new GitError(`the filter of ${asText(failed[0])} did not write it`);
  }
}
