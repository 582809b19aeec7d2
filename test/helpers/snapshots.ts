import { openPrivateGit, type PrivateGit } from '../../src/effects/snapshots/private-git.ts';
import { findRepository } from '../../src/effects/snapshots/repository.ts';
import {
  createSnapshotStore,
  type SnapshotRequest,
} from '../../src/effects/snapshots/snapshot-store.ts';
import { runGit } from '../../src/effects/workspace/git-command.ts';
import { PATIENCE_MS } from './patience.ts';
import { GIT_ENV } from './repository.ts';
import { tempFolder } from './temp-folder.ts';

/** Snapshots of the work tree around a folder, under `refs/ralph/t/`. */
export async function snapshotsOf(
  folder: string,
  more: Partial<SnapshotRequest> = {},
  env: Readonly<Record<string, string | undefined>> = GIT_ENV,
  ownFolder: string | null = null,
) {
  const repository = await findRepository(folder, (cwd, args) =>
    runGit({ cwd, args, env, timeoutMs: PATIENCE_MS }),
  );
  if (repository === null) throw new Error(`there is no repository around ${folder}`);
  const request = { repository, env, timeoutMs: PATIENCE_MS };
  const own: PrivateGit = openPrivateGit({ folder: ownFolder ?? (await tempFolder()), ...request });
  const store = createSnapshotStore({
    git: own,
    refs: 'refs/ralph/t',
    newest: null,
    maxBytes: 1_000,
    pathspecs: [],
    ...more,
  });
  /** Takes a snapshot if anything differs. */
  const take = async (...names: string[]) => {
    const kept = await store.keepTree();
    if (!kept.isAsNewest) await store.keep(kept, names, () => 'about');
    return { ...kept, ref: store.newest?.ref };
  };
  return { own, store, take };
}
