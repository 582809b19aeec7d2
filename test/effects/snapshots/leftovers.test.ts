import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreFiles } from '../../../src/effects/snapshots/restore/restore-files.ts';
import { makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('what a killed git has locked is removed before the next try, and no other lock', async () => {
  const { folder, git } = await makeRepository();
  const { own, take } = await snapshotsOf(folder);
  const refs = join(folder, '.git/refs/ralph');
  for (const place of ['t', 'other']) mkdirSync(join(refs, place), { recursive: true });
  const ours = [join(refs, 't/0.lock'), join(refs, 't/7.lock'), join(own.folder, 'index.lock')];
  const others = [join(refs, 'other/0.lock'), join(folder, '.git/index.lock')];
  for (const file of [...ours, ...others]) writeFileSync(file, '');
  await take('0');
  expect(git('rev-parse', 'refs/ralph/t/0')).toMatch(/^[0-9a-f]{40}$/);
  expect(ours.map((file) => existsSync(file))).toEqual([false, false, false]);
  expect(others.map((file) => existsSync(file))).toEqual([true, true]);
});

test('a lock that its own git leaves in the middle of a run does not stop the next snapshot', async () => {
  const { folder, git } = await makeRepository();
  const { own, take } = await snapshotsOf(folder);
  await take('0');
  writeFileSync(join(folder, '.git/refs/ralph/t/1.lock'), '');
  writeFileSync(join(own.folder, 'index.lock'), '');
  put(folder, { b: 'b' });
  await take('1');
  expect(git('show', 'refs/ralph/t/1:b')).toBe('b');
});

test('the files of a step that was cut off are gone after the next one', async () => {
  const { folder } = await makeRepository();
  const { own, take } = await snapshotsOf(folder);
  put(own.folder, { 'index-of-user': 'x', 'index-of-undo.lock': 'x', 'restore/d/a': 'x' });
  const { tree } = await take('0');
  expect(tree).toMatch(/^[0-9a-f]{40}$/);
  expect(readdirSync(own.folder).sort()).toEqual(
    ['HEAD', 'config', 'index', 'info', 'objects', 'refs'].sort(),
  );
});

const OTHER_DISK = '/dev/shm';
const isElsewhere =
  existsSync(OTHER_DISK) && statSync(OTHER_DISK).dev !== statSync(process.cwd()).dev;

test.skipIf(!isElsewhere)(
  'files come back across file systems, and leave nothing behind',
  async () => {
    const { folder, git } = await makeRepository({ 'd/a': 'a' });
    const own = await tempFolder(OTHER_DISK);
    const { take, own: privately } = await snapshotsOf(folder, {}, undefined, own);
    await take('0');
    const [mode, , id] = git('ls-tree', 'HEAD', 'd/a').split(/\s/);
    put(folder, { 'd/a': 'changed' });
    const entries = new Map([['d/a', `${mode} ${id}`]]);
    await restoreFiles({ git: privately, entries, mayReplace: () => true });
    expect(readdirSync(join(folder, 'd'))).toEqual(['a']);
    expect(git('status', '--porcelain')).toBe('');
  },
);
