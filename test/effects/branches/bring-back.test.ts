import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { snapshotMessage } from '../../../src/core/snapshots/snapshot-message.ts';
import { bringBack, newestSnapshot } from '../../../src/effects/branches/bring-back.ts';
import { type Files, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { idsBelow, snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A work tree with a snapshot of uncommitted work; it is removed and made again from its branch. */
async function stage(
  work: Files,
  afterwards: (path: string) => void = () => {},
  held: readonly string[] = [],
) {
  const { git } = await makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'gone.txt': 'g\n' });
  const path = join(await tempFolder(), 'x');
  git('worktree', 'add', '-q', '-b', 'x', path);
  put(path, work);
  gitIn(path)('rm', '-q', 'gone.txt');
  const { store } = await snapshotsOf(path);
  const kept = await store.keepTree();
  await store.keep(kept, ['0'], ({ branch }) =>
    snapshotMessage({ taskId: 't', order: 1, at: 'now', subject: 'start', branch }),
  );
  afterwards(path);
  git('worktree', 'remove', '--force', path);
  git('worktree', 'add', '-q', path, 'x');
  const { own } = await snapshotsOf(path);
  const newest = await newestSnapshot(own, idsBelow(path));
  if (newest === null) throw new Error('there is no snapshot');
  const result = await bringBack(own, newest, {
    ...{ tip: gitIn(path)('rev-parse', 'HEAD'), base: git('rev-parse', 'main') },
    denied: held.map((name) => join(path, name)),
  });
  const read = (name: string) => readFileSync(join(path, name), 'utf8');
  return { path, read, result, own };
}

test('what was not committed is brought back', async () => {
  const { path, read, result } = await stage({ 'a.txt': 'work\n', 'new/c.txt': 'c\n' });
  expect(read('a.txt')).toBe('work\n');
  expect(read('new/c.txt')).toBe('c\n');
  expect(existsSync(join(path, 'gone.txt'))).toBe(false);
  expect(result).toEqual([]);
  expect(gitIn(path)('status', '--porcelain').split('\n').sort()).toEqual(
    ['M a.txt', ' D gone.txt', '?? new/'].sort(),
  );
});

test('a file that the branch has changed since stays as the branch has it, and is named', async () => {
  const { read, result } = await stage({ 'a.txt': 'work\n', 'b.txt': 'work\n' }, (path) => {
    put(path, { 'a.txt': 'committed\n' });
    gitIn(path)('commit', '-q', '-m', 'later', 'a.txt');
  });
  expect(read('a.txt')).toBe('committed\n');
  expect(read('b.txt')).toBe('work\n');
  expect(result).toEqual(['a.txt']);
});

test('what was committed as it was is no conflict', async () => {
  const { path, result } = await stage({ 'a.txt': 'work\n' }, (folder) => {
    gitIn(folder)('commit', '-q', '-am', 'all of it');
  });
  expect(result).toEqual([]);
  expect(gitIn(path)('status', '--porcelain')).toBe('');
});

test('what the agent may not write is as when the task began, whatever was kept or committed', async () => {
  const commit = (path: string): void => {
    put(path, { 'b.txt': 'committed\n', '.husky/pre-commit': 'evil\n' });
    gitIn(path)('add', '-A');
    gitIn(path)('commit', '-q', '-m', 'planted');
  };
  const held = ['a.txt', 'b.txt', '.husky', '.envrc'];
  const work = { 'a.txt': 'evil\n', 'c.txt': 'work\n', '.envrc': 'evil\n' };
  const { path, read } = await stage(work, commit, held);
  expect([read('a.txt'), read('b.txt'), read('c.txt')]).toEqual(['a\n', 'b\n', 'work\n']);
  expect(existsSync(join(path, '.husky/pre-commit'))).toBe(false);
  expect(existsSync(join(path, '.envrc'))).toBe(false);
});

test('a task without snapshots has none to bring back', async () => {
  const { own } = await stage({});
  expect(await newestSnapshot(own, [])).toBeNull();
});
