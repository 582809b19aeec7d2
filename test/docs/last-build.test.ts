import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isBuilt, noteBuild, sumOfInputs } from '../../scripts/last-build.js';
import { put } from '../helpers/repository.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const FILES = {
  'src/a.ts': 'a',
  'src/b/c.ts': 'c',
  'scripts/build.js': 'build',
  'node_modules/.package-lock.json': '{}',
  'dist/a.js': 'built',
};

test.for<[what: string, change: (folder: string) => void, built: boolean]>([
  ['nothing has changed', () => {}, true],
  ['a test has changed', (folder) => put(folder, { 'test/a.test.ts': 'a' }), true],
  ['a source has changed', (folder) => put(folder, { 'src/b/c.ts': 'd' }), false],
  ['a source is new', (folder) => put(folder, { 'src/d.ts': '' }), false],
  ['a source has moved', (folder) => move(folder), false],
  ['the build has changed', (folder) => put(folder, { 'scripts/build.js': 'b' }), false],
  ['a package', (folder) => put(folder, { 'node_modules/.package-lock.json': '[]' }), false],
  ['what was built is gone', (folder) => rmSync(join(folder, 'dist/a.js')), false],
  ['half of it is there', (folder) => put(folder, { 'dist/a.js': 'bu' }), false],
])('tests build again where that differs: %s', async ([, change, built]) => {
  const folder = await tempFolder();
  put(folder, FILES);
  expect(await isBuilt(folder)).toBe(false);
  const file = { path: join(folder, 'dist/a.js'), text: FILES['dist/a.js'] };
  await noteBuild(await sumOfInputs(folder), [file], folder);
  change(folder);
  expect(await isBuilt(folder)).toBe(built);
});

function move(folder: string): void {
  rmSync(join(folder, 'src/a.ts'));
  put(folder, { 'src/e.ts': FILES['src/a.ts'] });
}
