import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import type { GitFolder } from '../../../core/sandbox/default-rules.ts';
import { isAtOrBelow } from '../../../core/sandbox/places.ts';
import { KB, tryReadText } from '../../files/bounded-read.ts';
import { findGitAbove } from '../../files/find-git-above.ts';
import { namesIn } from '../../files/folder.ts';
import { homeFolder } from '../../files/home-folder.ts';
import { realPath } from '../../files/real-path.ts';
import { type Git, gitIn, withPlaces } from '../../git/git.ts';
import { literally } from '../../git/pathspecs.ts';
import { indexNames } from '../../git/questions/index-files.ts';
import { pathsLike, settingsWithOrigins } from '../../git/questions/settings.ts';
import { asText } from '../../git/tree-path.ts';

/** The git folders in and around a work folder. */
export interface GitFolders {
  readonly treeRoot: string;
  /** The main folder of the repository around the work folder; null if there is none. */
  readonly common: string | null;
  readonly folders: readonly GitFolder[];
  /** The `.git` files and links that lead to folders of git. */
  readonly links: readonly string[];
  /** Every file from which git reads settings, and every file that they include, even if it is missing. */
  readonly settings: readonly string[];
  readonly hookTargets: readonly string[];
  /** The main folder of the repository to which the tree's `.git` leads, if that repository does not know this tree. */
  readonly stranger: string | null;
}

/** Finds the folders of git. `nested` are the `.git` files and folders of git that lie where the agent may write. */
export async function findGitFolders(
  workFolder: string,
  nested: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<GitFolders> {
  const treeRoot = findGitAbove(workFolder) ?? workFolder;
  const places = [path.join(treeRoot, '.git'), ...nested];
  const own = repositoryAt(path.join(treeRoot, '.git'));
  const found = new Map<string, KnownFolder>();
  for (const place of places) {
    const each = repositoryAt(place);
    if (each === null) continue;
    const top = topOf(place);
    if (each.common === each.folder) walk(each.common, top, found);
    else {
      if (!found.has(each.folder)) found.set(each.folder, { isOfWorkTree: true, top });
      walk(each.common, topOf(each.common), found);
    }
  }
  const tracked = await trackedIn(treeRoot, [...found.keys()], env);
  const folders = await Promise.all(
    [...found].map(async ([folder, { isOfWorkTree, top }]) => {
      const hooks = await hooksOf(folder, top, env);
      return { path: folder, isOfWorkTree, hooks, isTracked: tracked.has(folder) };
    }),
  );
  const settings = await Promise.all(folders.map((each) => settingsFiles(each.path, env)));
  return {
    treeRoot,
    common: own?.common ?? null,
    folders,
    links: places.filter((place) => isFile(place) || isLink(place)),
    settings: [...new Set(settings.flat())],
    hookTargets: folders.flatMap(({ hooks }) => linkTargets(hooks)),
    stranger: own === null ? null : await strangerOf(own, treeRoot, env),
  };
}

/** Returns the folders of git whose HEAD the repository around them tracks. Git never tracks a folder in a `.git`. */
async function trackedIn(
  treeRoot: string,
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlySet<string>> {
  const heads = folders
    .filter((folder) => folder !== treeRoot && isAtOrBelow(folder, treeRoot))
    .map((folder) => path.join(path.relative(treeRoot, folder), 'HEAD'))
    .filter((head) => !head.split('/').includes('.git'));
  if (heads.length === 0) return new Set();
  const git = gitIn(treeRoot, { env, timeoutMs: TIMEOUT_MS });
  const names = await indexNames(git, literally(heads)).catch(() => []);
  return new Set(names.map((head) => path.join(treeRoot, path.dirname(asText(head)))));
}

interface KnownFolder {
  readonly isOfWorkTree: boolean;
  /** The folder in which git starts hooks, unless settings name another one. */
  readonly top: string;
}

/** Returns the work tree of a `.git`; for a folder of git without a work tree, the folder itself. */
function topOf(place: string): string {
  return path.basename(place) === '.git' ? path.dirname(place) : place;
}

interface RepositoryPlace {
  readonly folder: string;
  /** The repository's main folder of git; the same as `folder` except for an additional work tree. */
  readonly common: string;
}

/** Follows a `.git` file or folder; null if it leads to no folder of git. */
function repositoryAt(place: string): RepositoryPlace | null {
  const named = isFile(place) ? /^gitdir: (.+)/.exec(readLine(place))?.[1] : place;
  if (named === undefined) return null;
  const folder = realPath(path.resolve(path.dirname(place), named));
  if (!existsSync(path.join(folder, 'HEAD'))) return null;
  const shared = readLine(path.join(folder, 'commondir'));
  return { folder, common: shared === '' ? folder : realPath(path.resolve(folder, shared)) };
}

/** Adds a folder of git, those of its work trees, and those of its submodules at any depth. */
function walk(folder: string, top: string, found: Map<string, KnownFolder>): void {
  if (found.has(folder)) return;
  found.set(folder, { isOfWorkTree: false, top });
  const workTrees = path.join(folder, 'worktrees');
  for (const place of namesIn(workTrees).map((name) => path.join(workTrees, name))) {
    const tree = readLine(path.join(place, 'gitdir'));
    const its = tree === '' ? place : path.dirname(path.resolve(place, tree));
    found.set(place, { isOfWorkTree: true, top: its });
    walkModules(path.join(place, 'modules'), found);
  }
  walkModules(path.join(folder, 'modules'), found);
}

/** Adds the submodules in a `modules` folder, also in its subfolders: the name of a submodule can contain slashes. */
function walkModules(folder: string, found: Map<string, KnownFolder>): void {
  for (const name of namesIn(folder)) {
    const place = path.join(folder, name);
    if (existsSync(path.join(place, 'HEAD'))) walk(place, place, found);
    else if (isFolder(place)) walkModules(place, found);
  }
}

/** Returns the direct targets of the links in a folder: protecting the folder does not protect these targets. */
function linkTargets(folder: string): readonly string[] {
  return namesIn(folder)
    .map((name) => path.join(folder, name))
    .filter(isLink)
    .map((place) => path.resolve(realPath(folder), readlinkSync(place)));
}

/** Returns the folder of hooks. Asks git as the user would, since ralph's own calls use no hooks. */
async function hooksOf(folder: string, top: string, env: NodeJS.ProcessEnv): Promise<string> {
  const settings = await coreSettings(folder, env);
  const named = settings.get('hookspath');
  if (named === undefined) return path.join(folder, 'hooks');
  const tree = settings.get('worktree');
  return path.resolve(tree === undefined ? top : path.resolve(folder, tree), named);
}

/**
 * Returns the main folder of the repository to which a `.git` file leads, if this repository does not know the work
 * tree or submodule; otherwise null. An agent could write such a file, and the next run would let it write to that
 * repository.
 */
async function strangerOf(
  { folder, common }: RepositoryPlace,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  if (isAtOrBelow(common, root) && isAtOrBelow(folder, root)) return null;
  const back = readLine(path.join(folder, 'gitdir'));
  const isTreeOfCommon = path.dirname(folder) === path.join(common, 'worktrees');
  if (
    isTreeOfCommon &&
    back !== '' &&
    realPath(path.resolve(folder, back)) === path.join(root, '.git')
  ) {
    return null;
  }
  const tree = (await coreSettings(folder, env)).get('worktree');
  const isKnown =
    folder === common && tree !== undefined && realPath(path.resolve(folder, tree)) === root;
  return isKnown ? null : common;
}

/**
 * Returns the files from which git reads settings in a repository, and the files that they include. Conditional
 * includes count, since their condition may hold later. Any of these files may lie in the work tree, where the agent
 * can write.
 */
async function settingsFiles(folder: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const { origin, name, value } of await settingsWithOrigins(gitAsUser(folder, env))) {
    const file = origin.replace(/^file:/, '');
    if (!path.isAbsolute(file)) continue;
    found.add(file);
    if (!/^include(?:if\.[\s\S]*)?\.path$/i.test(name) || value === '') continue;
    const plain = value.replace(/^~(?=\/)/, homeFolder(env) ?? '~');
    found.add(path.resolve(path.dirname(realPath(file)), plain));
  }
  return [...found];
}

async function coreSettings(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, string>> {
  const settings = await pathsLike(gitAsUser(folder, env), '^core\\.(hookspath|worktree)$');
  return new Map(settings.map(({ name, value }) => [name.slice('core.'.length), value]));
}

/** Returns git as the user would run it for a folder of git. The calls here run no program that a repository names. */
function gitAsUser(folder: string, env: NodeJS.ProcessEnv): Git {
  const git = gitIn('/', { env, timeoutMs: TIMEOUT_MS, asUser: true });
  return withPlaces(git, { GIT_DIR: folder });
}

const TIMEOUT_MS = 10_000;

function readLine(file: string): string {
  return (tryReadText(file, 64 * KB) ?? '').replace(/\r?\n[\s\S]*$/, '');
}

function isFile(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isFolder(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isLink(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
