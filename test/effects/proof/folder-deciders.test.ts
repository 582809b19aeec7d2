import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bentInFolder, markDeciders } from '../../../src/effects/proof/folder-deciders.ts';
import { type Files, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const manifest = (scripts: object, more: object = {}) =>
  JSON.stringify({ name: 'p', scripts, ...more });
const FILES: Files = {
  'package.json': manifest({ test: 'node tools/judge' }),
  'tools/judge.js': 'a\n',
  'work.txt': 'a\n',
};
type Changed = Readonly<Record<string, string | null>>;

test.for<readonly [string, Changed, readonly unknown[]]>([
  ['the work', { 'work.txt': 'b\n' }, []],
  [
    'a dependency',
    { 'package.json': manifest({ test: 'node tools/judge' }, { dependencies: {} }) },
    [],
  ],
  ['a script added', { 'package.json': manifest({ test: 'node tools/judge', lint: 'true' }) }, []],
  [
    'the line of a script',
    { 'package.json': manifest({ test: 'true' }) },
    [{ kind: 'script', file: 'package.json', name: 'test' }],
  ],
  [
    'a script before it',
    { 'package.json': manifest({ test: 'node tools/judge', pretest: 'true' }) },
    [{ kind: 'script', file: 'package.json', name: 'pretest' }],
  ],
  [
    'the package.json is gone',
    { 'package.json': null },
    [{ kind: 'script', file: 'package.json', name: 'test' }],
  ],
  [
    'the file that it runs',
    { 'tools/judge.js': 'b\n' },
    [{ kind: 'file', path: 'tools/judge.js', change: 'changed' }],
  ],
  [
    'the file that it runs, and the line',
    { 'tools/judge.js': null, 'package.json': manifest({ test: 'cat work.txt' }) },
    [
      { kind: 'file', path: 'tools/judge.js', change: 'removed' },
      { kind: 'script', file: 'package.json', name: 'test' },
    ],
  ],
  [
    'one that hides it',
    { 'tools/judge': '' },
    [{ kind: 'file', path: 'tools/judge', change: 'new' }],
  ],
])('outside git: %s', async ([, work, bent]) => {
  const cwd = await tempFolder();
  put(cwd, FILES);
  const where = { cwd, checks: ['npm test'], isOwn: () => false };
  const atStart = await markDeciders(where);
  expect(atStart.programs).toEqual(['node', 'npm']);
  for (const [name, text] of Object.entries(work)) {
    if (text === null) rmSync(join(cwd, name));
    else put(cwd, { [name]: text });
  }
  const now = await markDeciders(where, atStart);
  expect(bentInFolder(JSON.parse(JSON.stringify(atStart)), now, [])).toEqual(bent);
  expect(bentInFolder(atStart, now, ['**'])).toEqual([]);
});

test('outside git: links, and what a Makefile runs', async () => {
  const cwd = await tempFolder();
  put(cwd, {
    Makefile: 'test:\n\tsh scripts/test.sh\n',
    ...{ 'scripts/test.sh': 'a\n', 'tools/check.sh': 'a\n', 'tools/other.sh': 'a\n' },
  });
  symlinkSync('tools/check.sh', join(cwd, 'check.sh'));
  const where = { cwd, checks: ['make test', './check.sh'], isOwn: () => false };
  const atStart = await markDeciders(where);
  const bent = async () => {
    const found = bentInFolder(atStart, await markDeciders(where, atStart), []);
    return found.map((judge) => 'path' in judge && judge.path);
  };
  expect(await bent()).toEqual([]);
  put(cwd, { 'scripts/test.sh': '', 'tools/check.sh': '' });
  expect(await bent()).toEqual(['scripts/test.sh', 'tools/check.sh']);
  put(cwd, { 'scripts/test.sh': 'a\n', 'tools/check.sh': 'a\n', Makefile: '' });
  rmSync(join(cwd, 'check.sh'));
  symlinkSync('tools/other.sh', join(cwd, 'check.sh'));
  expect(await bent()).toEqual(['Makefile', 'check.sh']);
});
