import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreFiles } from '../../../../src/effects/snapshots/restore/restore-files.ts';
import { compareTrees } from '../../../../src/effects/snapshots/trees.ts';
import { bytesBelow, type Files, makeRepository, put } from '../../../helpers/repository.ts';
import { snapshotsOf } from '../../../helpers/snapshots.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

/** A work tree with these files in snapshot `0`; `back` brings back what differs from it now. */
async function stage(files: Files = {}) {
  const { folder, git } = await makeRepository();
  put(folder, files);
  const { own, take } = await snapshotsOf(folder);
  const back = async () => {
    await take('1');
    const now = git('rev-parse', 'refs/ralph/t/1');
    const difference = await compareTrees(own, git('rev-parse', 'refs/ralph/t/0'), now);
    expect(difference).not.toBeNull();
    const entries = new Map([...(difference ?? [])].map(([name, { from }]) => [name, from]));
    const kept = new Set(git('ls-tree', '-r', '-z', '--name-only', now).split('\0'));
    const done = await restoreFiles({ git: own, entries, mayReplace: (name) => kept.has(name) });
    return { blocked: [...done.keys()] };
  };
  return { folder, git, take, back };
}

test('deleted, changed and new files are as they were, byte for byte', async () => {
  const { folder, take, back } = await stage({ 'd/crlf': 'a\r\n', empty: '', 'e/f/deep': 'x' });
  chmodSync(join(folder, 'd/crlf'), 0o755);
  symlinkSync('nowhere', join(folder, 'link'));
  await take('0');
  const before = bytesBelow(folder);
  rmSync(join(folder, 'd'), { recursive: true });
  rmSync(join(folder, 'link'));
  put(folder, { empty: 'no more', 'g/new': 'n', 'a.txt': 'changed' });
  await back();
  const withoutGit = (files: object) =>
    Object.fromEntries(Object.entries(files).filter(([name]) => !name.startsWith('.git/')));
  expect(withoutGit(bytesBelow(folder))).toEqual(withoutGit(before));
  expect(lstatSync(join(folder, 'd/crlf')).mode & 0o111).not.toBe(0);
  expect(readlinkSync(join(folder, 'link'))).toBe('nowhere');
  expect(existsSync(join(folder, 'g'))).toBe(false);
});

test('a folder that became a link is replaced, and the target of the link is left alone', async () => {
  const { folder, take, back } = await stage({ 'd/a': 'a' });
  await take('0');
  const elsewhere = await tempFolder();
  writeFileSync(join(elsewhere, 'a'), 'somebody else’s');
  rmSync(join(folder, 'd'), { recursive: true });
  symlinkSync(elsewhere, join(folder, 'd'));
  await back();
  expect(readFileSync(join(folder, 'd/a'), 'utf8')).toBe('a');
  expect(readFileSync(join(elsewhere, 'a'), 'utf8')).toBe('somebody else’s');
});

test('what is in no snapshot is never overwritten or removed', async () => {
  const { folder, take, back } = await stage({ x: 'x', y: 'y', '.gitignore': '*.log\n' });
  await take('0');
  rmSync(join(folder, 'x'));
  mkdirSync(join(folder, 'x'));
  put(folder, { 'x/a.log': 'ignored' });
  rmSync(join(folder, 'y'));
  put(folder, { y: 'z'.repeat(2_000), 'new/a.log': 'ignored', 'new/b': 'b' });
  expect(await back()).toMatchObject({ blocked: ['x', 'y'] });
  expect(readFileSync(join(folder, 'x/a.log'), 'utf8')).toBe('ignored');
  expect(readFileSync(join(folder, 'y'), 'utf8')).toHaveLength(2_000);
  expect(existsSync(join(folder, 'new/a.log'))).toBe(true);
  expect(existsSync(join(folder, 'new/b'))).toBe(false);
});

test('a file that others could not read stays unreadable for them', async () => {
  const { folder, take, back } = await stage({ private: 'p' });
  chmodSync(join(folder, 'private'), 0o600);
  await take('0');
  put(folder, { private: 'changed' });
  await back();
  expect(lstatSync(join(folder, 'private')).mode & 0o077).toBe(0);
});

test('a deleted file that looks like a secret comes back readable by its owner only', async () => {
  const { folder, take, back } = await stage({ 'keys/id_rsa': 'k' });
  await take('0');
  rmSync(join(folder, 'keys'), { recursive: true });
  await take('1');
  await back();
  expect(lstatSync(join(folder, 'keys/id_rsa')).mode & 0o077).toBe(0);
});

test('a file and a folder that changed places change back', async () => {
  const { folder, take, back } = await stage({ file: 'f', 'folder/a': 'a' });
  await take('0');
  rmSync(join(folder, 'file'));
  rmSync(join(folder, 'folder'), { recursive: true });
  put(folder, { 'file/inside': 'x', folder: 'now a file' });
  expect(await back()).toMatchObject({ blocked: [] });
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('f');
  expect(readFileSync(join(folder, 'folder/a'), 'utf8')).toBe('a');
});
