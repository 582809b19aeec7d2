import { expect, test } from 'vitest';
import { snapshotMessage } from '../../../src/core/snapshots/snapshot-message.ts';
import { planHeadMove } from '../../../src/effects/snapshots/move-head.ts';
import { isMovedByOthers } from '../../../src/effects/snapshots/moved-head.ts';
import { listSnapshots } from '../../../src/effects/snapshots/snapshot-list.ts';
import { makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';

/** `keep NAME` takes a snapshot, `own` and `other` commit, all else are words for git. */
test.for<[name: string, steps: readonly string[], isMoved: boolean]>([
  ['commits of the agent', ['keep 0', 'other', 'keep 1'], false],
  ['commits of the task', ['keep 0', 'keep 1', 'own', 'keep 2.0', 'own'], false],
  ['a branch of the task', ['keep 0', 'checkout -q -b ralph/t', 'own'], false],
  ['a commit after the last iteration', ['keep 0', 'own', 'keep 1', 'other'], true],
  ['a commit between iterations', ['keep 0', 'own', 'keep 1', 'other', 'keep 2.0'], true],
  ['a commit before a half done attempt', ['keep 0', 'other', 'keep 1.1'], true],
  [
    'a commit that was taken away',
    ['keep 0', 'own', 'own', 'keep 1', 'reset -q --hard HEAD^'],
    true,
  ],
  ['another branch', ['keep 0', 'own', 'keep 1', 'checkout -q -b mine'], true],
  [
    'a commit on the branch that was left',
    ['keep 0', 'other', 'branch ahead', 'reset -q --hard HEAD^'].concat(
      ...['checkout -q -b ralph/t', 'own', 'branch -f work ahead'],
    ),
    true,
  ],
])('%s: whether others have moved HEAD', async ([, steps, isMoved]) => {
  const { folder, git } = await makeRepository({ a: '1' });
  git('checkout', '-q', '-b', 'work');
  const { own, ids, store } = await snapshotsOf(folder);
  let count = 0;
  const commit = (message: string): void => {
    put(folder, { [`file-${count}`]: 'x' });
    git('add', '-A');
    git('-c', 'user.name=p', '-c', 'user.email=p@localhost', 'commit', '-qm', message);
  };
  for (const step of steps) {
    count += 1;
    const [word = '', name = ''] = step.split(' ');
    if (word === 'own') commit('Work\n\nRalph-Task: t\n');
    else if (word === 'other') commit('Other work\n\nRalph-Task: tt\n');
    else if (word !== 'keep') git(...step.split(' '));
    else {
      const branch = git('symbolic-ref', 'HEAD').trim();
      const at = '2026-01-01T00:00:00.000Z';
      const about = { taskId: 't', order: count, at, subject: name, branch };
      await store.keep(await store.keepTree(), [name], () => snapshotMessage(about));
    }
  }
  const timeline = await listSnapshots(own.own, ids.all);
  const [base] = timeline.snapshots;
  if (base === undefined) throw new Error('there is no snapshot');
  const planned = await planHeadMove(own, base);
  if (planned.kind !== 'move') throw new Error('HEAD has not moved');
  expect(await isMovedByOthers(own, timeline, 't', planned.move)).toBe(isMoved);
});
