import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PrivateGit } from '../../../../src/effects/git/private-git.ts';
import { claimRefs } from '../../../../src/effects/snapshots/keeper/refs-namespace.ts';
import { makeRepository, put } from '../../../helpers/repository.ts';
import { idsInMemory, snapshotsOf } from '../../../helpers/snapshots.ts';

/** Claims refs for a run of task `t` whose git folder is this one. */
function claim(git: PrivateGit) {
  const ids = idsInMemory();
  return claimRefs({ git, ids, taskId: 't', maxBytes: 1_000, pathspecs: [], about: () => 'about' });
}

test('each run of a task has refs of its own', async () => {
  const { folder, git } = await makeRepository();
  const found = [];
  for (let run = 0; run < 3; run += 1) {
    const { own } = await snapshotsOf(folder);
    found.push((await claim(own)).refs);
  }
  expect(found).toEqual(['refs/ralph/t', 'refs/ralph/t@2', 'refs/ralph/t@3']);
  expect(git('for-each-ref', '--format=%(refname)', 'refs/ralph')).toBe(
    ['refs/ralph/t/0', 'refs/ralph/t@2/0', 'refs/ralph/t@3/0'].join('\n'),
  );
});

test('runs that begin at the same moment end with refs of their own', async () => {
  const { folder, git } = await makeRepository();
  const owns = await Promise.all([1, 2, 3].map(() => snapshotsOf(folder)));
  const claims = await Promise.all(owns.map(({ own }) => claim(own)));
  expect(claims.map(({ refs }) => refs).sort()).toEqual([
    'refs/ralph/t',
    'refs/ralph/t@2',
    'refs/ralph/t@3',
  ]);
  for (const { refs, store } of claims) {
    expect(git('rev-parse', `${refs}/0`)).toBe(store.newest?.commit);
  }
});

test('a run that was killed before its state named the refs has them again', async () => {
  const { folder } = await makeRepository();
  const { own } = await snapshotsOf(folder);
  const first = await claim(own);
  put(folder, { b: 'b' });
  const again = await claim(own);
  expect(again.refs).toBe('refs/ralph/t');
  expect(again.store.newest?.commit).not.toBe(first.store.newest?.commit);
  expect(again.kept).toMatchObject({ changed: expect.arrayContaining(['b']) });
});

test('a lock of another run is left alone, and one of its own dead git is removed', async () => {
  const { folder } = await makeRepository();
  const { own } = await snapshotsOf(folder);
  const lock = join(folder, '.git/refs/ralph/t/0.lock');
  mkdirSync(join(lock, '..'), { recursive: true });
  writeFileSync(lock, '');
  expect((await claim(own)).refs).toBe('refs/ralph/t@2');
  expect(existsSync(lock)).toBe(true);
  const other = await snapshotsOf(folder);
  writeFileSync(join(other.own.folder, 'first-snapshot'), `refs/ralph/t ${'0'.repeat(40)}\n`);
  expect((await claim(other.own)).refs).toBe('refs/ralph/t');
  expect(existsSync(lock)).toBe(false);
});

test('the claimed store goes on with the first snapshot', async () => {
  const { folder, git } = await makeRepository();
  const { own } = await snapshotsOf(folder);
  const { store, refs } = await claim(own);
  expect(await store.keepTree()).toMatchObject({ isAsNewest: true });
  put(folder, { b: 'b' });
  await store.keep(await store.keepTree(), ['1'], () => 'about');
  expect(git('show', `${refs}/1:b`)).toBe('b');
});
