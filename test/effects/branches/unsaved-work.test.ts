import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  uncommittedFiles,
  unsavedPlan,
  unsavedWork,
} from '../../../src/effects/branches/unsaved-work.ts';
import { checkoutsOf, testGit } from '../../helpers/checkouts.ts';
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
  return {
    parts,
    path,
    main: folder,
    git: there,
    unsaved: () => unsavedWork({ ...parts, path }, 'x'),
  };
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
  expect(await unsaved()).toMatch(/not committed \(lib\/new\.txt\)/);
});

test('a commit that only the submodule of this work tree has would be lost', async () => {
  const { git, inside, unsaved } = await withSubmodule();
  inside('commit', '-q', '--allow-empty', '-m', 'only here');
  git('commit', '-q', '-am', 'with the commit of the submodule');
  expect(await unsaved()).toBe('the repository lib in it has commits that no remote of it has');
});

test('a commit of a submodule whose files are gone would be lost', async () => {
  const { git, inside, unsaved } = await withSubmodule();
  inside('commit', '-q', '--allow-empty', '-m', 'only here');
  git('commit', '-q', '-am', 'with the commit of the submodule');
  git('submodule', '--quiet', 'deinit', 'lib');
  expect(await unsaved()).toMatch(/a submodule has commits that are nowhere else \(lib\)/);
});

/** A repository in a folder that git ignores. */
async function withInside() {
  const { folder: remote } = await makeRepository({ 'lib.txt': 'lib\n' });
  const scene = await stage();
  const folder = join(scene.path, 'build/ü');
  scene.git('clone', '-q', `file://${remote}`, folder);
  return { ...scene, folder, inside: gitIn(folder) };
}

const COMMIT = ['commit', '-q', '--allow-empty', '-m', 'only here'];
const NOWHERE_ELSE = 'the repository build/ü in it has commits that no remote of it has';

test.for<[string, (scene: Awaited<ReturnType<typeof withInside>>) => void, string | null]>([
  ['as its remote has it', () => {}, null],
  ['with a commit', ({ inside }) => inside(...COMMIT), NOWHERE_ELSE],
  [
    'with a commit that a detached HEAD alone has',
    ({ inside }) => {
      inside('switch', '-q', '--detach');
      inside(...COMMIT);
    },
    NOWHERE_ELSE,
  ],
  [
    'with a commit on a branch that is not checked out',
    ({ inside }) => {
      inside('switch', '-q', '-c', 'y');
      inside(...COMMIT);
      inside('switch', '-q', '-');
    },
    NOWHERE_ELSE,
  ],
  [
    'with a commit that it has pushed',
    ({ inside }) => {
      inside(...COMMIT);
      inside('push', '-q', 'origin', 'HEAD:refs/heads/pushed');
    },
    null,
  ],
  [
    'with a new file',
    ({ folder }) => put(folder, { 'd/n.txt': '' }),
    'it holds what is not committed (build/ü/d/n.txt)',
  ],
  [
    'that git cannot read',
    ({ folder }) => put(folder, { '.git/HEAD': 'damaged', 'n.txt': '' }),
    'git cannot say what in build/ü is not committed',
  ],
])('a repository that git ignores, %s', async ([, change, lost]) => {
  const scene = await withInside();
  expect(await scene.unsaved()).toBeNull();
  change(scene);
  expect(await scene.unsaved()).toBe(lost);
});

test('all commits of a repository without a remote would be lost, also of one that git tracks', async () => {
  const { path, git, unsaved } = await stage();
  git('init', '-q', 'build/new');
  expect(await unsaved()).toBeNull();
  git('init', '-q', 'lib');
  gitIn(join(path, 'lib'))(...COMMIT);
  git('add', 'lib');
  git('commit', '-q', '-m', 'lib');
  expect(await unsaved()).toBe('the repository lib in it has commits that no remote of it has');
});

test('of a further work tree, only commits that no branch has would be lost', async () => {
  const { path, git, unsaved } = await stage();
  git('worktree', 'add', '-q', '-b', 'y', 'build/y');
  const inside = gitIn(join(path, 'build/y'));
  inside(...COMMIT);
  expect(await unsaved()).toBeNull();
  inside('switch', '-q', '--detach');
  inside(...COMMIT);
  expect(await unsaved()).toBe('the work tree build/y in it has commits that no branch has');
});

test('no program of a repository inside runs', async () => {
  const { folder, inside, path, unsaved } = await withInside();
  const sign = join(path, 'build/ran');
  for (const name of ['filter.f.clean', 'core.fsmonitor']) {
    inside('config', name, `touch '${sign}'; cat`);
  }
  put(folder, { '.git/info/attributes': '* filter=f\n', 'lib.txt': 'LIB\n' });
  expect(await unsaved()).toBe('it holds what is not committed (build/ü/lib.txt)');
  expect(existsSync(sign)).toBe(false);
});

test('of a plan, ticks that no commit can have would be lost', async () => {
  const { path, main, ...place } = await stage();
  const lostOf = (name: string): Promise<string | null> =>
    unsavedPlan({ ...place.parts, path }, { file: join(path, name), original: join(main, name) });
  for (const folder of [main, path]) put(folder, { 'build/P.md': '- [ ] a\n', 'a.md': '' });
  expect(await lostOf('build/P.md')).toBeNull();
  put(path, { 'build/P.md': '- [x] a\n', 'a.md': '- [x] a\n' });
  expect(await lostOf('build/P.md')).toBe(
    'git ignores the plan build/P.md in it, which a resume needs',
  );
  expect(await lostOf('a.md')).toBeNull();
  put(main, { 'build/Q.md': '- [ ] q\n' });
  expect(await lostOf('build/Q.md')).toBeNull();
  expect(await lostOf(join('..', 'P.md'))).toBeNull();
});

test('what is not committed is listed, but not what lies in ralph’s own folders', async () => {
  const { folder } = await makeRepository();
  put(folder, { 'a.txt': 'b\n', 'new.txt': '', 'Needs_Action/n.md': '' });
  const ralphs = testGit();
  const excluded = [join(folder, 'Needs_Action')];
  expect(await uncommittedFiles({ cwd: folder, excluded }, ralphs)).toEqual(['a.txt', 'new.txt']);
  writeFileSync(join(folder, 'a.txt'), 'a\n');
  expect(await uncommittedFiles({ cwd: folder, excluded }, ralphs)).toEqual(['new.txt']);
});
