import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles, unsavedWork } from '../../../src/effects/branches/unsaved-work.ts';
import { checkoutsOf } from '../../helpers/checkouts.ts';
import { gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LOCAL = ['-c', 'protocol.file.allow=always'];

/** A linked work tree, and what would be lost with it. */
async function stage() {
  const { folder, git } = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'build\n' });
  const path = join(await tempFolder(), 'x');
  git('worktree', 'add', '-q', '-b', 'x', path);
  const parts = await checkoutsOf(folder);
  const there = gitIn(path);
  return { path, main: folder, git: there, unsaved: () => unsavedWork({ ...parts, path }, 'x') };
}

async function withSubmodule() {
  const { folder: library } = await makeRepository({ 'lib.txt': 'lib\n' });
  const scene = await stage();
  scene.git(...LOCAL, 'submodule', '--quiet', 'add', library, 'lib');
  scene.git('commit', '-q', '-m', 'with a submodule');
  expect(await scene.unsaved()).toBeNull();
  return { ...scene, inside: gitIn(join(scene.path, 'lib')) };
}

test('nothing is lost with a work tree in which all is committed or ignored', async () => {
  const { path, git, unsaved } = await stage();
  expect(await unsaved()).toBeNull();
  put(path, { 'b.txt': 'b\n', build: 'ignored\n' });
  git('add', '.');
  git('commit', '-q', '-m', 'b');
  expect(await unsaved()).toBeNull();
});

test.for<[string, (scene: Awaited<ReturnType<typeof stage>>) => void, RegExp]>([
  ['a changed file', ({ path }) => put(path, { 'a.txt': 'b\n' }), /not committed \(a\.txt\)/],
  ['a new file', ({ path }) => put(path, { 'd/ü.txt': '' }), /not committed \(d\/ü\.txt\)/],
  [
    'a staged change that the file does not have',
    ({ path, git }) => {
      put(path, { 'a.txt': 'staged\n' });
      git('add', 'a.txt');
      put(path, { 'a.txt': 'a\n' });
    },
    /not committed \(a\.txt\)/,
  ],
  [
    'a change that git was told not to see',
    ({ path, git }) => {
      git('update-index', '--assume-unchanged', 'a.txt');
      put(path, { 'a.txt': 'b\n' });
    },
    /not to look at a\.txt/,
  ],
  [
    'a change of a file that a sparse checkout leaves out',
    ({ path, git }) => {
      git('update-index', '--skip-worktree', 'a.txt');
      put(path, { 'a.txt': 'b\n' });
    },
    /not to look at a\.txt/,
  ],
  [
    'a new file that the configuration hides',
    ({ path, git }) => {
      git('config', 'status.showUntrackedFiles', 'no');
      put(path, { 'b.txt': '' });
    },
    /not committed \(b\.txt\)/,
  ],
  [
    'a commit that no branch leads to',
    ({ git }) => {
      git('switch', '-q', '--detach');
      git('commit', '-q', '--allow-empty', '-m', 'detached');
    },
    /newest commit is not on its branch$/,
  ],
  [
    'a detached commit that a snapshot leads to',
    ({ git }) => {
      git('switch', '-q', '--detach');
      git('commit', '-q', '--allow-empty', '-m', 'detached');
      git('update-ref', 'refs/ralph/x/1', 'HEAD');
    },
    /newest commit is not on its branch$/,
  ],
  [
    'a commit on another branch',
    ({ git }) => {
      git('switch', '-q', '-c', 'y');
      git('commit', '-q', '--allow-empty', '-m', 'y');
    },
    /not on its branch but on y$/,
  ],
  [
    'its branch, which was renamed,',
    ({ git }) => git('branch', '-m', 'z'),
    /not on its branch but on z$/,
  ],
  [
    'what a person has locked',
    ({ path, git }) => git('worktree', 'lock', path),
    /locked \(git worktree lock\)/,
  ],
  [
    'a merge under way',
    ({ path, git }) => {
      git('switch', '-q', '-c', 'y');
      put(path, { 'a.txt': 'y\n' });
      git('commit', '-q', '-am', 'y');
      git('switch', '-q', 'x');
      git('merge', '-q', '--no-ff', '--no-commit', 'y');
    },
    /^a merge is under way in it$/,
  ],
  ['a repository in it', ({ path }) => gitIn(path)('init', '-q', 'nested'), /nested/],
])('%s would be lost', async ([, change, why]) => {
  const scene = await stage();
  if (why.source === 'nested') put(scene.path, { 'nested/a.txt': '' });
  change(scene);
  expect(await scene.unsaved()).toMatch(why);
});

test('what is not committed in a submodule would be lost', async () => {
  const { path, unsaved } = await withSubmodule();
  put(path, { 'lib/new.txt': 'new\n' });
  expect(await unsaved()).toMatch(/not committed \(new\.txt\)/);
});

test('a commit that only the submodule of this work tree has would be lost', async () => {
  const { git, inside, unsaved } = await withSubmodule();
  inside('commit', '-q', '--allow-empty', '-m', 'only here');
  git('commit', '-q', '-am', 'with the commit of the submodule');
  expect(await unsaved()).toMatch(/a submodule has commits that are nowhere else/);
});

test('what is not committed is listed, but not what lies in ralph’s own folders', async () => {
  const { folder } = await makeRepository();
  put(folder, { 'a.txt': 'b\n', 'new.txt': '', 'Needs_Action/n.md': '' });
  const { ask } = await checkoutsOf(folder);
  const excluded = [join(folder, 'Needs_Action')];
  expect(await changedFiles({ cwd: folder, excluded }, ask)).toEqual(['a.txt', 'new.txt']);
  writeFileSync(join(folder, 'a.txt'), 'a\n');
  expect(await changedFiles({ cwd: folder, excluded }, ask)).toEqual(['new.txt']);
});
