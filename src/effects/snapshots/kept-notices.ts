import { type LeftOut, leftOutSentences } from '../../core/snapshots/left-out.ts';
import { type DirtyFiles, isSameFile, markDirtyFiles } from '../workspace/dirty-files.ts';
import type { RunGit } from '../workspace/git-command.ts';
import { withoutOwnFilters } from '../workspace/git-filters.ts';
import type { PrivateGit } from './private-git.ts';
import type { Repository } from './repository.ts';
import type { KeptTree } from './snapshot-store.ts';
import type { TreePath } from './tree-changes.ts';
import { treePlace } from './tree-changes.ts';

/** Of more repositories inside the tree ralph does not ask, since each costs a process. */
const NESTED_AT_MOST = 50;

const STATUS = ['status', '--porcelain', '-z', '--ignore-submodules=dirty', '--no-renames'];

/**
 * Returns what a person should know about a tree that was kept, in sentences. What is in `said` is not said
 * again; what is said is added to it.
 */
export async function keptNotices(
  git: PrivateGit,
  kept: KeptTree,
  said: Set<string>,
  ask: RunGit,
): Promise<readonly string[]> {
  const shown = (name: TreePath): string => Buffer.from(name, 'latin1').toString();
  const unsaid = [...kept.nested].filter(
    (name) => !kept.leftOut.has(name) && !said.has(`uncommitted ${shown(name)}`),
  );
  const dirty = await dirtyRepositories(git.repository, unsaid, ask);
  const all: readonly (readonly [TreePath, LeftOut['kind']])[] = [
    ...kept.leftOut,
    ...dirty.map((name) => [name, 'uncommitted'] as const),
    ...kept.secrets.map((name) => [name, 'secret'] as const),
  ];
  return leftOutSentences(
    all.map(([name, kind]) => ({ path: shown(name), kind })),
    said,
  );
}

/** Returns which repositories inside the tree have work that is not committed there, of the first 50. */
export async function dirtyRepositories(
  { root }: Repository,
  names: readonly TreePath[],
  ask: RunGit,
): Promise<readonly TreePath[]> {
  const found = await Promise.all(
    names
      .slice(0, NESTED_AT_MOST)
      .map(async (name) => ((await isDirty(root, name, ask)) ? [name] : [])),
  );
  return found.flat();
}

async function isDirty(root: string, name: TreePath, ask: RunGit): Promise<boolean> {
  const folder = treePlace(root, name).toString();
  const top = await ask(folder, ['rev-parse', '--show-cdup']);
  // An empty folder of a submodule belongs to the repository around it.
  if (top === null || top.trim() !== '') return false;
  const settings = await withoutOwnFilters(folder, ask);
  return settings !== null && ((await ask(folder, STATUS, { settings })) ?? '') !== '';
}

/** Watches what is in no snapshot and may change all the same: files, and repositories inside the tree. */
export function createSigns({ root }: Repository) {
  let before: DirtyFiles = new Map();
  return {
    /** Returns those that are new or were written since the last call. */
    async changedSince({ leftOut, nested }: KeptTree): Promise<readonly TreePath[]> {
      const then = before;
      before = await markDirtyFiles(root, [...leftOut.keys(), ...nested], then);
      return [...before].flatMap(([name, now]) => {
        const old = then.get(name);
        return old === undefined || !isSameFile(old, now) ? [name] : [];
      });
    },
  };
}
