import type { TreeToSettle } from '../../src/core/snapshots/settlement.ts';
import { snapshotMessage } from '../../src/core/snapshots/snapshot-message.ts';
import { commitIteration } from '../../src/effects/branches/commit/commit-iteration.ts';
import type { CommitRequest } from '../../src/effects/branches/commit/commit-request.ts';
import { readGitSetup } from '../../src/effects/branches/commit/git-setup.ts';
import { revertIteration } from '../../src/effects/branches/revert-iteration.ts';
import { gitIn } from '../../src/effects/git/git.ts';
import { createPatience } from '../../src/effects/git/git-locks.ts';
import { listSnapshots } from '../../src/effects/snapshots/snapshot-list.ts';
import { PATIENCE_MS } from './patience.ts';
import { type Files, GIT_ENV, makeRepository, put } from './repository.ts';
import { snapshotsOf } from './snapshots.ts';

const USER = ['user.name=A Person', 'user.email=person@example.com'];

/** A repository on branch `work`, in which iterations are kept and committed as task `t`. */
export async function commitsIn(files?: Files, env: NodeJS.ProcessEnv = GIT_ENV) {
  const { folder, git } = await makeRepository(files);
  for (const setting of USER) git('config', ...setting.split('='));
  git('checkout', '-q', '-b', 'work');
  const { own, ids, store } = await snapshotsOf(folder);
  let order = 0;
  const keep = async (name: string): Promise<void> => {
    const kept = await store.keepTree();
    if (kept.isAsNewest) return;
    order += 1;
    const about = {
      taskId: 't',
      order,
      at: '2026-01-01T00:00:00.000Z',
      subject: name,
      branch: null,
    };
    await store.keep(kept, [name], () => snapshotMessage(about));
  };
  const asUser = gitIn(folder, { env, timeoutMs: PATIENCE_MS, asUser: true });
  const withPrograms = asUser;
  const setupNow = () => readGitSetup(own.repository, asUser);
  let setup = (await setupNow()) ?? {};
  return {
    folder,
    git,
    own,
    ids,
    keep,
    withPrograms,
    /** What is configured from now on counts as there when the task began. */
    async begin(): Promise<void> {
      setup = (await setupNow()) ?? {};
      await keep('0');
    },
    /** Commits what the snapshots say. */
    async commit(tree: Partial<TreeToSettle> = {}, more: Partial<CommitRequest> = {}) {
      const timeline = await listSnapshots(own.own, ids.all);
      const { iteration = 1 } = tree;
      return commitIteration({
        ...{ git: own, store, timeline, setup, asUser, withPrograms },
        taskId: 't',
        ...{ template: null, apart: null },
        protect: [],
        patience: createPatience(async () => {}),
        tree: {
          iteration,
          since: iteration,
          outcome: 'answered',
          summary: 'Did it',
          again: false,
          ...tree,
        },
        ...more,
      });
    },
    /** Takes an iteration back. */
    async revert(iteration = 1) {
      const timeline = await listSnapshots(own.own, ids.all);
      return revertIteration({
        ...{ git: own, store, timeline, taskId: 't', iteration },
        order() {
          order += 1;
          return order;
        },
        at: '2026-01-01T00:00:00.000Z',
        places: { denied: [], start: null },
      });
    },
    /** An agent works: its files are written, and the end of the iteration is kept. */
    async work(iteration: number, changed: Files): Promise<void> {
      put(folder, changed);
      await keep(String(iteration));
    },
    /** The files of the newest commit. */
    committed: () => git('show', '--format=', '--name-only', 'HEAD').split('\n').sort(),
  };
}
