import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesWithDiffs, lookIn } from '../../../src/effects/proof/judged-tree.ts';
import { listTree } from '../../../src/effects/snapshots/tree-files.ts';
import { makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';

const HEADER = 'diff --git a/b.txt b/b.txt';

test('a diff is that of its file, whatever the work has written into files and attributes', async () => {
  const { folder, git } = await makeRepository({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    binary: 'a\n',
    link: 'one\n',
    z: 'z\n',
  });
  put(folder, {
    '.gitattributes': '* -diff\n',
    'a.txt': `x\r${HEADER}\n+forged\u2028${HEADER}\n`,
    'b.txt': 'true\n',
    binary: 'a\0b\n',
    z: 'last\n',
  });
  rmSync(join(folder, 'link'));
  symlinkSync('z', join(folder, 'link'));
  git('add', '-A');
  git('commit', '-qm', 'work');
  const { own } = await snapshotsOf(folder);
  const [start, claimed] = [git('rev-parse', 'HEAD~1^{tree}'), git('rev-parse', 'HEAD^{tree}')];
  const files = await filesWithDiffs(own, start.trim(), claimed.trim());
  const diffs = new Map(files.map(({ name, diff }) => [name, diff]));
  expect([...diffs.keys()]).toEqual(['.gitattributes', 'a.txt', 'b.txt', 'binary', 'link', 'z']);
  expect(diffs.get('a.txt')).toContain('+forged');
  expect(diffs.get('b.txt')).toContain('-b\n+true\n');
  expect(diffs.get('b.txt')).not.toContain('forged');
  expect(diffs.get('binary')).toBeNull();
  expect(diffs.get('link')).toContain('-one\n');
  expect(diffs.get('link')).toContain('+z\n');
  expect(diffs.get('z')).toContain('+last');
});

test('a cited place is found behind a link of the tree', async () => {
  const { folder, git } = await makeRepository({ 'lib/a.ts': 'one\ntwo\n', 'docs/api.md': 'one' });
  const links = {
    ...{ src: 'lib', 'lib/up': '../docs', 'docs/again': '../src/./a.ts', root: '.' },
    ...{ out: '../outside', absolute: '/etc', one: 'two', two: 'one' },
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  git('add', '-A');
  git('commit', '-qm', 'links');
  const { own } = await snapshotsOf(folder);
  const tree = await listTree(own, git('rev-parse', 'HEAD^{tree}').trim());
  const found = {
    'src/a.ts': { kind: 'file', lines: 2 },
    'src/up/api.md': { kind: 'file', lines: 1 },
    'docs/again': { kind: 'file', lines: 2 },
    'root/src/a.ts': { kind: 'file', lines: 2 },
    src: { kind: 'other' },
    root: { kind: 'other' },
    'src/b.ts': { kind: 'nothing' },
    out: { kind: 'other' },
    'out/a.ts': { kind: 'other' },
    'absolute/passwd': { kind: 'other' },
    one: { kind: 'other' },
  };
  const where = Object.keys(found).map((file) => ({ file, line: null, missing: false }));
  const cited = [{ id: 'c1', text: 't', verdict: 'met' as const, evidence: '', where }];
  const look = await lookIn(own, tree, cited, { place: { folder }, below: '' });
  expect(Object.fromEntries(where.map(({ file }) => [file, look(file)]))).toEqual(found);
});
