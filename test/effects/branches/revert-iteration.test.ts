import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noteUndo } from '../../../src/effects/snapshots/restore/begun-undo.ts';
import { commitsIn } from '../../helpers/commits.ts';
import { put } from '../../helpers/repository.ts';

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

test('files, index and branch are as when the iteration began, and the diff tells what went', async () => {
  const { folder, git, begin, keep, revert } = await commitsIn({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  put(folder, { 'a.txt': 'a person’s\n', 'mine.txt': 'mine\n' });
  git('add', 'a.txt');
  await begin();
  const [head, status, index] = [
    git('rev-parse', 'HEAD'),
    git('status', '-s'),
    git('ls-files', '-s'),
  ];
  put(folder, { 'a.txt': 'the agent’s\n', 'new.txt': 'new\n', '.env': 'KEY=hidden\n' });
  rmSync(join(folder, 'b.txt'));
  git('add', '--all');
  git('commit', '-q', '-m', 'own');
  await keep('1');
  const { settlement, headStays } = await revert();
  expect(settlement).toMatchObject({ kind: 'reverted', files: 4, kept: [] });
  const diff = settlement.kind === 'reverted' ? settlement.diff : '';
  expect(diff).toContain('+the agent’s');
  expect(diff).not.toContain('hidden');
  expect(headStays).toBeNull();
  expect(read(folder, 'a.txt')).toBe('a person’s\n');
  expect(read(folder, 'mine.txt')).toBe('mine\n');
  expect([git('rev-parse', 'HEAD'), git('status', '-s'), git('ls-files', '-s')]).toEqual([
    head,
    status,
    index,
  ]);
  // What was lost to it is in the snapshot that was made first.
  expect(git('log', '--format=%s', 'refs/ralph/t/undo.1')).toContain('own');
});

test('what a person changed between two iterations or after one stays', async () => {
  const { folder, begin, keep, work, revert } = await commitsIn({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await begin();
  await work(1, { 'a.txt': '1\n' });
  put(folder, { 'b.txt': 'a person’s\n' });
  await keep('2.0');
  await work(2, { 'a.txt': '2\n', 'c.txt': '2\n', 'd.txt': '2\n' });
  put(folder, { 'c.txt': 'a person’s\n' });
  expect((await revert(2)).settlement).toMatchObject({
    kind: 'reverted',
    files: 2,
    kept: ['c.txt'],
  });
  expect(read(folder, 'a.txt')).toBe('1\n');
  expect(read(folder, 'b.txt')).toBe('a person’s\n');
  expect(read(folder, 'c.txt')).toBe('a person’s\n');
  expect(existsSync(join(folder, 'd.txt'))).toBe(false);
});

test('a commit that a person made since stays', async () => {
  const { folder, git, begin, keep, revert } = await commitsIn({ 'a.txt': 'a\n' });
  await begin();
  put(folder, { 'a.txt': '1\n' });
  git('commit', '-q', '-a', '-m', 'own');
  await keep('1');
  git('commit', '-q', '--allow-empty', '-m', 'a person’s');
  const head = git('rev-parse', 'HEAD');
  expect(await revert()).toMatchObject({
    settlement: { kind: 'reverted', files: 1 },
    headStays: 'somebody else has moved HEAD',
  });
  expect(git('rev-parse', 'HEAD')).toBe(head);
  expect(read(folder, 'a.txt')).toBe('a\n');
});

test('a commit that a person made between two attempts stays', async () => {
  const { folder, git, begin, keep, work, revert } = await commitsIn({ 'a.txt': 'a\n' });
  await begin();
  put(folder, { 'a.txt': '1\n' });
  await keep('1.1');
  git('commit', '-q', '--allow-empty', '-m', 'a person’s');
  const head = git('rev-parse', 'HEAD');
  await keep('1.0');
  await work(1, { 'a.txt': '2\n' });
  expect((await revert()).headStays).toBe('somebody else has moved HEAD');
  expect(git('rev-parse', 'HEAD')).toBe(head);
  expect(read(folder, 'a.txt')).toBe('a\n');
});

test('done twice, as after a kill, it comes to the same', async () => {
  const { folder, git, own, begin, work, revert } = await commitsIn({ 'a.txt': 'a\n' });
  await begin();
  await work(1, { 'a.txt': '1\n', 'b.txt': 'b\n' });
  await revert();
  put(folder, { 'b.txt': 'b\n' });
  await noteUndo(own, null);
  expect((await revert()).settlement).toMatchObject({
    kind: 'reverted',
    files: 2,
    diff: expect.stringContaining('+1'),
  });
  expect(git('status', '--porcelain')).toBe('');
});

test('an iteration that changed nothing is not taken back', async () => {
  const { begin, revert } = await commitsIn();
  await begin();
  expect((await revert()).settlement).toEqual({ kind: 'nothing' });
});

test('without the snapshot from before the iteration nothing is touched', async () => {
  const { folder, ids, begin, work, revert } = await commitsIn({ 'a.txt': 'a\n' });
  await begin();
  await work(1, { 'a.txt': '1\n' });
  await work(2, { 'a.txt': '2\n' });
  await ids.remove(new Set(['1']));
  expect((await revert(2)).settlement).toMatchObject({ kind: 'not-reverted' });
  expect(read(folder, 'a.txt')).toBe('2\n');
});

test('a merge that the agent began is ended', async () => {
  const { folder, git, begin, keep, revert } = await commitsIn({ 'a.txt': 'a\n' });
  git('checkout', '-q', '-b', 'other');
  put(folder, { 'a.txt': 'other\n' });
  git('commit', '-q', '-a', '-m', 'other');
  git('checkout', '-q', 'work');
  put(folder, { 'a.txt': 'work\n' });
  git('commit', '-q', '-a', '-m', 'work');
  await begin();
  expect(() => git('merge', 'other')).toThrow();
  await keep('1');
  expect((await revert()).settlement).toMatchObject({ kind: 'reverted' });
  expect(existsSync(join(folder, '.git/MERGE_HEAD'))).toBe(false);
  expect(git('status', '--porcelain')).toBe('');
  expect(read(folder, 'a.txt')).toBe('work\n');
});
