import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeOrigin, mirrorOf } from '../../helpers/leg.ts';
import { gitIn } from '../../helpers/repository.ts';

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
