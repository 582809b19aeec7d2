import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeOrigin, mirrorOf } from '../../helpers/leg.ts';
import { gitIn } from '../../helpers/repository.ts';

test.for(['a ref', 'a commit', 'HEAD'])(
  'a mirror in which a power cut has emptied %s is replaced, once',
  async (what) => {
    const { url, git, source, first } = await makeOrigin();
    const mirror = await mirrorOf(url);
    // Only a ref of ralph leads to it, as to a snapshot.
    const snapshot = gitIn(source)('commit-tree', '-m', 'snapshot', '-p', first, `${first}^{tree}`);
    gitIn(source)('push', '-q', url, `${snapshot}:refs/ralph/t/1.1.1`);
    await mirror.fetch(['refs/ralph/t/1.1.1', 'main']);
    git('update-ref', '-d', 'refs/ralph/t/1.1.1');
    gitIn(source)('commit', '-q', '--allow-empty', '-m', 'second');
    gitIn(source)('push', '-q', url, 'HEAD:main');
    const second = gitIn(source)('rev-parse', 'HEAD');
    const files = {
      'a ref': 'refs/origin/heads/main',
      'a commit': `objects/${first.slice(0, 2)}/${first.slice(2)}`,
      HEAD: 'HEAD',
    };
    const file = join(mirror.folder, files[what as keyof typeof files]);
    rmSync(file);
    writeFileSync(file, '');
    expect(await mirror.resolve('main')).toEqual({ kind: 'found', commit: second });
    gitIn(mirror.folder)('fsck', '--strict');
    if (what === 'a ref') expect(await mirror.has(snapshot)).toBe(true);
    expect(readdirSync(dirname(mirror.folder))).toEqual([basename(mirror.folder)]);
  },
);

test('what can be read of a damaged mirror comes along, whatever else cannot', async () => {
  const { url, git, source, first } = await makeOrigin();
  const mirror = await mirrorOf(url);
  const snapshots = ['1.1.1', '1.1.2'].map((name) => {
    const id = gitIn(source)('commit-tree', '-m', name, '-p', first, `${first}^{tree}`);
    gitIn(source)('push', '-q', url, `${id}:refs/ralph/t/${name}`);
    return id;
  });
  await mirror.fetch(['refs/ralph/t/1.1.1', 'refs/ralph/t/1.1.2', 'main']);
  for (const name of ['1.1.1', '1.1.2']) git('update-ref', '-d', `refs/ralph/t/${name}`);
  const [lost = '', whole = ''] = snapshots;
  for (const name of [`objects/${lost.slice(0, 2)}/${lost.slice(2)}`, 'refs/origin/heads/main']) {
    rmSync(join(mirror.folder, name));
    writeFileSync(join(mirror.folder, name), '');
  }
  expect(await mirror.resolve('main')).toEqual({ kind: 'found', commit: first });
  expect([await mirror.has(lost), await mirror.has(whole)]).toEqual([false, true]);
});

test('a mirror stays where only the origin is damaged', async () => {
  const { url, git, source, first } = await makeOrigin();
  const mirror = await mirrorOf(url);
  await mirror.resolve('main');
  gitIn(source)('commit', '-q', '--allow-empty', '-m', 'second');
  gitIn(source)('push', '-q', url, 'HEAD:main');
  const second = git('rev-parse', 'main');
  const file = join(url, 'objects', second.slice(0, 2), second.slice(2));
  rmSync(file);
  writeFileSync(file, '');
  const made = statSync(mirror.folder).ino;
  expect((await mirror.resolve('main')).kind).toBe('away');
  expect(statSync(mirror.folder).ino).toBe(made);
  expect(await mirror.has(first)).toBe(true);
});

test('a killed git does not keep a mirror from its refs', async () => {
  const { url, source } = await makeOrigin();
  const mirror = await mirrorOf(url);
  await mirror.resolve('main');
  gitIn(source)('commit', '-q', '--allow-empty', '-m', 'second');
  gitIn(source)('push', '-q', url, 'HEAD:main');
  const locks = ['packed-refs.lock', 'refs/origin/heads/main.lock'];
  const files = locks.map((name) => join(mirror.folder, name));
  for (const file of files) writeFileSync(file, '');
  // A git may hold them right now.
  expect(await mirror.resolve('heads/main')).toMatchObject({ kind: 'away' });
  const then = new Date(Date.now() - 3_600_000);
  for (const file of files) utimesSync(file, then, then);
  const second = gitIn(source)('rev-parse', 'HEAD');
  expect(await mirror.resolve('heads/main')).toEqual({ kind: 'found', commit: second });
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});
