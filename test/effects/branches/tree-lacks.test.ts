import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  emptySubmodules,
  hooksLeftBehind,
  ignoredLeftBehind,
} from '../../../src/effects/branches/tree-lacks.ts';
import { testGit } from '../../helpers/checkouts.ts';
import { type Files, GIT_ENV, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A repository with these files committed, and a new work tree of it. */
async function stage(files: Files = {}, prepare: (folder: string) => unknown = () => {}) {
  const { folder: origin, git } = await makeRepository(files);
  await prepare(origin);
  const path = join(await tempFolder(), 'new');
  git('worktree', 'add', '-q', path);
  return { trees: { origin, path }, ralphs: testGit(), git };
}

describe('submodules', () => {
  test('are named while they are empty', async () => {
    const { trees, ralphs } = await stage({ 'a.txt': 'a' }, async (folder) => {
      for (const name of ['lib', 'third party/ü']) {
        const { folder: other } = await makeRepository();
        const add = ['submodule', '-q', 'add', other, name];
        gitIn(folder)('-c', 'protocol.file.allow=always', ...add);
      }
      gitIn(folder)('commit', '-q', '-m', 'modules');
    });
    expect(await emptySubmodules(trees, ralphs)).toEqual(['lib', 'third party/ü']);
    put(trees.path, { 'lib/a.txt': 'a' });
    expect(await emptySubmodules(trees, ralphs)).toEqual(['third party/ü']);
  });

  test('are none where the file names nothing, or what is not below', async () => {
    const { trees, ralphs } = await stage({
      '.gitmodules': '[submodule "a"]\n\tpath = gone\n[submodule "b"]\n\tpath = ../outside\n',
    });
    put(trees.path, { '../outside/.keep/x': '' });
    expect(await emptySubmodules(trees, ralphs)).toEqual([]);
    const plain = await stage();
    expect(await emptySubmodules(plain.trees, plain.ralphs)).toEqual([]);
  });
});

describe('what git ignores', () => {
  test('is named if programs need it, it lies in the root, and the new tree has not got it', async () => {
    const { trees, ralphs } = await stage({
      '.gitignore': 'node_modules\n.env*\n.venv\nbuild\nsub\n',
      vendor: 'tracked',
    });
    put(trees.origin, {
      ...{ 'node_modules/a/b': '', '.env': '', '.env.local': '', 'build/x': '', 'sub/.env': '' },
      ...{ 'venv/not-ignored': '', '.venv/x': '' },
    });
    expect(await ignoredLeftBehind(trees, ralphs)).toEqual([
      ...['node_modules', '.venv', '.env', '.env.local'],
    ]);
    put(trees.path, { '.env': '' });
    expect(await ignoredLeftBehind(trees, ralphs)).toEqual(['node_modules', '.venv', '.env.local']);
  });

  test('is all that a folder has, whichever rule says so', async () => {
    const { trees, ralphs } = await stage({
      '.gitignore': 'vendor/*\nvenv/*\n!venv/seen\nnode_modules/b\n',
    });
    put(trees.origin, {
      ...{ '.venv/.gitignore': '*\n', '.venv/bin/python': '', 'vendor/d/x': '' },
      ...{ 'venv/x': '', 'venv/seen': '', 'node_modules/b': '', 'node_modules/staged': '' },
    });
    gitIn(trees.origin)('add', 'node_modules/staged');
    expect(await ignoredLeftBehind(trees, ralphs)).toEqual(['.venv', 'vendor']);
  });

  test('is named five times at most', async () => {
    const { trees, ralphs } = await stage({ '.gitignore': '.env*\nvenv\n' });
    const many = [1, 2, 3, 4, 5, 6].map((number) => [`.env.${number}`, ''] as const);
    put(trees.origin, { ...Object.fromEntries(many), 'venv/x': '' });
    expect(await ignoredLeftBehind(trees, ralphs)).toHaveLength(5);
  });
});

describe('the folder of the hooks', () => {
  test.for<[string, string | null, string | null]>([
    ['that git does not track', '.husky/_', '.husky/_'],
    ['that git tracks', 'hooks', null],
    ['that nobody has', 'nowhere', null],
    ['of an absolute path', '/', null],
    ['of the home', '~/hooks', null],
    ['that no setting names', null, null],
  ])('%s', async ([, named, expected]) => {
    const { trees, git } = await stage({ '.gitignore': '.husky\n', 'hooks/pre-commit': 'x' });
    put(trees.origin, { '.husky/_/pre-commit': 'x' });
    if (named !== null) git('config', 'core.hooksPath', named);
    expect(await hooksLeftBehind(trees, GIT_ENV)).toBe(expected);
  });

  test('is there once something has made it', async () => {
    const { trees, git } = await stage({ '.gitignore': '.husky\n' });
    put(trees.origin, { '.husky/_/pre-commit': 'x' });
    git('config', 'core.hooksPath', '.husky/_');
    symlinkSync(join(trees.origin, '.husky'), join(trees.path, '.husky'));
    expect(await hooksLeftBehind(trees, GIT_ENV)).toBeNull();
  });
});
