import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decidersHere } from '../../../src/effects/proof/deciders-here.ts';
import { GIT_ENV, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('a script is watched by its whole path, behind a link of the tree and in a folder behind one', async () => {
  const { folder } = await makeRepository({ '.gitignore': 'local\n', 'tools/check.sh': 'true\n' });
  put(folder, { 'local/check.sh': 'true\n' });
  symlinkSync('tools', join(folder, 'scripts'));
  const linked = join(await tempFolder(), 'linked');
  symlinkSync(folder, linked);
  for (const cwd of [folder, linked]) {
    const scripts = ['local/check.sh', 'scripts/check.sh', 'tools/check.sh'];
    const checks = [`sh ${folder}/tools/check.sh`, ...scripts.map((each) => `sh ${each}`)];
    const found = await decidersHere({ cwd, checks, isOwn: () => false }, GIT_ENV, null);
    expect(found.unwatched).toEqual(['local/check.sh']);
  }
});
