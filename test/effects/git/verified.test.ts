import { chmodSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readCommits, wrongObjects } from '../../../src/effects/git/questions/verified.ts';
import { listTree, readEntries } from '../../../src/effects/snapshots/tree-files.ts';
import { compareTrees } from '../../../src/effects/snapshots/trees.ts';
import { gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FILES = { a: 'a\n', 'sub/b': 'b\n', 'sub/deep/c': 'c\n' };

async function stage() {
  const { folder, git } = await makeRepository(FILES);
  const { own } = await snapshotsOf(folder);
  const idOf = (name: string) => git('rev-parse', `HEAD:${name}`);
  return { folder, git, own, idOf };
}

/** Writes an object's file with any bytes. */
function putObject(objects: string, id: string, bytes: Uint8Array): void {
  const file = join(objects, id.slice(0, 2), id.slice(2));
  mkdirSync(join(file, '..'), { recursive: true });
  try {
    chmodSync(file, 0o600);
  } catch {
    // It lies in a pack.
  }
  writeFileSync(file, bytes);
}

const blob = (text: string) => deflateSync(`blob ${text.length}\0${text}`);

describe('an object with another content than its id says', () => {
  test('is wrong as a loose file, and the others are read all the same', async () => {
    const { folder, git, own, idOf } = await stage();
    const [a, b] = [idOf('a'), idOf('sub/b')];
    putObject(join(folder, '.git/objects'), a, blob('x\n'));
    expect(git('cat-file', '-p', a)).toBe('x');
    expect(await wrongObjects(own.own, [a, b])).toEqual(new Set([a]));
    await expect(readEntries(own, [`100644 ${a}`])).rejects.toThrow('not what its id says');
    expect((await readEntries(own, [`100644 ${b}`])).get(`100644 ${b}`)?.toString()).toBe('b\n');
  });

  test('is wrong in a store that the repository borrows from, and in its pack', async () => {
    const { folder, git, own, idOf } = await stage();
    const [other, a] = [await tempFolder(), idOf('a')];
    // A repository whose pack says another content for the id of `a`.
    gitIn(other)('init', '-q');
    const objects = join(other, '.git/objects');
    putObject(objects, a, blob('x\n'));
    const packed = gitIn(other, `${a}\n`)('pack-objects', '-q', join(objects, 'pack/pack'));
    const file = join(folder, '.git/objects', a.slice(0, 2), a.slice(2));
    renameSync(file, `${file}.away`);
    writeFileSync(join(folder, '.git/objects/info/alternates'), `${objects}\n`);
    expect(await wrongObjects(own.own, [a])).toEqual(new Set([a]));
    writeFileSync(join(folder, '.git/objects/info/alternates'), '');
    for (const each of readdirSync(join(objects, 'pack'))) {
      if (each.includes(packed)) {
        renameSync(join(objects, 'pack', each), join(folder, '.git/objects/pack', each));
      }
    }
    expect(git('cat-file', '-p', a)).toBe('x');
    expect(await wrongObjects(own.own, [a])).toEqual(new Set([a]));
  });

  test('vouches for no other, and is wrong itself, where it is longer than its head says', async () => {
    const { folder, own, idOf } = await stage();
    const [a, b, c] = [idOf('a'), idOf('sub/b'), idOf('sub/deep/c')];
    const objects = join(folder, '.git/objects');
    for (const more of [`\n${b} blob 2\nb\n`, `\n${b} missing`, '\n', 'x']) {
      putObject(objects, a, deflateSync(`blob 2\0a\n${more}`));
      putObject(objects, b, blob('x\n'));
      expect(await wrongObjects(own.own, [a, b, c])).toEqual(new Set([a, b]));
      expect(await wrongObjects(own.own, [c, a])).toEqual(new Set([a]));
    }
  });

  test('is wrong where git cannot unpack it, or has none', async () => {
    const { folder, own, idOf } = await stage();
    const [a, b, c] = [idOf('a'), idOf('sub/b'), idOf('sub/deep/c')];
    putObject(join(folder, '.git/objects'), a, Buffer.from('garbage'));
    putObject(join(folder, '.git/objects'), c, new Uint8Array());
    const none = '1'.repeat(40);
    expect(await wrongObjects(own.own, [a, none, b, c])).toEqual(new Set([a, none, c]));
  });

  test('hides no difference as a tree, and lists none', async () => {
    const { folder, git, own } = await stage();
    const was = git('rev-parse', 'HEAD^{tree}');
    put(folder, { 'sub/deep/c': 'gutted\n' });
    git('commit', '-qam', 'gutted');
    const is = git('rev-parse', 'HEAD^{tree}');
    expect([...(await compareTrees(own, was, is))]).toHaveLength(1);
    const inner = (tree: string) => git('rev-parse', `${tree}:sub/deep`);
    const entry = Buffer.concat([
      Buffer.from(['tree 29', '100644 c', ''].join('\0')),
      Buffer.from(git('rev-parse', 'HEAD:sub/deep/c'), 'hex'),
    ]);
    putObject(join(folder, '.git/objects'), inner(was), deflateSync(entry));
    expect(git('rev-parse', `${was}:sub/deep/c`)).toBe(git('rev-parse', `${is}:sub/deep/c`));
    await expect(compareTrees(own, was, is)).rejects.toThrow('not what its id says');
    await expect(listTree(own, was)).rejects.toThrow('not what its id says');
  });

  test('is no commit', async () => {
    const { folder, git, own } = await stage();
    const [head, tree] = [git('rev-parse', 'HEAD'), git('rev-parse', 'HEAD^{tree}')];
    expect((await readCommits(own.own, [head, tree])).get(head)).toMatchObject({
      tree,
      parents: [],
    });
    const text = git('cat-file', '-p', head).replace(/^tree .*/, `tree ${'1'.repeat(40)}`);
    putObject(join(folder, '.git/objects'), head, deflateSync(`commit ${text.length}\0${text}`));
    expect(await readCommits(own.own, [head])).toEqual(new Map());
  });
});

test('a large object is read in pieces, and ids of 64 characters are those of SHA-256', async () => {
  const folder = await tempFolder();
  const git = gitIn(folder);
  git('init', '-q', '--object-format=sha256');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const { own } = await snapshotsOf(folder);
  writeFileSync(join(folder, 'large'), Buffer.alloc(70 * 1024 * 1024, 'x'));
  const large = git('hash-object', '-w', 'large');
  expect(large).toHaveLength(64);
  expect(await wrongObjects(own.own, [large, git('rev-parse', 'HEAD')])).toEqual(new Set());
});
