import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { copyFiles } from '../../../src/effects/branches/copy-files.ts';
import { testGit } from '../../helpers/checkouts.ts';
import { bytesBelow, type Files, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage(files: Files = {}) {
  const { folder } = await makeRepository({
    '.gitignore': '.env*\n*.key\nbuild/\n',
    'a.txt': 'a\n',
  });
  put(folder, files);
  const target = await tempFolder();
  const copy = (...globs: string[]) =>
    copyFiles({
      ...{ from: folder, to: target, root: target },
      ...{ globs, git: testGit(), isOwn: () => false },
    });
  return { folder, target, copy };
}

test('brings ignored files over, in folders too, and nothing else', async () => {
  const { target, copy } = await stage({
    '.env': 'A=1\n',
    'sub/.env.local': 'B=2\n',
    'build/out.bin': '\0\xff',
    'new.txt': 'untracked\n',
  });
  const { copied, idle } = await copy('**/.env*', 'build', 'build/**', '*.txt', 'none');
  expect(copied).toEqual(['.env', 'build/out.bin', 'sub/.env.local']);
  expect(idle).toEqual(['build', '*.txt', 'none']);
  expect(bytesBelow(target)).toEqual({
    '.env': 'A=1\n',
    'sub/.env.local': 'B=2\n',
    'build/out.bin': Buffer.from('\0\xff').toString('latin1'),
  });
});

test('keeps the mode of a file', async () => {
  const { folder, target, copy } = await stage({ 'a.key': 'secret\n' });
  chmodSync(join(folder, 'a.key'), 0o600);
  await copy('*.key');
  expect(lstatSync(join(target, 'a.key')).mode & 0o777).toBe(0o600);
});

test('writes over nothing', async () => {
  const { target, copy } = await stage({ '.env': 'theirs\n', 'build/x': 'theirs\n' });
  put(target, { '.env': 'mine\n', build: 'a file\n' });
  expect(await copy('.env', 'build/**')).toEqual({ copied: [], idle: [] });
  expect(bytesBelow(target)).toEqual({ '.env': 'mine\n', build: 'a file\n' });
});

test('writes through no link', async () => {
  const { target, copy } = await stage({ '.env': 'A=1\n', 'build/x': 'x\n' });
  const outside = await tempFolder();
  symlinkSync(outside, join(target, 'build'));
  symlinkSync(join(outside, 'env'), join(target, '.env'));
  expect((await copy('.env', 'build/**')).copied).toEqual([]);
  expect(bytesBelow(outside)).toEqual({});
});

test('reads through no link', async () => {
  const { folder, target, copy } = await stage();
  const outside = await tempFolder();
  put(outside, { 'a.key': 'secret\n' });
  symlinkSync(join(outside, 'a.key'), join(folder, 'a.key'));
  symlinkSync(outside, join(folder, 'build'));
  const { copied, idle } = await copy(
    'a.key',
    'build/*',
    'build/a.key',
    `../${basename(outside)}/a.key`,
  );
  expect(copied).toEqual([]);
  expect(idle).toHaveLength(4);
  expect(existsSync(join(target, 'a.key'))).toBe(false);
});

test('takes nothing from a git folder', async () => {
  const { folder, target, copy } = await stage({ '.gitignore': '*\n' });
  put(folder, { 'b.txt': 'b\n' });
  expect((await copy('**/*', '.git/config')).copied).toEqual(['b.txt']);
  expect(readFileSync(join(target, 'b.txt'), 'utf8')).toBe('b\n');
});

test('brings the others over where one name lies in a submodule', async () => {
  const { folder, copy } = await stage({ '.env': 'A=1\n', 'lib/.env': 'B=2\n' });
  const git = gitIn(folder);
  git('update-index', '--add', '--cacheinfo', `160000,${git('rev-parse', 'HEAD')},lib`);
  expect((await copy('**/.env')).copied).toEqual(['.env']);
});
