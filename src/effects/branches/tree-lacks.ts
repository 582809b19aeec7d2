import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { OwnWorkTree } from '../../core/task/task-state.ts';
import type { TreeLacks } from '../../core/task/tree-lacks.ts';
import { namesIn } from '../files/folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { isInside } from '../files/real-path.ts';
import { type Git, gitAt, gitIn } from '../git/git.ts';
import { namesByIgnored } from '../git/questions/index-files.ts';
import { settingNow, submodulesIn } from '../git/questions/settings.ts';
import { asText } from '../git/tree-path.ts';

type Trees = Pick<OwnWorkTree, 'path' | 'origin'>;

/** Returns the submodules of a new work tree that have no files yet. */
export async function emptySubmodules(
  { path: root }: Trees,
  git: Git,
): Promise<TreeLacks['submodules']> {
  if (!existsSync(path.join(root, '.gitmodules'))) return [];
  const submodules = await submodulesIn(gitAt(git, root), null);
  const names = [...submodules.keys()].map(asText);
  return names.filter((name) => name !== '' && isEmptyFolder(root, path.join(root, name)));
}

function isEmptyFolder(root: string, place: string): boolean {
  return ifPossible(() => isInside(root, place) && readdirSync(place).length === 0) ?? false;
}

/** Names of files and folders in a project's root that programs need and people do not commit. */
const NEEDED = [/^node_modules$/, /^\.venv$/, /^venv$/, /^vendor$/, /^\.env/];

const MOST_NAMED = 5;

/** Returns the `NEEDED` names that git ignores in the root of the original work tree, and that the new one lacks. */
export async function ignoredLeftBehind(
  { path: root, origin }: Trees,
  git: Git,
): Promise<TreeLacks['ignored']> {
  const names = namesIn(origin).toSorted();
  const needed = NEEDED.flatMap((pattern) => names.filter((name) => pattern.test(name)));
  const missing = needed.filter((name) => !existsSync(path.join(root, name)));
  if (missing.length === 0) return [];
  const { ignored, others } = await namesByIgnored(gitAt(git, origin), missing);
  // An ignore rule may name a folder, or everything in it.
  const [isIgnored, isOther] = [ignored, others].map((found) => new Set(found.map(rootOf)));
  return missing.filter((name) => isIgnored?.has(name) && !isOther?.has(name)).slice(0, MOST_NAMED);
}

function rootOf(name: string): string {
  return name.replace(/\/.*/s, '');
}

/** Returns the hooks folder if `core.hooksPath` is a relative path that only the original work tree has. */
export async function hooksLeftBehind(
  { path: root, origin }: Trees,
  env: NodeJS.ProcessEnv,
): Promise<TreeLacks['hooks']> {
  // Git is asked as the user would run it, since ralph's own calls switch hooks off.
  const git = gitIn(root, { env, timeoutMs: 60_000, asUser: true });
  const named = await settingNow(git, 'core.hooksPath', 'path');
  if (!named || path.isAbsolute(named)) return null;
  const isThere = (tree: string): boolean => existsSync(path.join(tree, named));
  return isThere(origin) && !isThere(root) ? named : null;
}
