import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isRepository, type UndoPlan } from '../../../core/snapshots/undo-plan.ts';
import { lstatOf } from '../../files/file-kinds.ts';
import { withGitSettings, withIndex, withPlaces } from '../../git/git.ts';
import { complaintOf } from '../../git/git-error.ts';
import { withoutOwnFilters } from '../../git/git-filters.ts';
import { inNewIndex, type PrivateGit } from '../../git/private-git.ts';
import { checkOutSubmodule } from '../../git/questions/checkouts.ts';
import { setEntries } from '../../git/questions/index-files.ts';
import { objectType, treeEntries } from '../../git/questions/objects.ts';
import { settingNow, submodulesIn } from '../../git/questions/settings.ts';
import { asText, type TreePath, treePlace } from '../../git/tree-path.ts';
import { idOf } from '../tree-files.ts';
import type { Blocked, BlockedReason } from './restore-files.ts';

/*
 * A snapshot holds only the commit id of a submodule. The files are in the submodule's repository, which lies in
 * `.git/modules` and therefore survives if the submodule's folder is deleted.
 */

/**
 * Returns the submodules of a tree that have lost their files, with their commits: those that the plan restores, and
 * those whose folder is empty although their repository exists and is in use.
 */
export async function lostSubmodules(
  git: PrivateGit,
  tree: string,
  { restore, kept }: UndoPlan,
): Promise<ReadonlyMap<TreePath, string>> {
  const { files } = await treeEntries(git.own, tree);
  const lost = new Map<TreePath, string>();
  for (const [name, entry] of files) {
    if (!isRepository(entry) || kept.includes(name) || !isEmpty(git, name)) continue;
    const isInUse = async (): Promise<boolean> => {
      const module = await moduleOf(git, tree, name);
      const setting = `submodule.${module?.name}.url`;
      return module !== null && (await settingNow(git.users, setting)) !== null;
    };
    if (isRepository(restore.get(name)?.before ?? null) || (await isInUse()))
      lost.set(name, idOf(entry));
  }
  return lost;
}

function isEmpty(git: PrivateGit, name: TreePath): boolean {
  const place = treePlace(git.repository.root, name);
  const stats = lstatOf(place);
  return stats === null || (stats.isDirectory() && readdirSync(place).length === 0);
}

/** Finds a submodule's own repository; null if there is none. */
async function moduleOf(git: PrivateGit, tree: string, place: TreePath) {
  const name = (await submodulesIn(git.own, tree)).get(place);
  // Git itself refuses such a name, which could lead out of the folder of the modules.
  if (name === undefined || name.split('/').includes('..')) return null;
  const folder = path.join(git.repository.gitDir, 'modules', asText(name));
  return existsSync(path.join(folder, 'HEAD')) ? { name, folder } : null;
}

/** Fills submodules from their own repositories, without network; needs `.gitmodules`. Resolves to those not filled. */
export async function fillSubmodules(
  git: PrivateGit,
  tree: string,
  submodules: ReadonlyMap<TreePath, string>,
): Promise<Blocked> {
  const blocked = new Map<TreePath, BlockedReason>();
  for (const [name, id] of submodules) {
    const module = await moduleOf(git, tree, name);
    const isFilled = module !== null && (await fill(git, module.folder, name, id));
    if (!isFilled) blocked.set(name, { kind: 'no-submodule' });
  }
  return blocked;
}

async function fill(git: PrivateGit, module: string, name: TreePath, id: string): Promise<boolean> {
  const inModule = withPlaces(git.users, { GIT_DIR: module });
  // If this commit is missing, git would ask the network.
  if ((await objectType(inModule, id)) !== 'commit') return false;
  const settings = await withoutOwnFilters(module, inModule);
  if (settings === null) return false;
  // Git checks out what the index names; the user's own index may name another commit.
  await inNewIndex(git, async (index) => {
    const entry = [name, `160000 ${id}`] as const;
    await complaintOf(setEntries(withIndex(git.own, index), git.repository, [entry]));
    await checkOutSubmodule(withGitSettings(withIndex(git.users, index), settings), name);
  });
  return !isEmpty(git, name);
}
