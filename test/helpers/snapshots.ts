import { gitIn as ralphsGit } from '../../src/effects/git/git.ts';
import { openPrivateGit, type PrivateGit } from '../../src/effects/git/private-git.ts';
import { findRepository } from '../../src/effects/git/repository.ts';
import type { SnapshotId, SnapshotIds } from '../../src/effects/snapshots/snapshot-ids.ts';
import {
  createSnapshotStore,
  type SnapshotRequest,
} from '../../src/effects/snapshots/snapshot-store.ts';
import { PATIENCE_MS } from './patience.ts';
import { GIT_ENV, gitIn } from './repository.ts';
import { tempFolder } from './temp-folder.ts';

/** Ids of snapshots that only this process knows. */
export function idsInMemory(): SnapshotIds {
  let all: readonly SnapshotId[] = [];
  return {
    refs: 'refs/ralph/t',
    isFromStart: true,
    get all() {
      return all;
    },
    async add(added) {
      all = [...all, added];
    },
    async remove(names) {
      all = all.filter(({ name }) => !names.has(name));
    },
  };
}

/** The ids of all snapshots of a task that have refs, whoever has made them. */
export function idsBelow(folder: string, taskId = 't'): readonly SnapshotId[] {
  const format = '--format=%(refname:lstrip=3) %(objectname)';
  const listed = gitIn(folder)('for-each-ref', format, `refs/ralph/${taskId}/`);
  return listed.split('\n').flatMap((line) => {
    const [name = '', commit] = line.split(' ');
    return commit === undefined ? [] : [{ name, commit }];
  });
}

/** Snapshots of the work tree around a folder, under `refs/ralph/t/`. */
export async function snapshotsOf(
  folder: string,
  more: Partial<SnapshotRequest> = {},
  env: Readonly<Record<string, string | undefined>> = GIT_ENV,
  ownFolder: string | null = null,
) {
  const repository = await findRepository(
    folder,
    ralphsGit(folder, { env, timeoutMs: PATIENCE_MS }),
  );
  if (repository === null) throw new Error(`there is no repository around ${folder}`);
  const request = { repository, env, timeoutMs: PATIENCE_MS };
  const own: PrivateGit = openPrivateGit({ folder: ownFolder ?? (await tempFolder()), ...request });
  const ids = idsInMemory();
  const store = createSnapshotStore({
    git: own,
    ids,
    newest: null,
    maxBytes: 1_000,
    pathspecs: [],
    ...more,
  });
  /** Takes a snapshot if anything differs. */
  const take = async (...names: string[]) => {
    const kept = await store.keepTree();
    if (!kept.isAsNewest) await store.keep(kept, names, () => 'about');
    return { ...kept, name: store.newest?.name };
  };
  return { own, ids, store, take };
}
