import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { subjectsOf } from '../../../src/effects/proof/proof-subjects.ts';
import { bytesBelow, type Files, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A repository with changes, what a proof of its tree names, and what git then commits. */
async function subjects(files: Files, change: (folder: string) => void) {
  const { folder, git } = await makeRepository(files);
  change(folder);
  const { own, store } = await snapshotsOf(folder);
  const { tree } = await store.keepTree();
  const before = bytesBelow(join(folder, '.git'));
  const found = await subjectsOf(own, tree);
  const isTouched = Object.keys(bytesBelow(join(folder, '.git'))).some(
    (name) => !(name in before) && !name.startsWith('objects/'),
  );
  git('add', '--all');
  return { tree, found, isTouched, committed: git('write-tree'), head: git('rev-parse', 'HEAD') };
}

test('the commit of HEAD, where nothing is uncommitted', async () => {
  const { tree, found, head } = await subjects({ 'a.txt': 'a\n' }, () => {});
  expect(found).toEqual({ committedTree: tree, commit: head });
});

test('no commit, where HEAD has another tree', async () => {
  const { tree, found, isTouched } = await subjects(
    { 'a.txt': 'a\n', 'b.txt': 'b\n' },
    (folder) => {
      put(folder, { 'a.txt': 'new\n', 'sub/c.txt': 'c\n' });
      rmSync(join(folder, 'b.txt'));
      symlinkSync('a.txt', join(folder, 'link'));
      chmodSync(join(folder, 'sub/c.txt'), 0o755);
    },
  );
  expect(found).toEqual({ committedTree: tree, commit: null });
  expect(isTouched).toBe(false);
});

test('the tree that git commits by its rules for line ends', async () => {
  const rules = { '.gitattributes': '* text=auto\n', 'a.txt': 'a\n' };
  const { tree, found, committed } = await subjects(rules, (folder) => {
    put(folder, { 'b.txt': 'b\r\n', 'sub/.gitattributes': '* -text\n', 'sub/c.txt': 'c\r\n' });
  });
  expect(committed).not.toBe(tree);
  expect(found).toEqual({ committedTree: committed, commit: null });
});

test('the commit by these rules, whatever lies in the work tree by now', async () => {
  const { folder, git } = await makeRepository({ '.gitattributes': '* text=auto\n' });
  put(folder, { 'b.txt': 'b\r\n' });
  const { own, store } = await snapshotsOf(folder);
  const { tree } = await store.keepTree();
  git('add', '--all');
  git('commit', '-q', '-m', 'second');
  put(folder, { 'b.txt': 'other\r\n' });
  expect(await subjectsOf(own, tree)).toEqual({
    committedTree: git('rev-parse', 'HEAD^{tree}'),
    commit: git('rev-parse', 'HEAD'),
  });
});

test('nothing more where a filter of the repository would have to run', async () => {
  const { folder, git } = await makeRepository({ '.gitattributes': '*.x filter=own\n' });
  git('config', 'filter.own.clean', `touch ${folder}/ran; cat`);
  put(folder, { 'a.x': 'a\n' });
  const { own, store } = await snapshotsOf(folder);
  const { tree } = await store.keepTree();
  expect(await subjectsOf(own, tree)).toEqual({ committedTree: null, commit: null });
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('a tree before the first commit', async () => {
  const folder = await tempFolder();
  gitIn(folder)('init', '-q');
  put(folder, { 'a.txt': 'a\n' });
  const { own, store } = await snapshotsOf(folder);
  const { tree } = await store.keepTree();
  expect(await subjectsOf(own, tree)).toEqual({ committedTree: tree, commit: null });
});
