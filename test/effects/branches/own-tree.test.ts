import { mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  hasFolder,
  inOwnTree,
  noteOwner,
  planTree,
  whoseTree,
} from '../../../src/effects/branches/own-tree.ts';
import { checkoutsOf } from '../../helpers/checkouts.ts';
import { makeRepository } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage() {
  const { folder, git } = await makeRepository({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
  const plan = async (more: { taskId?: string; base?: string; folder?: string } = {}) => {
    const parts = await checkoutsOf(folder);
    return planTree({ ...parts, taskId: 't', folder: null, base: null, ...more });
  };
  return { folder: realpathSync(folder), git, plan };
}

describe('where a task’s own work tree will be', () => {
  test('beside the repository, from HEAD', async () => {
    const { folder, git, plan } = await stage();
    expect(await plan()).toEqual({
      path: join(`${folder}.ralph`, 't'),
      branch: 'ralph/t',
      base: git('rev-parse', 'HEAD'),
      onto: 'main',
      origin: folder,
    });
  });

  test('of a submodule: beside the repository around it', async () => {
    const { folder: library } = await makeRepository({ 'lib.txt': 'lib\n' });
    const { folder, git } = await stage();
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib');
    const parts = await checkoutsOf(join(folder, 'lib'));
    const tree = await planTree({ ...parts, taskId: 't', folder: null, base: null });
    expect(tree).toMatchObject({ path: join(`${folder}.ralph`, 't'), origin: join(folder, 'lib') });
  });

  test('beside the first work tree, when it is started in another one', async () => {
    const { folder, git } = await stage();
    const linked = join(await tempFolder(), 'linked');
    git('worktree', 'add', '-q', '-b', 'feature', linked);
    const parts = await checkoutsOf(linked);
    const tree = await planTree({ ...parts, taskId: 't', folder: null, base: null });
    expect(tree).toMatchObject({
      path: join(`${folder}.ralph`, 't'),
      onto: 'feature',
      origin: realpathSync(linked),
    });
  });

  test.for([
    ['a branch', 'main', 'main'],
    ['a tag', 'v1', null],
    ['a commit', 'HEAD~0', null],
    ['a name that looks like a flag', '--all', undefined],
    ['no commit', 'nothing', undefined],
  ] as const)('%s as its base', async ([, base, onto]) => {
    const { git, plan } = await stage();
    git('tag', 'v1');
    const tree = await plan({ base });
    expect(tree?.onto).toBe(onto);
  });

  test('at a detached HEAD its base is no branch', async () => {
    const { git, plan } = await stage();
    git('switch', '-q', '--detach');
    expect(await plan()).toMatchObject({ onto: null });
  });

  test.for([
    ['a branch of that name', 'ralph/t', 'ralph/t-2', 't-2'],
    ['a branch below that name', 'ralph/t/more', 'ralph/t-2', 't-2'],
    ['a branch of another name', 'ralph/t1', 'ralph/t', 't'],
    ['a branch called ralph', 'ralph', 'ralph-t', 't'],
  ] as const)('where there is %s', async ([, there, branch, name]) => {
    const { folder, git, plan } = await stage();
    git('branch', there);
    expect(await plan()).toMatchObject({ branch, path: join(`${folder}.ralph`, name) });
  });

  test('not where a folder is, or a work tree that is away for now', async () => {
    const { folder, git, plan } = await stage();
    git('worktree', 'add', '-q', '--detach', `${folder}.ralph/t`);
    const away = await tempFolder();
    symlinkSync(away, `${folder}.ralph/t-2`);
    expect(await plan()).toMatchObject({ branch: 'ralph/t-3' });
  });

  test.for([
    ['x.', 'ralph-x%2E'],
    ['a..b', 'ralph-a%2E%2Eb'],
    ['x.lock', 'ralph-x%2Elock'],
    ['v1.2', 'ralph/v1.2'],
  ] as const)('for the id %s', async ([taskId, branch]) => {
    const { git, plan } = await stage();
    expect(await plan({ taskId })).toMatchObject({ branch });
    git('check-ref-format', '--branch', branch);
  });
});

test('a place in the one work tree stands for one in the other', async () => {
  const { folder, plan } = await stage();
  const tree = await plan();
  const link = join(await tempFolder(), 'link');
  symlinkSync(folder, link);
  expect(inOwnTree(tree, folder)).toBe(tree?.path);
  expect(inOwnTree(tree, join(folder, 'sub/b.txt'))).toBe(join(tree?.path ?? '', 'sub/b.txt'));
  expect(inOwnTree(tree, join(link, 'sub'))).toBe(join(tree?.path ?? '', 'sub'));
  expect(inOwnTree(tree, `${folder}-other`)).toBe(`${folder}-other`);
  expect(inOwnTree(null, folder)).toBe(folder);
});

test('a work tree knows for which run of which task it was made', async () => {
  const gitDir = join(await tempFolder(), 'git');
  mkdirSync(gitDir);
  const owner = { task_id: 't', started_at: '2026-01-02T03:04:05.678Z' };
  expect(whoseTree(gitDir, owner)).toBe('unknown');
  expect(await noteOwner(gitDir, owner)).toBe(true);
  expect(whoseTree(gitDir, owner)).toBe('own');
  expect(await noteOwner(gitDir, owner)).toBe(true);
  expect(await noteOwner(gitDir, { ...owner, started_at: '2026-01-03T00:00:00.000Z' })).toBe(false);
  expect(whoseTree(gitDir, owner)).toBe('own');
  expect(readdirSync(join(gitDir, 'ralph'))).toEqual(['task']);
  expect(whoseTree(gitDir, { ...owner, task_id: 'u' })).toBe("another's");
  expect(whoseTree(gitDir, { ...owner, started_at: '2026-01-03T00:00:00.000Z' })).toBe("another's");
});

test('a folder of a commit is told from a file and from nothing', async () => {
  const { folder } = await stage();
  const parts = await checkoutsOf(folder);
  expect(await hasFolder(parts, 'HEAD', 'sub')).toBe(true);
  expect(await hasFolder(parts, 'HEAD', 'a.txt')).toBe(false);
  expect(await hasFolder(parts, 'HEAD', 'none')).toBe(false);
});
