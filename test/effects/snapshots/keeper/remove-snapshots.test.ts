import { expect, test } from 'vitest';
import { snapshotMessage } from '../../../../src/core/snapshots/snapshot-message.ts';
import { gitIn as asksIn } from '../../../../src/effects/git/git.ts';
import { deleteRefsBelow } from '../../../../src/effects/git/questions/refs.ts';
import { thinSnapshots } from '../../../../src/effects/snapshots/keeper/remove-snapshots.ts';
import { PATIENCE_MS } from '../../../helpers/patience.ts';
import { GIT_ENV, gitIn, makeRepository } from '../../../helpers/repository.ts';
import { idsBelow, idsInMemory, snapshotsOf } from '../../../helpers/snapshots.ts';

/** A repository in which task `t` has `0` and so many ends, and task `t@2` has one. */
async function stage(ends: number) {
  const { folder, git } = await makeRepository();
  const { own } = await snapshotsOf(folder);
  const names = ['0', ...Array.from({ length: ends }, (_, index) => String(index + 1))];
  const commits = names.map((_, index) => {
    const about = { taskId: 't', order: index + 1, at: 'now', subject: 'x', branch: null };
    const text = snapshotMessage(about).trimEnd().replaceAll('\n', '\n ');
    return `commit refs/ralph/t/${names[index]}\nmark :${index + 1}\ncommitter a <a@b> 0 +0000\ndata <<END\n${text.replaceAll('\n ', '\n')}\nEND\n`;
  });
  gitIn(folder, commits.join('\n'))('fast-import', '--quiet');
  git('update-ref', 'refs/ralph/t@2/0', 'HEAD');
  const ids = idsInMemory();
  for (const each of idsBelow(folder)) await ids.add(each);
  const refs = () => git('for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n');
  return { folder, git, own, ids, refs };
}

test('the newest 200 and every tenth of the older ones stay', async () => {
  const { own, ids, refs, git } = await stage(249);
  await thinSnapshots(own, ids);
  expect(refs()).toHaveLength(200 + 11 + 1);
  expect(ids.all).toHaveLength(200 + 11);
  expect(git('rev-parse', '-q', '--verify', 'refs/ralph/t/19')).toMatch(/^[0-9a-f]{40}$/);
  await thinSnapshots(own, ids);
  expect(ids.all).toHaveLength(200 + 11);
});

test('the refs of a task are removed, packed or not, and no others', async () => {
  const { folder, refs, git } = await stage(3);
  git('pack-refs', '--all');
  const asked = asksIn(folder, { env: GIT_ENV, timeoutMs: PATIENCE_MS });
  expect(await deleteRefsBelow(asked, 'refs/ralph/t')).toBe(true);
  expect(refs()).toEqual(['refs/ralph/t@2/0']);
});
