import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeRefsOf } from '../../../src/fleet/worker/prune-origin.ts';
import { fleetTask } from '../../helpers/fleet-facts.ts';
import { originOfTest } from '../../helpers/fleet-worker.ts';
import { GIT_ENV } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ENV = { ...process.env, ...GIT_ENV };

test('the refs of a task are removed, and its branch stays', async () => {
  const origin = await originOfTest();
  for (const ref of ['refs/ralph/a/1.1.1', 'refs/heads/ralph/a', 'refs/ralph/b/1.1.1']) {
    origin.git('update-ref', ref, origin.first);
  }
  const task = fleetTask(
    { fence: 1, base_commit: origin.first },
    { task_id: 'a', repo: origin.url },
  );
  expect(await removeRefsOf([task], ENV, async () => true)).toEqual([]);
  expect(origin.refs()).toContain('refs/heads/ralph/a');
  expect(origin.refs().filter((ref) => ref.startsWith('refs/ralph/'))).toEqual([
    'refs/ralph/b/1.1.1',
  ]);
});

test('refs that have the name of a task that no worker has begun stay: they are of somebody else', async () => {
  const origin = await originOfTest();
  origin.git('update-ref', 'refs/ralph/nightly/1', origin.first);
  const refused = fleetTask(
    { fence: 1, base_commit: null, status: 'failed', exit_reason: 'failed:policy' },
    { task_id: 'nightly', repo: origin.url },
  );
  expect(await removeRefsOf([refused], ENV, async () => true)).toEqual([]);
  expect(origin.refs()).toContain('refs/ralph/nightly/1');
});

test('a task whose repository never was there may go, one that began there stays', async () => {
  const repo = join(await tempFolder(), 'nothing.git');
  const never = fleetTask({ fence: 1, base_commit: null }, { task_id: 'never', repo });
  const begun = fleetTask({ fence: 1, base_commit: 'c'.repeat(40) }, { task_id: 'begun', repo });
  expect(await removeRefsOf([never, begun], ENV, async () => true)).toEqual([
    { taskId: 'begun', why: expect.stringContaining('Git cannot read the repository') },
  ]);
});

test('the refs of a task that somebody goes on with meanwhile are left alone', async () => {
  const origin = await originOfTest();
  const [gone, reopened] = ['gone', 'reopened'].map((task_id) => {
    origin.git('update-ref', `refs/ralph/${task_id}/1.1.1`, origin.first);
    return fleetTask({ fence: 1, base_commit: origin.first }, { task_id, repo: origin.url });
  });
  if (gone === undefined || reopened === undefined) throw new Error('there is no task');
  expect(await removeRefsOf([gone, reopened], ENV, async (task) => task === gone)).toEqual([]);
  expect(origin.refs().filter((ref) => ref.startsWith('refs/ralph/'))).toEqual([
    'refs/ralph/reopened/1.1.1',
  ]);
});
